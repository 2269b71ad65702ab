/**
 * The rules of webhook configurations and policies (see kinds/admissionregistration) with checks that compile their CEL
 * expressions on each write. Texts of `admissionregistration/validation` of Kubernetes 1.36.
 */
import { type CelEnvironment, compileExpression, environmentOf, type Expression } from "../../cel/mod.ts";
import {
  type ExpressionChecks,
  type FieldPath,
  mutatingRules,
  objectsAt,
  type PolicyExpressionChecks,
  policyRules,
  type Problems,
  type RuleBook,
  textAt,
  webhookRules,
} from "../kinds/mod.ts";
import { isJsonObject, type Json, type JsonObject, read } from "../model/mod.ts";
import { annotationTypes, compositionOf } from "./compiled_policy.ts";
import { compileMutation } from "./mutations.ts";

const checks: ExpressionChecks = {
  condition: (expression, hasParams, path, problems) =>
    check(expression, ["bool"], environmentOf({ hasParams, hasAuthorizer: true }), path, problems),
  policy: policyChecks,
};

/** The rules, for `BuiltinKindsOptions.rules`. */
export const expressionRules: RuleBook = new Map([
  ["ValidatingWebhookConfiguration.admissionregistration.k8s.io", webhookRules(false, checks)],
  ["MutatingWebhookConfiguration.admissionregistration.k8s.io", webhookRules(true, checks)],
  ["ValidatingAdmissionPolicy.admissionregistration.k8s.io", policyRules(checks)],
  ["MutatingAdmissionPolicy.admissionregistration.k8s.io", mutatingRules(checks)],
]);

function policyChecks(spec: JsonObject): PolicyExpressionChecks {
  const hasParams = isJsonObject(read<Json>(spec, "paramKind"));
  const variables = objectsAt(spec, "variables");
  const composition = compositionOf(variables, { hasParams, hasAuthorizer: true });
  const composed = variables.length === 0 ? {} : { composed: composition.types };
  const declared = { hasParams, hasAuthorizer: true, ...composed };
  const validation = environmentOf(declared);
  const messages = environmentOf({ hasParams, hasAuthorizer: false, ...composed });
  return {
    variable(index, path, problems) {
      const compiled = composition.expressions.get(textAt(variables[index] ?? {}, "name"));
      if (compiled !== undefined) report(compiled, path, problems);
    },
    validation: (expression, path, problems) => check(expression, ["bool"], validation, path, problems),
    message: (expression, path, problems) => check(expression, ["string"], messages, path, problems),
    annotation: (expression, path, problems) =>
      report(
        { ...compileExpression(expression.trim(), annotationTypes, validation), source: expression },
        path,
        problems,
      ),
    mutation: (expression, patchType, path, problems) =>
      report(
        compileMutation(patchType === "JSONPatch" ? patchType : "ApplyConfiguration", expression, declared),
        path,
        problems,
      ),
  };
}

function check(
  expression: string,
  returns: readonly string[],
  environment: CelEnvironment,
  path: FieldPath,
  problems: Problems,
): void {
  report(compileExpression(expression, returns, environment), path, problems);
}

function report(expression: Expression, path: FieldPath, problems: Problems): void {
  if (expression.kind !== "invalid") return;
  if (expression.isInternal === true) problems.internal(path, expression.message);
  else problems.invalid(path, expression.source, expression.message);
}
