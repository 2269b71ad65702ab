/** The command `plan`. */
export { plan } from "./plan.ts";
