/**
 * ProgramAccess: which requests of a program the rules of its ServiceAccount do not allow, and the rules that would. A program may
 * catch such an error, or retry it without end: neither shows in the objects, because runs without faults have it as well.
 *
 * Caveats: other reasons for a 403 are none of these: a quota, a webhook, a Namespace that ends, a Role with more rights than the
 * program has.
 */
import type { RequestInfo } from "../../manager/mod.ts";
import type { Violation } from "../violation.ts";

/** The attributes of a request, as a SubjectAccessReview takes them. */
export interface ReviewedAttributes {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
}

/** Rules that are missing and are reported. */
const maxReported = 20;

/** The denied requests of a run. */
export class ProgramAccess {
  /** The verbs, by the rest of the rule. */
  readonly #denied = new Map<string, { readonly info: RequestInfo; readonly verbs: Set<string> }>();
  readonly #isAllowed: (attributes: ReviewedAttributes) => Promise<boolean>;

  /** @param isAllowed asks the rules of the program */
  constructor(isAllowed: (attributes: ReviewedAttributes) => Promise<boolean>) {
    this.#isAllowed = isAllowed;
  }

  /** Notes a request that got a 403. */
  async noteForbidden(info: RequestInfo | undefined): Promise<void> {
    if (info === undefined) return;
    const { verb, group, namespace, name } = info;
    const [resource = "", subresource] = info.resource.split("/");
    const place = { ...(namespace === undefined ? {} : { namespace }), ...(name === undefined ? {} : { name }) };
    const part = subresource === undefined ? {} : { subresource };
    if (await this.#isAllowed({ verb, group, resource, ...part, ...place })) return;
    const key = `${namespace ?? ""} ${group} ${info.resource}`;
    const denied = this.#denied.get(key) ?? { info, verbs: new Set() };
    this.#denied.set(key, denied);
    denied.verbs.add(verb);
  }

  /** One violation for each rule that is missing. */
  violations(): readonly Violation[] {
    return [...this.#denied.values()].slice(0, maxReported).map(({ info, verbs }) => {
      const { group, resource, namespace } = info;
      const what = group === "" ? resource : `${resource} of ${group}`;
      const where = namespace === undefined ? "" : ` in the namespace ${namespace}`;
      const rule = JSON.stringify({ apiGroups: [group], resources: [resource], verbs: [...verbs].sort() });
      return {
        invariant: "declared-access",
        message: `the program may not ${[...verbs].sort().join(", ")} ${what}${where}: its rules lack ${rule}`,
        consequence: `The program may not ${[...verbs].sort().join(", ")} ${what}: a rule is missing.`,
      };
    });
  }
}
