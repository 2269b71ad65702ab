/**
 * MutatingPolicyAdmission: the admission plugin that runs the stored MutatingAdmissionPolicies and their bindings, before the
 * mutating webhooks. Texts of apiserver `policy/mutating/dispatcher.go` of Kubernetes 1.36.
 *
 * Guarantees: policies run in the order of their names, and each sees what those before it have changed. A request is changed by
 * all of its policies, or is rejected.
 *
 * Caveats: a write of the subresource `scale` is not mutated.
 */
import { jsonValueOf, meetsConditions } from "../../cel/mod.ts";
import { objectAt } from "../kinds/mod.ts";
import {
  type AdmissionPlugin,
  type AdmissionRequest,
  type Authorizer,
  draftOf,
  isSameJson,
  type JsonObject,
  type Kind,
  StatusError,
} from "../model/mod.ts";
import { type Reinvocations, ReinvocationsByRequest } from "./_reinvocations.ts";
import { valuesOf } from "./cel_variables.ts";
import type { PolicyBinding } from "./compiled_policy.ts";
import { converted, isExempt, requestInVersion } from "./matching.ts";
import { type CompiledMutatingPolicy, mutatedBy, mutatingPolicyOf, MutationError } from "./mutations.ts";
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

const collections: PolicyCollections<CompiledMutatingPolicy> = {
  policies: "mutatingadmissionpolicies.admissionregistration.k8s.io",
  bindings: "mutatingadmissionpolicybindings.admissionregistration.k8s.io",
  policyOf: mutatingPolicyOf,
};

/** Options of {@link MutatingPolicyAdmission}. */
export interface MutatingPolicyAdmissionOptions extends PolicySources {
  /** The authorizer of the variable `authorizer`. */
  readonly authorizer: Authorizer;
}

/** A policy with one binding and one of its params. */
interface Invocation {
  readonly policy: CompiledMutatingPolicy;
  readonly binding: PolicyBinding;
  readonly param: JsonObject | null;
  /** The kind of the request, perhaps in another version. */
  readonly kind: Kind;
}

/** An error of a policy whose failurePolicy is Fail. */
interface Failure {
  readonly message: string;
  /** "" keeps Forbidden. */
  readonly reason: string;
}

/** One round of the plugin. */
interface Round {
  readonly failures: Failure[];
  readonly reinvocations: Reinvocations<string>;
  /** The kind of the client's request. */
  readonly requestKind: Kind;
  /** True when a mutation has run, whether it changed the object or not. */
  hasRun: boolean;
}

export class MutatingPolicyAdmission implements AdmissionPlugin {
  readonly name = "MutatingAdmissionPolicy";
  readonly #options: MutatingPolicyAdmissionOptions;
  readonly #reinvocations = new ReinvocationsByRequest<string>();

  constructor(options: MutatingPolicyAdmissionOptions) {
    this.#options = options;
  }

  /** Synchronous unless a policy matches another version of the kind. */
  admit(request: AdmissionRequest): void | Promise<void> {
    if (request.operation === "DELETE" || request.subresource === "scale" || isExempt(request.kind)) return;
    const matching = matchingPolicies(request, this.#options, collections);
    if (matching.length === 0) return;
    const round: Round = {
      failures: [],
      reinvocations: this.#reinvocations.of(request),
      requestKind: request.kind,
      hasRun: false,
    };
    const invocations = matching.flatMap((each) => this.#invocations(each, request, round.failures));
    round.reinvocations.begin();
    if (invocations.some(({ kind }) => kind !== request.kind)) return this.#runConverted(invocations, request, round);
    for (const invocation of invocations) this.#run(invocation, request, round);
    finish(request, round);
  }

  async #runConverted(invocations: readonly Invocation[], request: AdmissionRequest, round: Round): Promise<void> {
    for (const invocation of invocations) {
      const shown = await requestInVersion(request, invocation.kind);
      const before = shown.object;
      this.#run(invocation, shown, round);
      if (shown === request || shown.object === undefined || shown.object === before) continue;
      request.object = draftOf(await converted(shown.object, request.kind));
    }
    finish(request, round);
  }

  #invocations(
    { policy, bindings, kind }: MatchingPolicy<CompiledMutatingPolicy>,
    request: AdmissionRequest,
    failures: Failure[],
  ): readonly Invocation[] {
    const paramKind = paramKindOf(policy, this.#options);
    if (paramKind.problem !== "") {
      fail(policy, undefined, `failed to configure policy: ${paramKind.problem}`, "", failures);
      return [];
    }
    return bindings.flatMap((binding) => {
      const params = paramsOf(paramKind.kind, binding.paramRef, request.namespace, this.#options.objects);
      if (params.kind === "found") return params.objects.map((param) => ({ policy, binding, param, kind }));
      fail(policy, binding, `failed to configure binding: ${params.message}`, "", failures);
      return [];
    });
  }

  /** Runs the mutations of a policy on the object of the request. */
  #run({ policy, binding, param, kind }: Invocation, request: AdmissionRequest, round: Round): void {
    const { authorizer, objects } = this.#options;
    const namespace = namespaceOf(request, objects);
    const context = { authorizer, requestKind: round.requestKind, ...(namespace === undefined ? {} : { namespace }) };
    const values = valuesOf(request, context).set("params", jsonValueOf(param));
    const report = (message: string) => fail(policy, binding, message, "Invalid", round.failures);
    const conditions = meetsConditions(
      policy.conditions,
      new Map(values).set("namespaceObject", null),
      policy.failsOpen,
    );
    if (conditions.kind === "failed") return report(conditions.message);
    const { namespace: paramNamespace, name: paramName } = objectAt(param ?? {}, "metadata");
    const key = `${policy.name}/${binding.name}/${paramNamespace}/${paramName}`;
    if (conditions.kind === "unmet" || !round.reinvocations.mayRun(key)) return;
    const before = request.object;
    for (const mutation of policy.mutations) {
      const { object } = request;
      if (object === undefined) continue;
      try {
        request.object = mutatedBy(policy, mutation, { object, kind, values });
        values.set("object", jsonValueOf(request.object));
        round.hasRun = true;
      } catch (error) {
        if (!(error instanceof MutationError)) throw error;
        report(error.message);
      }
    }
    const hasChanged = !isSameJson(before ?? null, request.object ?? null);
    round.reinvocations.ran(key, { hasChanged, isReinvoked: policy.isReinvoked });
  }
}

function fail(
  { name, failsOpen }: CompiledMutatingPolicy,
  binding: PolicyBinding | undefined,
  why: string,
  reason: string,
  failures: Failure[],
): void {
  if (failsOpen) return;
  const policy = binding === undefined
    ? `policy ${JSON.stringify(name)}`
    : `policy '${name}' with binding '${binding.name}'`;
  failures.push({ message: `${policy} denied request: ${why}`, reason });
}

function finish(request: AdmissionRequest, { failures, reinvocations, hasRun }: Round): void {
  // As in Kubernetes, a mutation that changes nothing asks for the second round, too.
  if (hasRun) reinvocations.changed();
  reinvocations.end();
  const [first] = failures;
  if (first === undefined) return;
  const { group, plural } = request.kind;
  throw new StatusError(403, first.reason || "Forbidden", first.message, {
    name: subjectName(request),
    ...(group === "" ? {} : { group }),
    kind: plural,
    causes: failures.map(({ message }) => ({ message })),
  });
}
