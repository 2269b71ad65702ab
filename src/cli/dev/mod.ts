/** TODO */
export { dev } from "./dev.ts";
