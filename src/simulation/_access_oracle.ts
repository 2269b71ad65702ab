/**
 * AccessOracle: whether the server denied a request because its controller did not declare it. A controller may catch such an
 * error, or retry it without end: neither shows in the objects, because the run without faults has it as well.
 */
import type { Clock } from "../async/mod.ts";
import type { Transport } from "../client/mod.ts";
import type { Violation } from "./violation.ts";

/** The end of the messages of `undeclaredReason`, and of the operator's. Quotas and webhooks respond with 403, too. */
const undeclared = /: ((?:no )?controller [^:]*(?:did not declare|declared|may) .*)$/;

/** Violations in the report; a controller that is denied once is often denied many times. */
const maxReported = 5;

/** Virtual milliseconds after which the caches show a deletion, whatever the fault was. */
const shownAfterMs = 60_000;

/** Options of an {@link AccessOracle}. */
export interface AccessOracleOptions {
  readonly clock: Pick<Clock, "monotonic">;
  /** True for the path of an object that exists, or has existed in this run. */
  readonly hasExisted: (path: string) => boolean;
}

/** Observes all processes of a run. */
export class AccessOracle {
  readonly #options: AccessOracleOptions;
  readonly #reasons = new Set<string>();
  /** When the apply of a deleted object was first denied, by its path. */
  readonly #deniedAt = new Map<string, number>();

  constructor(options: AccessOracleOptions) {
    this.#options = options;
  }

  /** Observes the responses to the requests of the operator. */
  observe(server: Transport): Transport {
    return async (request) => {
      const response = await server(request);
      if (response.status === 403) await this.#note(request, response.clone());
      return response;
    };
  }

  /** One violation for each missing declaration. */
  get violations(): readonly Violation[] {
    return [...this.#reasons].slice(0, maxReported).map((message) => ({ invariant: "declared-access", message }));
  }

  async #note(request: Request, response: Response): Promise<void> {
    const { message = "" }: { readonly message?: string } = JSON.parse(await response.text());
    const [, reason] = undeclared.exec(message) ?? [];
    if (reason === undefined) return;
    const isApply = request.method === "PATCH" && reason.includes("did not declare create on");
    if (!isApply || !this.#isOfDeleted(new URL(request.url).pathname)) this.#reasons.add(reason);
  }

  /**
   * An apply of fields of an object that was deleted meanwhile would create it, and must not. It ends when the caches show the
   * deletion; one that goes on wants to create the object.
   */
  #isOfDeleted(path: string): boolean {
    const { clock, hasExisted } = this.#options;
    if (!hasExisted(path)) return false;
    const now = clock.monotonic();
    const since = this.#deniedAt.get(path) ?? now;
    this.#deniedAt.set(path, since);
    return now - since < shownAfterMs;
  }
}
