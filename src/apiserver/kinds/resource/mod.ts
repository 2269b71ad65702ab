/** The kinds of the group resource.k8s.io. */
import type { KindGroup, RuleBook } from "../rules/mod.ts";
import { claimTemplateRules, deviceClassRules, deviceDefaults, resourceClaimRules } from "./claims.ts";
import type { SelectorCheck } from "./device_checks.ts";
import { resourceSliceRules } from "./slices.ts";
import { deviceClassRow, resourceClaimRow, resourceClaimTemplateRow, resourceSliceRow } from "./tables.ts";
export type { SelectorCheck } from "./device_checks.ts";

/** The rules of the kinds with device selectors. @param selector compiles the expressions in them */
export function selectorRules(selector: SelectorCheck): RuleBook {
  return new Map([
    ["DeviceClass.resource.k8s.io", deviceClassRules(selector)],
    ["ResourceClaim.resource.k8s.io", resourceClaimRules(selector)],
    ["ResourceClaimTemplate.resource.k8s.io", claimTemplateRules(selector)],
  ]);
}

/** The kinds of the group resource.k8s.io. */
export const resourceKinds: KindGroup = {
  rules: { "ResourceSlice.resource.k8s.io": resourceSliceRules, ...Object.fromEntries(selectorRules(() => {})) },
  defaults: deviceDefaults,
  rows: {
    "deviceclasses.resource.k8s.io": deviceClassRow,
    "resourceclaims.resource.k8s.io": resourceClaimRow,
    "resourceclaimtemplates.resource.k8s.io": resourceClaimTemplateRow,
    "resourceslices.resource.k8s.io": resourceSliceRow,
  },
};
