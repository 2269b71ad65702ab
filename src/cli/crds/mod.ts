/** The commands `install-crds` and `uninstall-crds`, and the reads of definitions and stored objects that `doctor` shares. */
export { type CrdContext, readCrd, storedObjects } from "./crd_context.ts";
export { installCrds } from "./install_crds.ts";
export { staleVersionsOf } from "./migrate_storage.ts";
export { uninstallCrds } from "./uninstall_crds.ts";
