/**
 * RequestLimit: a limit of the requests per second, for an API server without priority and fairness. Without it a client has
 * no limit of its own, and follows the server's answers.
 *
 * Guarantees: every request of the transport waits for its turn, in order; a burst passes at once. A new limit holds for
 * the requests after it: those that wait keep their turns.
 */
import type { Clock } from "../../async/mod.ts";
import { rateLimiter, type Transport } from "../../client/mod.ts";
import { UsageError } from "../flags/mod.ts";

/** The flags of `run` about the limit. */
export interface ThrottleFlags {
  /** Requests per second in the long run. @default no limit */
  readonly kubeApiQps?: number;
  /** Requests that pass at once. @default twice `kubeApiQps` */
  readonly kubeApiBurst?: number;
}

/** @throws UsageError when only the burst is given */
export function assertThrottleFlags({ kubeApiQps, kubeApiBurst }: ThrottleFlags): void {
  if (kubeApiQps !== undefined || kubeApiBurst === undefined) return;
  throw new UsageError("Cannot limit requests: --kube-api-burst needs --kube-api-qps", "Add --kube-api-qps 20");
}

/** The limit that all transports of a process share. */
export class RequestLimit {
  readonly #clock: Clock;
  #limiter: ReturnType<typeof rateLimiter> | undefined;

  /** @throws UsageError when only the burst is given */
  constructor(flags: ThrottleFlags, clock: Clock) {
    this.#clock = clock;
    this.set(flags);
  }

  /** Replaces the limit. @throws UsageError when only the burst is given */
  set(flags: ThrottleFlags): void {
    assertThrottleFlags(flags);
    const { kubeApiQps: qps, kubeApiBurst } = flags;
    this.#limiter = qps === undefined ? undefined : rateLimiter({ qps, burst: kubeApiBurst ?? 2 * qps }, this.#clock);
  }

  /** Returns a transport whose requests wait for their turn. */
  throttle(transport: Transport): Transport {
    return async (request) => {
      await this.#limiter?.take(request.signal);
      return await transport(request);
    };
  }
}
