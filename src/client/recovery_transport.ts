/**
 * recoveryTransport(): tells a Recovery which requests of a transport get a response. No response, and the statuses with
 * which a proxy answers for a server that is down (502, 503, 504), count as a failure.
 */
import type { Recovery } from "../async/mod.ts";
import type { Transport } from "./transport.ts";

/**
 * Wraps `transport`; requests and responses are unchanged.
 *
 * @example
 * ```ts
 * import { Recovery, VirtualClock } from "../async/mod.ts";
 * import { recoveryTransport } from "./mod.ts";
 *
 * const recovery = new Recovery(new VirtualClock());
 * const transport = recoveryTransport(() => Promise.resolve(new Response("ok")), recovery);
 * let recovered = 0;
 * using _listening = recovery.listen(() => recovered++);
 * recovery.onFailure();
 * await transport(new Request("https://kubernetes.invalid/readyz"));
 * console.assert(recovered === 1);
 * ```
 */
export function recoveryTransport(transport: Transport, recovery: Recovery): Transport {
  return async (request) => {
    let response: Response;
    try {
      response = await transport(request);
    } catch (error) {
      recovery.onFailure();
      throw error;
    }
    if (isUnavailableStatus(response.status)) recovery.onFailure();
    else recovery.onResponse();
    return response;
  };
}

/** True for the statuses of a server, or a proxy before it, that cannot respond at present. */
export function isUnavailableStatus(status: number): boolean {
  return status === 502 || status === 503 || status === 504;
}
