/** CEL rules of schemas (x-kubernetes-validations): the types and values that they see, compiling and running them. */
export {
  type DeclaredType,
  declaredTypeOf,
  maxRequestBytes,
  sizesOf,
  unescapeName,
  withResourceFields,
} from "./cel_types.ts";
export { jsonOf } from "./cel_json.ts";
export { celValueOf } from "./cel_values.ts";
export {
  type CompiledRule,
  compileRules,
  compileRuleValidator,
  compileRuleWalk,
  objectCostBudget,
  type RuleRun,
  type RuleValidator,
} from "./rule_validator.ts";
