/** Pod security standards: which Pods a namespace's level allows. */
export { type Level, type LeveledVersion, policyOf, type SecurityPolicy } from "./policy.ts";
export { violationsOf } from "./violations.ts";
