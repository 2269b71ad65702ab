/** TODO */
export { newController } from "./new.ts";
