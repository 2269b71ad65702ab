/** The types of kinds, and the type checks of ValidatingAdmissionPolicies against the schemas of the kinds that they match. */
export { type KindType, KindTypes } from "./kind_types.ts";
export { checkPolicyTypes, type ExpressionWarning } from "./policy_types.ts";
