/**
 * PolicyAdmission: the admission plugin that runs the stored ValidatingAdmissionPolicies and their bindings. Texts of
 * apiserver `policy/generic` and `policy/validating` of Kubernetes 1.36.
 *
 * Caveats: policies are not type-checked against the matched kinds on write (`status.typeChecking`), and audit annotations
 * are evaluated but not written anywhere.
 */
import { jsonValueOf, type Value } from "../cel/mod.ts";
import { nameOf, objectAt, textAt } from "../kinds/mod.ts";
import {
  type AdmissionPlugin,
  type AdmissionRequest,
  type Authorizer,
  isJsonObject,
  type Json,
  type JsonObject,
  type Kind,
  type ObjectReader,
  read,
  StatusError,
  utf8Length,
} from "../model/mod.ts";
import { valuesOf, type VariableValues } from "./cel_variables.ts";
import {
  bindingOf,
  type CompiledPolicy,
  ComposedVariables,
  matchingKindOf,
  type PolicyBinding,
  policyOf,
  type Validation,
} from "./compiled_policy.ts";
import { type Evaluation, type ExpressionResult, meetsConditions, policyBudget, runExpressions } from "./expression.ts";
import { isExempt, labelsOf, matchContextOf, matchesSelector, requestInVersion } from "./matching.ts";

const policyCollection = "validatingadmissionpolicies.admissionregistration.k8s.io";
const bindingCollection = "validatingadmissionpolicybindings.admissionregistration.k8s.io";

/** Options of {@link PolicyAdmission}. */
export interface PolicyAdmissionOptions {
  readonly objects: ObjectReader;
  /** The authorizer of the variable `authorizer`. */
  readonly authorizer: Authorizer;
  /** Finds the kind of params. */
  readonly findKind: (group: string, version: string, kind: string) => Kind | undefined;
  /** The other served versions of a kind. */
  readonly otherKinds: (kind: Kind) => readonly Kind[];
}

/** A denial of a request. */
interface Denial {
  readonly policy: string;
  /** "" when the policy itself is invalid. */
  readonly binding: string;
  readonly message: string;
  readonly reason: string;
}

/** A policy that matches a request. */
interface MatchingPolicy {
  readonly policy: CompiledPolicy;
  /** The bindings that match the request. */
  readonly bindings: readonly PolicyBinding[];
  /** The kind of the request, perhaps in another version. */
  readonly kind: Kind;
}

interface PreparedPolicy extends MatchingPolicy {
  /** The request in the version that the policy matches. */
  readonly request: AdmissionRequest;
}

export class PolicyAdmission implements AdmissionPlugin {
  readonly name = "ValidatingAdmissionPolicy";
  readonly #options: PolicyAdmissionOptions;

  constructor(options: PolicyAdmissionOptions) {
    this.#options = options;
  }

  validate(request: AdmissionRequest): void | Promise<void> {
    if (isExempt(request.kind)) return;
    const byPolicy = this.#bindings();
    if (byPolicy === undefined) return;
    const context = matchContextOf(request, this.#options);
    const matching: MatchingPolicy[] = [];
    for (const object of this.#options.objects.list(policyCollection)) {
      const bindings = byPolicy.get(nameOf(object))?.filter(({ match }) =>
        matchingKindOf(match, request, context) !== undefined
      );
      if (bindings === undefined || bindings.length === 0) continue;
      const policy = policyOf(object);
      const kind = matchingKindOf(policy.match, request, context);
      if (kind !== undefined) matching.push({ policy, bindings, kind });
    }
    if (matching.every(({ kind }) => kind === request.kind)) {
      return this.#evaluate(request, matching.map((each) => ({ ...each, request })));
    }
    return this.#convertAndEvaluate(request, matching);
  }

  async #convertAndEvaluate(request: AdmissionRequest, matching: readonly MatchingPolicy[]): Promise<void> {
    const prepared: PreparedPolicy[] = [];
    for (const each of matching) prepared.push({ ...each, request: await requestInVersion(request, each.kind) });
    this.#evaluate(request, prepared);
  }

  #evaluate(request: AdmissionRequest, policies: readonly PreparedPolicy[]): void {
    const denials: Denial[] = [];
    for (const policy of policies) this.#run(policy, request.kind, denials);
    const [first] = denials;
    if (first !== undefined) throw denialError(first, request);
  }

  /** The bindings by policy name; undefined when there are none, which is checked first because it is cheap. */
  #bindings(): ReadonlyMap<string, readonly PolicyBinding[]> | undefined {
    const all: PolicyBinding[] = [];
    for (const object of this.#options.objects.list(bindingCollection)) all.push(bindingOf(object));
    return all.length === 0 ? undefined : Map.groupBy(all, (binding) => binding.policyName);
  }

  #run({ policy, bindings, request }: PreparedPolicy, requestKind: Kind, denials: Denial[]): void {
    const deny = (binding: string, message: string, reason = "Invalid") =>
      denials.push({ policy: policy.name, binding, message, reason });
    const { kind, problem } = this.#paramKind(policy);
    if (problem !== "") {
      if (!policy.failsOpen) deny("", `failed to configure policy: ${problem}`);
      return;
    }
    const values = this.#values(request, requestKind);
    for (const binding of bindings) {
      const params = paramsOf(kind, binding.paramRef, request.namespace, this.#options.objects);
      if (params.kind === "failed") {
        if (!policy.failsOpen) deny(binding.name, `failed to configure binding: ${params.message}`);
        continue;
      }
      for (const param of params.objects) {
        values.set("params", jsonValueOf(param));
        for (const { message, reason, isUnconditional } of violationsOf(policy, values)) {
          if (isUnconditional || binding.actions.includes("Deny")) deny(binding.name, message, reason);
          if (isUnconditional || !binding.actions.includes("Warn")) continue;
          const title =
            `Validation failed for ValidatingAdmissionPolicy '${policy.name}' with binding '${binding.name}'`;
          request.warn(`${title}: ${message}`);
        }
      }
    }
  }

  #values(request: AdmissionRequest, requestKind: Kind): VariableValues {
    const { kind, namespace } = request;
    const stored = namespace === "" || kind.collection === "namespaces"
      ? undefined
      : this.#options.objects.get("namespaces", "", namespace);
    const { authorizer } = this.#options;
    return valuesOf(request, { authorizer, requestKind, ...(stored === undefined ? {} : { namespace: stored }) });
  }

  #paramKind({ paramKind }: CompiledPolicy): { readonly kind: Kind | undefined; readonly problem: string } {
    if (paramKind === undefined) return { kind: undefined, problem: "" };
    const [apiVersion, name] = [textAt(paramKind, "apiVersion"), textAt(paramKind, "kind")];
    const slash = apiVersion.indexOf("/");
    const [group, version] = [apiVersion.slice(0, Math.max(0, slash)), apiVersion.slice(slash + 1)];
    const kind = this.#options.findKind(group, version, name);
    if (kind !== undefined) return { kind, problem: "" };
    const shown = `${group}/${version}, Kind=${name}`;
    return { kind, problem: `failed to find resource referenced by paramKind: '${shown}'` };
  }
}

const codes: ReadonlyMap<string, number> = new Map([["Forbidden", 403], ["Unauthorized", 401], [
  "RequestEntityTooLarge",
  413,
]]);

function denialError({ policy, binding, message, reason }: Denial, request: AdmissionRequest): StatusError {
  const { group, plural } = request.kind;
  const name = request.name || generatedNameOf(request.object ?? {});
  const resource = group === "" ? plural : `${plural}.${group}`;
  const cause = binding === "" ? "" : ` with binding '${binding}'`;
  const detail = `ValidatingAdmissionPolicy '${policy}'${cause} denied request: ${message}`;
  return new StatusError(codes.get(reason) ?? 422, reason, `${resource} "${name}" is forbidden: ${detail}`, {
    name,
    ...(group === "" ? {} : { group }),
    kind: plural,
    causes: [{ message: detail }],
  });
}

/** The name of an object that has no name yet. */
function generatedNameOf(object: JsonObject): string {
  return nameOf(object) || textAt(objectAt(object, "metadata"), "generateName") || "Unknown";
}

/** One failed validation. */
interface Violation {
  readonly message: string;
  readonly reason: string;
  /** True for a failed audit annotation: it denies the request regardless of the binding's actions. */
  readonly isUnconditional: boolean;
}

/** Largest size of a messageExpression's result. */
const maxMessageBytes = 5 * 1024;

/**
 * Runs a policy on one request with one set of params, in the order of `validating/validator.go`.
 *
 * @param values with `params`, without `variables`
 */
function violationsOf(policy: CompiledPolicy, values: VariableValues): readonly Violation[] {
  const conditionValues = new Map(values).set("namespaceObject", null);
  const outcome = meetsConditions(policy.conditions, conditionValues, policy.failsOpen);
  if (outcome.kind === "unmet") return [];
  if (outcome.kind === "failed") return failure(policy, outcome.message);
  const checks = evaluate(policy, policy.checks, values, policyBudget);
  if (checks.kind === "failed") return failure(policy, checks.message);
  const messages = evaluate(policy, policy.messages, values, checks.budget);
  const violations = checks.results.flatMap((result, index) => {
    const validation = policy.validations[index];
    return validation === undefined ? [] : violationOf(policy, validation, result, messages, index);
  });
  const annotations = evaluate(policy, policy.annotations, values, policyBudget);
  // Without an audit log the values are not used, but errors in them count as on the real server.
  if (annotations.kind === "failed") return failure(policy, annotations.message);
  const failed = policy.failsOpen
    ? []
    : annotations.results.flatMap((result) =>
      result.kind === "error" ? [{ message: result.message, reason: "Invalid", isUnconditional: true }] : []
    );
  return [...violations, ...failed];
}

/** Evaluates a list of expressions with its own variables, whose cost counts for this list. */
function evaluate(
  { composition }: CompiledPolicy,
  expressions: Parameters<typeof runExpressions>[0],
  values: VariableValues,
  budget: number,
): Evaluation {
  if (composition.expressions.size === 0) return runExpressions(expressions, values, budget);
  const variables = new ComposedVariables(composition.expressions, values);
  return runExpressions(expressions, variables.values, budget, variables);
}

/** An error, which counts unless the failurePolicy is Ignore. */
function failure({ failsOpen }: CompiledPolicy, message: string): readonly Violation[] {
  return failsOpen ? [] : [{ message, reason: "Invalid", isUnconditional: false }];
}

function violationOf(
  policy: CompiledPolicy,
  validation: Validation,
  result: ExpressionResult,
  messages: Evaluation,
  index: number,
): readonly Violation[] {
  if (result.kind === "error") return failure(policy, result.message);
  if (messages.kind === "failed") return failure(policy, `failed messageExpression: ${messages.message}`);
  if (result.kind === "none" || result.value === true) return [];
  const evaluated = messages.results[index];
  const message = (evaluated?.kind === "value" ? usableMessage(evaluated.value) : "") || validation.message.trim() ||
    `failed expression: ${validation.expression.trim()}`;
  return [{ message, reason: validation.reason, isUnconditional: false }];
}

/** The text of a messageExpression; "" when it is empty, too long or has several lines. */
function usableMessage(value: Value): string {
  const text = typeof value === "string" ? value.trim() : "";
  return text.includes("\n") || utf8Length(text) > maxMessageBytes ? "" : text;
}

/** The params of a binding, [null] for a policy without params; or the error of the binding. */
type Params =
  | { readonly kind: "found"; readonly objects: readonly (JsonObject | null)[] }
  | { readonly kind: "failed"; readonly message: string };

/** Finds the params of a binding. @param kind the paramKind of the policy; undefined when it has none */
function paramsOf(
  kind: Kind | undefined,
  paramRef: Json | undefined,
  requestNamespace: string,
  objects: ObjectReader,
): Params {
  if (kind === undefined || !isJsonObject(paramRef)) return { kind: "found", objects: [null] };
  const own = textAt(paramRef, "namespace");
  const isNamespaced = kind.scope === "Namespaced";
  if (own !== "" && !isNamespaced) {
    return failed("paramRef.namespace must not be provided for a cluster-scoped `paramKind`");
  }
  const namespace = isNamespaced ? own || requestNamespace : "";
  if (isNamespaced && namespace === "") {
    return failed("cannot use namespaced paramRef in policy binding that matches cluster-scoped resources");
  }
  const found = [...selectedParams(kind, paramRef, namespace, objects)];
  if (found.length === 0 && paramRef.parameterNotFoundAction === "Deny") {
    return failed("no params found for policy binding with `Deny` parameterNotFoundAction");
  }
  return { kind: "found", objects: found };
}

function* selectedParams(
  kind: Kind,
  paramRef: JsonObject,
  namespace: string,
  objects: ObjectReader,
): Generator<JsonObject, void, void> {
  const name = textAt(paramRef, "name");
  if (name !== "") {
    const object = objects.get(kind.collection, namespace, name);
    if (object !== undefined) yield object;
    return;
  }
  const selector = read<Json>(paramRef, "selector") ?? null;
  const all = kind.scope === "Namespaced" ? objects.list(kind.collection, namespace) : objects.list(kind.collection);
  for (const object of all) if (matchesSelector(selector, labelsOf(object))) yield object;
}

function failed(message: string): Params {
  return { kind: "failed", message };
}
