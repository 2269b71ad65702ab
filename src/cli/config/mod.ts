/** The command `config`. */
export { config } from "./config.ts";
