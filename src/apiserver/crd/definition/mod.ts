/** The kind CustomResourceDefinition: its rules, the validation of its schemas, and its conditions. */
export { type ConversionWebhook, type CrdNames, type CrdSpec, type CrdVersion, readCrd } from "./crd_spec.ts";
export {
  approvalCondition,
  cleanupFinalizer,
  type Condition,
  ifConditionChanged,
  isConditionTrue,
  namesInUse,
  nextEstablishedCondition,
  terminatingConditions,
  withAcceptedNames,
  withCondition,
} from "./definition_conditions.ts";
export { definitionCollection, definitionRules } from "./definition_rules.ts";
