/** The command `uninstall`. */
export { uninstall } from "./uninstall.ts";
