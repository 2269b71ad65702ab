/** The command `dev`. */
export { dev } from "./dev.ts";
