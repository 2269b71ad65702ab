/** The type checks of ValidatingAdmissionPolicies against the schemas of the kinds that they match. */
export { checkPolicyTypes, type ExpressionWarning } from "./policy_types.ts";
