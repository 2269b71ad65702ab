/**
 * ExpressionChecks: the seam through which the rules of webhooks and policies have their CEL compiled. What is wrong with an
 * expression has its place among what else is wrong, so the rules of this folder call it; admission/ implements it.
 */
import type { JsonObject } from "../model/mod.ts";
import type { FieldPath, Problems } from "./problems.ts";

/** Compiles expressions and says what is wrong with them. Blank ones are not passed on. */
export interface ExpressionChecks {
  /** A match condition. @param hasParams whether it may name `params` */
  condition(expression: string, hasParams: boolean, path: FieldPath, problems: Problems): void;
  /** The expressions of a policy. @param spec of the policy */
  policy(spec: JsonObject): PolicyExpressionChecks;
}

/** Those of one policy; `index` is that of the item. */
export interface PolicyExpressionChecks {
  variable(index: number, path: FieldPath, problems: Problems): void;
  validation(expression: string, path: FieldPath, problems: Problems): void;
  message(expression: string, path: FieldPath, problems: Problems): void;
  annotation(expression: string, path: FieldPath, problems: Problems): void;
}

const nothing = (): void => {};

/** Compiles nothing: for whoever has no CEL. */
export const noExpressionChecks: ExpressionChecks = {
  condition: nothing,
  policy: () => ({ variable: nothing, validation: nothing, message: nothing, annotation: nothing }),
};
