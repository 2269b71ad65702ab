/**
 * throttledTransport(): a limit of the requests per second, for an API server without priority and fairness. Without it a
 * client has no limit of its own, and follows the server's answers.
 *
 * Guarantees: every request of the transport waits for its turn, in order; a burst passes at once.
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
export function throttledTransport(
  transport: Transport,
  { kubeApiQps: qps, kubeApiBurst }: ThrottleFlags,
  clock: Clock,
): Transport {
  if (qps === undefined) {
    if (kubeApiBurst === undefined) return transport;
    throw new UsageError("Cannot limit requests: --kube-api-burst needs --kube-api-qps", "Add --kube-api-qps 20");
  }
  const limiter = rateLimiter({ qps, burst: kubeApiBurst ?? 2 * qps }, clock);
  return async (request) => {
    await limiter.take(request.signal);
    return await transport(request);
  };
}
