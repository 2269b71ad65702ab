/** TODO */
export { configureControllers, controllerFlagGroups, linePrinter } from "./controller_flags.ts";
export { listenForInterrupts, run } from "./run.ts";
export { electionFlags } from "./run_flags.ts";
export { type Activity, Convergence } from "./run_once.ts";
