/**
 * AccessOracle: whether the server denied a request because its controller did not declare it. A controller may catch such an
 * error, or retry it without end: neither shows in the objects, because the run without faults has it as well.
 */
import type { Transport } from "../client/mod.ts";
import type { Violation } from "./violation.ts";

/** The end of the messages of `undeclaredReason`, and of the operator's. Quotas and webhooks respond with 403, too. */
const undeclared = /: ((?:no )?controller [^:]*(?:did not declare|declared|may) .*)$/;

/** Violations in the report; a controller that is denied once is often denied many times. */
const maxReported = 5;

export class AccessOracle {
  readonly #reasons = new Set<string>();

  /** Observes the responses to the requests of the operator. */
  observe(server: Transport): Transport {
    return async (request) => {
      const response = await server(request);
      if (response.status === 403) await this.#note(request.method, response.clone());
      return response;
    };
  }

  /** One violation for each missing declaration. */
  get violations(): readonly Violation[] {
    return [...this.#reasons].slice(0, maxReported).map((message) => ({ invariant: "declared-access", message }));
  }

  /** An apply of fields of an object that was deleted meanwhile would create it, and must not. */
  async #note(method: string, response: Response): Promise<void> {
    const { message = "" }: { readonly message?: string } = JSON.parse(await response.text());
    const [, reason] = undeclared.exec(message) ?? [];
    const isOfDeleted = method === "PATCH" && reason?.includes("did not declare create on") === true;
    if (reason !== undefined && !isOfDeleted) this.#reasons.add(reason);
  }
}
