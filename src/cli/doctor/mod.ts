/** The command `doctor`. */
export { doctor } from "./doctor.ts";
