/** The seam to CEL: match conditions of webhooks and the expressions of policies are evaluated by whoever knows CEL. */
import type { Json } from "../model/mod.ts";

/** What an expression may name. */
export interface ConditionVariables {
  readonly object: Json;
  readonly oldObject: Json;
  readonly request: Json;
}

/**
 * Evaluates an expression.
 *
 * @throws Error when it cannot be compiled, or its evaluation fails
 */
export type EvaluateCondition = (expression: string, variables: ConditionVariables) => Json;
