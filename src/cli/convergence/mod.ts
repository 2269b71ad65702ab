/** When controllers have reconciled everything. */
export { type Activity, Convergence, type ConvergingRunner, type FailedObject } from "./convergence.ts";
