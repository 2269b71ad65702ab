/** The commands `install-crds` and `uninstall-crds`, and what `doctor` and `uninstall` share with them. */
export { finalizingController, inventoryOf, leftText } from "./await_gone.ts";
export {
  commandFailure,
  controllersOf,
  type CrdContext,
  definitionName,
  readCrd,
  storedKindOf,
  storedObjects,
  withPermissionAdvice,
} from "./crd_context.ts";
export { checkConfirmable, confirmDeletion, deletionFlags } from "./deletion_flags.ts";
export { installCrds } from "./install_crds.ts";
export { staleVersionsOf } from "./migrate_storage.ts";
export {
  definitionRows,
  findDefinitions,
  type InstalledDefinition,
  objectsOf,
  removeDefinitions,
  uninstallCrds,
  warnFinalizers,
} from "./uninstall_crds.ts";
