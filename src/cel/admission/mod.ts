/** Expressions of admission: their variables, compiling and running them, and the texts of violations. */
export {
  type DeclaredVariables,
  environmentOf,
  ruleEnvironmentOf,
  type TypedObjects,
  type VariableValues,
} from "./environment.ts";
export {
  compileExpression,
  conditionsBudget,
  type ConditionsOutcome,
  type CostCounter,
  type Evaluation,
  type Expression,
  type ExpressionResult,
  matchConditionsOf,
  meetsConditions,
  policyBudget,
  runExpressions,
} from "./expression.ts";
export { failureOf, type Validation, type Violation, violationsOf } from "./validations.ts";
