/** How objects are shown by `kubectl get`. */
export { builtinTable } from "./builtin_table.ts";
export { scaleTable } from "./scale_table.ts";
