/** The command `page`. */
export { page } from "./page.ts";
