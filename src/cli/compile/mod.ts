/** The command `compile`. */
export { compile } from "./compile.ts";
export { bunVersion } from "./find_bun.ts";
