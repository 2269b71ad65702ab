/** TODO */
export { doctor } from "./doctor.ts";
