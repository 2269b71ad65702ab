/** TODO */
export { simulateCommand } from "./simulate.ts";
