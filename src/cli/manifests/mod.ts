/** The command `manifests`, and what `uninstall` finds again of what it has printed. */
export { createInstallPlan, type InstallPlan } from "./install_plan.ts";
export { manifestFlags } from "./manifest_flags.ts";
export { manifests } from "./manifests.ts";
export { type InstalledObject, installedObjects } from "./objects.ts";
export { selectorOf } from "./workload.ts";
