/** CEL rules of schemas (x-kubernetes-validations): the types and values that they see, compiling and running them. */
export { type DeclaredType, declaredTypeOf, maxRequestBytes } from "./cel_types.ts";
export {
  type CompiledRule,
  compileRules,
  compileRuleValidator,
  compileRuleWalk,
  objectCostBudget,
  type RuleRun,
} from "./rule_validator.ts";
