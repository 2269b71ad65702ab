/** Selectors of devices: their errors in the kinds of resource.k8s.io, and whether they select a device. */
import { type RuleBook, selectorRules } from "../kinds/mod.ts";
import { deviceSelector } from "./device_selector.ts";
export { type SelectorOutcome, selectsDevice } from "./device_selector.ts";

/** The rules of the kinds with selectors, for `BuiltinKindsOptions.rules`. */
export const deviceRules: RuleBook = selectorRules((expression, path, problems) => {
  const selector = deviceSelector(expression);
  if (selector.kind === "invalid") problems.invalid(path, expression, selector.message);
  else if (selector.kind === "costly") problems.forbidden(path, "too complex, exceeds cost limit");
});
