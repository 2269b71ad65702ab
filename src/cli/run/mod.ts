/** The command `run`, and what `dev` and `doctor` share with it: signals, flags of controllers, convergence, leader election. */
export {
  checkValues,
  configureControllers,
  configurePlannedControllers,
  controllerFlagGroups,
  ignoresOwnNamespaces,
  linePrinter,
  namespacesOf,
  outputClosed,
} from "./controller_flags.ts";
export { listener } from "./manager.ts";
export { isPlanWorker, ownPlan, runPlanWorker } from "./own_plan.ts";
export { serveForToken, type TokenAccess } from "./debug_listener.ts";
export { run, runControllers } from "./run.ts";
export {
  type BindAddress,
  bindAddress,
  debugTokenFileFlag,
  electionFlags,
  namespaceSelectorFlag,
  runFlags,
  selectorFlag,
  webhookConfigurationFlag,
} from "./run_flags.ts";
export { stillFailing } from "./run_once.ts";
