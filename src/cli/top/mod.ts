/** The command `top`. */
export { top } from "./top.ts";
