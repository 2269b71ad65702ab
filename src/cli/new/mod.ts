/** The command `new`. */
export { newController } from "./new.ts";
