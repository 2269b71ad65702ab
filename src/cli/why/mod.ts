/** The command `why`. */
export { why } from "./why.ts";
