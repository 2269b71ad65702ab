/**
 * PolicyAdmission: ValidatingAdmissionPolicies and their bindings, as they are stored at that moment. A policy is compiled
 * when it is first asked, and kept compiled for as long as it is stored.
 *
 * Not done: types of the matched kinds are not checked when a policy is written (`status.typeChecking`), and audit
 * annotations go nowhere.
 */
import {
  type AdmissionPlugin,
  type AdmissionRequest,
  type Authorizer,
  type JsonObject,
  type Kind,
  type ObjectReader,
  Refusal,
} from "../model/mod.ts";
import {
  bindingOf,
  type CompiledPolicy,
  nameOf,
  objectAt,
  type PolicyBinding,
  policyOf,
  textAt,
} from "./_compiled_policy.ts";
import { valuesOf, type VariableValues } from "./cel_variables.ts";
import { isBeyond, siteOf } from "./_request_site.ts";
import { shownAs } from "./_shown_request.ts";
import { jsonValueOf } from "../cel/mod.ts";
import { kindAbout } from "./_policy_match.ts";
import { paramsOf } from "./_policy_params.ts";
import { objectionsOf } from "./_policy_run.ts";

const policyCollection = "validatingadmissionpolicies.admissionregistration.k8s.io";
const bindingCollection = "validatingadmissionpolicybindings.admissionregistration.k8s.io";

/** Options of {@link PolicyAdmission}. */
export interface PolicyAdmissionOptions {
  readonly objects: ObjectReader;
  /** Whom expressions may ask. */
  readonly authorizer: Authorizer;
  /** The kind of params. */
  readonly findKind: (group: string, version: string, kind: string) => Kind | undefined;
  /** A kind in the other versions in which it is served. */
  readonly otherKinds: (kind: Kind) => readonly Kind[];
}

/** Why a request is denied. */
interface Denial {
  readonly policy: string;
  /** "" where no binding is to blame. */
  readonly binding: string;
  readonly message: string;
  readonly reason: string;
}

/** A policy that is about a request, and the kind it is asked about: the request's, or the same in another version. */
interface Question {
  readonly policy: CompiledPolicy;
  /** Those that are about the request. */
  readonly bindings: readonly PolicyBinding[];
  readonly kind: Kind;
}

interface ShownQuestion extends Question {
  /** In the version that the policy was made for. */
  readonly request: AdmissionRequest;
}

export class PolicyAdmission implements AdmissionPlugin {
  readonly name = "ValidatingAdmissionPolicy";
  readonly #options: PolicyAdmissionOptions;

  constructor(options: PolicyAdmissionOptions) {
    this.#options = options;
  }

  validate(request: AdmissionRequest): void | Promise<void> {
    if (isBeyond(request.kind)) return;
    const byPolicy = this.#bindings();
    if (byPolicy === undefined) return;
    const site = siteOf(request, this.#options);
    const questions: Question[] = [];
    for (const object of this.#options.objects.list(policyCollection)) {
      const bindings = byPolicy.get(nameOf(object))?.filter(({ match }) =>
        kindAbout(match, request, site) !== undefined
      );
      if (bindings === undefined || bindings.length === 0) continue;
      const policy = policyOf(object);
      const kind = kindAbout(policy.match, request, site);
      if (kind !== undefined) questions.push({ policy, bindings, kind });
    }
    if (questions.every(({ kind }) => kind === request.kind)) {
      return this.#judge(request, questions.map((question) => ({ ...question, request })));
    }
    return this.#judgeShown(request, questions);
  }

  /** The same where a policy is made for another version. */
  async #judgeShown(request: AdmissionRequest, questions: readonly Question[]): Promise<void> {
    const shown: ShownQuestion[] = [];
    for (const question of questions) shown.push({ ...question, request: await shownAs(request, question.kind) });
    this.#judge(request, shown);
  }

  #judge(request: AdmissionRequest, questions: readonly ShownQuestion[]): void {
    const denials: Denial[] = [];
    for (const question of questions) this.#ask(question, request.kind, denials);
    const [first] = denials;
    if (first !== undefined) throw refusalOf(first, request);
  }

  /** By the names of their policies; undefined, without further cost, where nobody has made any. */
  #bindings(): ReadonlyMap<string, readonly PolicyBinding[]> | undefined {
    const all: PolicyBinding[] = [];
    for (const object of this.#options.objects.list(bindingCollection)) all.push(bindingOf(object));
    return all.length === 0 ? undefined : Map.groupBy(all, (binding) => binding.policyName);
  }

  #ask({ policy, bindings, request }: ShownQuestion, asked: Kind, denials: Denial[]): void {
    const deny = (binding: string, message: string, reason = "Invalid") =>
      denials.push({ policy: policy.name, binding, message, reason });
    const { kind, problem } = this.#paramKind(policy);
    if (problem !== "") {
      if (!policy.failsOpen) deny("", `failed to configure policy: ${problem}`);
      return;
    }
    const values = this.#values(request, asked);
    for (const binding of bindings) {
      const params = paramsOf(kind, binding.paramRef, request.namespace, this.#options.objects);
      if (params.kind === "failed") {
        if (!policy.failsOpen) deny(binding.name, `failed to configure binding: ${params.why}`);
        continue;
      }
      for (const param of params.objects) {
        values.set("params", jsonValueOf(param));
        for (const { message, reason, isUnconditional } of objectionsOf(policy, values)) {
          if (isUnconditional || binding.actions.includes("Deny")) deny(binding.name, message, reason);
          if (isUnconditional || !binding.actions.includes("Warn")) continue;
          const title =
            `Validation failed for ValidatingAdmissionPolicy '${policy.name}' with binding '${binding.name}'`;
          request.warn(`${title}: ${message}`);
        }
      }
    }
  }

  #values(request: AdmissionRequest, asked: Kind): VariableValues {
    const { kind, namespace } = request;
    const holder = namespace === "" || kind.collection === "namespaces"
      ? undefined
      : this.#options.objects.get("namespaces", "", namespace);
    const { authorizer } = this.#options;
    return valuesOf(request, { authorizer, asked, ...(holder === undefined ? {} : { namespace: holder }) });
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

function refusalOf({ policy, binding, message, reason }: Denial, request: AdmissionRequest): Refusal {
  const { group, plural } = request.kind;
  const name = request.name || nameless(request.object ?? {});
  const resource = group === "" ? plural : `${plural}.${group}`;
  const blamed = binding === "" ? "" : ` with binding '${binding}'`;
  const why = `ValidatingAdmissionPolicy '${policy}'${blamed} denied request: ${message}`;
  return new Refusal(codes.get(reason) ?? 422, reason, `${resource} "${name}" is forbidden: ${why}`, {
    name,
    ...(group === "" ? {} : { group }),
    kind: plural,
    causes: [{ message: why }],
  });
}

/** What an object is called that has no name yet. */
function nameless(object: JsonObject): string {
  return nameOf(object) || textAt(objectAt(object, "metadata"), "generateName") || "Unknown";
}
