/**
 * PolicyAdmission: the admission plugin that runs the stored ValidatingAdmissionPolicies and their bindings. Texts of
 * apiserver `policy/generic` and `policy/validating` of Kubernetes 1.36.
 *
 * Caveats: policies are not type-checked against the matched kinds on write (`status.typeChecking`), and audit annotations
 * are evaluated but not written anywhere.
 */
import {
  failureOf,
  jsonValueOf,
  meetsConditions,
  policyBudget,
  type VariableValues,
  type Violation,
  violationsOf,
} from "../../cel/mod.ts";
import { type AdmissionPlugin, type AdmissionRequest, type Authorizer, type Kind, StatusError } from "../model/mod.ts";
import { valuesOf } from "./cel_variables.ts";
import { type CompiledPolicy, evaluateWithVariables, policyOf } from "./compiled_policy.ts";
import { isExempt, requestInVersion } from "./matching.ts";
import {
  matchingPolicies,
  type MatchingPolicy,
  namespaceOf,
  paramKindOf,
  paramsOf,
  type PolicyCollections,
  type PolicySources,
  subjectName,
} from "./policy_bindings.ts";

const collections: PolicyCollections<CompiledPolicy> = {
  policies: "validatingadmissionpolicies.admissionregistration.k8s.io",
  bindings: "validatingadmissionpolicybindings.admissionregistration.k8s.io",
  policyOf,
};

/** Options of {@link PolicyAdmission}. */
export interface PolicyAdmissionOptions extends PolicySources {
  /** The authorizer of the variable `authorizer`. */
  readonly authorizer: Authorizer;
}

/** A denial of a request. */
interface Denial {
  readonly policy: string;
  /** "" when the policy itself is invalid. */
  readonly binding: string;
  readonly message: string;
  readonly reason: string;
}

interface PreparedPolicy extends MatchingPolicy<CompiledPolicy> {
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
    const matching = matchingPolicies(request, this.#options, collections);
    if (matching.length === 0) return;
    if (matching.every(({ kind }) => kind === request.kind)) {
      return this.#evaluate(request, matching.map((each) => ({ ...each, request })));
    }
    return this.#convertAndEvaluate(request, matching);
  }

  async #convertAndEvaluate(
    request: AdmissionRequest,
    matching: readonly MatchingPolicy<CompiledPolicy>[],
  ): Promise<void> {
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

  #run({ policy, bindings, request }: PreparedPolicy, requestKind: Kind, denials: Denial[]): void {
    const deny = (binding: string, message: string, reason = "Invalid") =>
      denials.push({ policy: policy.name, binding, message, reason });
    const { kind, problem } = paramKindOf(policy, this.#options);
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
        for (const { message, reason, isUnconditional } of runPolicy(policy, values)) {
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
    const stored = namespaceOf(request, this.#options.objects);
    const { authorizer } = this.#options;
    return valuesOf(request, { authorizer, requestKind, ...(stored === undefined ? {} : { namespace: stored }) });
  }
}

const codes: ReadonlyMap<string, number> = new Map([["Forbidden", 403], ["Unauthorized", 401], [
  "RequestEntityTooLarge",
  413,
]]);

function denialError({ policy, binding, message, reason }: Denial, request: AdmissionRequest): StatusError {
  const { group, plural } = request.kind;
  const name = subjectName(request);
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

/**
 * Runs a policy on one request with one set of params, in the order of `validating/validator.go`.
 *
 * @param values with `params`, without `variables`
 */
function runPolicy(policy: CompiledPolicy, values: VariableValues): readonly Violation[] {
  const { failsOpen } = policy;
  const conditionValues = new Map(values).set("namespaceObject", null);
  const outcome = meetsConditions(policy.conditions, conditionValues, failsOpen);
  if (outcome.kind === "unmet") return [];
  if (outcome.kind === "failed") return failureOf(outcome.message, failsOpen);
  const checks = evaluateWithVariables(policy, policy.checks, values, policyBudget);
  if (checks.kind === "failed") return failureOf(checks.message, failsOpen);
  const messages = evaluateWithVariables(policy, policy.messages, values, checks.budget);
  const violations = violationsOf(policy.validations, { checks: checks.results, messages, failsOpen });
  const annotations = evaluateWithVariables(policy, policy.annotations, values, policyBudget);
  // Without an audit log the values are not used, but errors in them count as on the real server.
  if (annotations.kind === "failed") return failureOf(annotations.message, failsOpen);
  const failed = failsOpen
    ? []
    : annotations.results.flatMap((result) =>
      result.kind === "error" ? [{ message: result.message, reason: "Invalid", isUnconditional: true }] : []
    );
  return [...violations, ...failed];
}
