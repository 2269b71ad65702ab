/** When controllers have reconciled everything. */
export { type Activity, Convergence } from "./convergence.ts";
