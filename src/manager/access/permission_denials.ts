/**
 * PermissionDenials: the RBAC rules that a controller lacks, according to the responses of the API server. A missing read
 * permission shows in the cache; a missing write permission shows only in failed reconciles, so it is collected here for
 * readiness and the log.
 *
 * Guarantees: a denial is removed when the same request succeeds, or when it was not repeated for 20 minutes.
 */
import type { Resource } from "../../api/mod.ts";
import type { Clock } from "../../async/mod.ts";
import type { Transport } from "../../client/mod.ts";
import { type RequestInfo, requestInfo } from "./request_info.ts";

/** Longer than the longest backoff of a failing key, which is 1000 s. */
const maxAgeMs = 1_200_000;
/** A Status response is far smaller. */
const maxResponseChars = 16 * 1024;

export class PermissionDenials {
  /** The missing rule, by the denied request. */
  readonly #denied = new Map<string, { readonly rule: string; readonly at: number }>();
  readonly #primary: Resource;
  readonly #clock: Clock;

  /** @param primary The kind that the controller reconciles. */
  constructor(primary: Resource, clock: Clock) {
    this.#primary = primary;
    this.#clock = clock;
  }

  /** The missing rules, each as a YAML flow mapping. */
  get missingRules(): readonly string[] {
    const since = this.#clock.monotonic() - maxAgeMs;
    return [...new Set([...this.#denied.values()].filter(({ at }) => at >= since).map(({ rule }) => rule))];
  }

  /** Wraps `transport` and reads its responses. */
  wrap(transport: Transport): Transport {
    return async (request) => {
      const response = await transport(request);
      if (response.status === 403) await this.#record(request, response);
      else if (response.ok && this.#denied.size > 0 && !request.headers.has("impersonate-user")) {
        this.#denied.delete(idOf(requestInfo(request)));
      }
      return response;
    };
  }

  async #record(request: Request, response: Response): Promise<void> {
    const text = await textOf(response.clone());
    // What another user may not do is not a permission that the controller lacks; being that user is.
    if (request.headers.has("impersonate-user") && !text.includes("impersonate")) return;
    const rule = this.#ruleIn(text);
    if (rule !== undefined) this.#denied.set(idOf(requestInfo(request)), { rule, at: this.#clock.monotonic() });
  }

  /**
   * The rule that a response names as missing. The verb is that of the response, because an apply may be denied for the
   * create it implies. Quotas and admission also respond with 403, and name no rule.
   */
  #ruleIn(response: string): string | undefined {
    const text = response.replaceAll('\\"', '"');
    const [, verb, resource, group] = /cannot ([a-z]+) resource "([^"]+)" in API group "([^"]*)"/.exec(text) ?? [];
    if (verb !== undefined) return ruleText({ group, resource, verb });
    // From the admission plugin OwnerReferencesPermissionEnforcement, about dependents.
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

/** The beginning of the body, as text. */
async function textOf({ body }: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > maxResponseChars) break;
  }
  return text;
}
