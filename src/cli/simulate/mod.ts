/** The command `simulate`. */
export { simulateCommand } from "./simulate.ts";
