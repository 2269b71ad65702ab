/**
 * Refusals: what the API server forbids a controller to do, as long as it does. A missing permission to write shows in
 * the reconciles that fail; here it becomes the rule that is missing, for readiness and the log.
 */
import type { Resource } from "../api/mod.ts";
import type { Clock } from "../async/mod.ts";
import type { Transport } from "../client/mod.ts";
import { type RequestInfo, requestInfo } from "./request_info.ts";

/** Milliseconds after which what is not tried any more counts for nothing; failing keys are tried every 1000 s. */
const believedMs = 1_200_000;
/** Bytes of a refusal that are looked at; a Status is far smaller. */
const mostBytes = 16 * 1024;

/** What is missing, by what was asked for. */
export class Refusals {
  readonly #missing = new Map<string, { readonly rule: string; readonly at: number }>();
  readonly #primary: Resource;
  readonly #clock: Clock;

  /** @param primary The kind that the controller reconciles. */
  constructor(primary: Resource, clock: Clock) {
    this.#primary = primary;
    this.#clock = clock;
  }

  /** The missing rules, each as a YAML flow mapping. */
  get rules(): readonly string[] {
    const since = this.#clock.monotonic() - believedMs;
    return [...new Set([...this.#missing.values()].filter(({ at }) => at >= since).map(({ rule }) => rule))];
  }

  /** Looks at the answers of `transport`. */
  over(transport: Transport): Transport {
    return async (request) => {
      const response = await transport(request);
      if (response.status === 403) await this.#note(request, response);
      else if (response.ok && this.#missing.size > 0) this.#missing.delete(idOf(requestInfo(request)));
      return response;
    };
  }

  async #note(request: Request, response: Response): Promise<void> {
    const rule = this.#ruleIn(await beginningOf(response.clone()));
    if (rule !== undefined) this.#missing.set(idOf(requestInfo(request)), { rule, at: this.#clock.monotonic() });
  }

  /**
   * The rule that an answer says is missing. Quotas and admission answer 403, too: they name none. The server names the
   * verb itself, since an apply may be refused for what it would create.
   */
  #ruleIn(answer: string): string | undefined {
    const text = answer.replaceAll('\\"', '"');
    const [, verb, resource, group] = /cannot ([a-z]+) resource "([^"]+)" in API group "([^"]*)"/.exec(text) ?? [];
    if (verb !== undefined) return ruleText({ group, resource, verb });
    // The admission plugin OwnerReferencesPermissionEnforcement, about children.
    if (!text.includes("can't set finalizers on")) return undefined;
    return ruleText({ group: this.#primary.group, resource: `${this.#primary.plural}/finalizers`, verb: "update" });
  }
}

function ruleText({ group, resource, verb }: { readonly [Key in "group" | "resource" | "verb"]?: string }): string {
  return `{apiGroups: ["${group}"], resources: ["${resource}"], verbs: ["${verb}"]}`;
}

function idOf(info: RequestInfo | undefined): string {
  return info === undefined ? "" : `${info.verb} ${info.resource} ${info.group} ${info.namespace ?? ""}`;
}

async function beginningOf({ body }: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > mostBytes) break;
  }
  return text;
}
