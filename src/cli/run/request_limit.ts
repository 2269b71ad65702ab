/**
 * RequestLimit: a limit of the requests per second, for an API server without priority and fairness. Without it a client has
 * no limit of its own, and follows the server's answers.
 *
 * Guarantees: every request of a transport waits for its turn, in order; a burst passes at once. Each transport has turns of
 * its own, since each belongs to one API server. A new limit holds for the requests after it: those that wait keep their turns.
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

/** The limit that holds for each transport of a process. */
export class RequestLimit {
  readonly #clock: Clock;
  #flags: ThrottleFlags;

  /** @throws UsageError when only the burst is given */
  constructor(flags: ThrottleFlags, clock: Clock) {
    assertThrottleFlags(flags);
    this.#clock = clock;
    this.#flags = flags;
  }

  /** Replaces the limit. @throws UsageError when only the burst is given */
  set(flags: ThrottleFlags): void {
    assertThrottleFlags(flags);
    this.#flags = flags;
  }

  /** Returns a transport whose requests wait for their turn. */
  throttle(transport: Transport): Transport {
    let flags = this.#flags;
    let limiter = this.#limiterOf(flags);
    return async (request) => {
      if (flags !== this.#flags) {
        flags = this.#flags;
        limiter = this.#limiterOf(flags);
      }
      await limiter?.take(request.signal);
      return await transport(request);
    };
  }

  #limiterOf({ kubeApiQps: qps, kubeApiBurst }: ThrottleFlags): ReturnType<typeof rateLimiter> | undefined {
    return qps === undefined ? undefined : rateLimiter({ qps, burst: kubeApiBurst ?? 2 * qps }, this.#clock);
  }
}
