/**
 * recoveryTransport(): tells a Recovery which requests of a transport get a response. No response, and the statuses with
 * which a proxy answers for a server that is down (502, 503, 504), count as a failure; a request that its sender gave up
 * says nothing.
 *
 * Guarantees: a read that was sent before the server came back and gets no response within a second after that ends as
 * unreachable: its connection may have died with the outage, and nothing would end it before its time limit. Writes are
 * left alone, because the server may have received them.
 */
import type { Clock, Recovery } from "../async/mod.ts";
import { discard } from "./response.ts";
import type { Transport } from "./transport.ts";
import { UnreachableError } from "./unreachable_error.ts";

/** How long a read may wait for its response after another request got one. */
const graceMs = 1_000;

/**
 * Wraps `transport`; responses are unchanged.
 *
 * @example
 * ```ts
 * import { Recovery, VirtualClock } from "../async/mod.ts";
 * import { recoveryTransport } from "./mod.ts";
 *
 * const clock = new VirtualClock();
 * const recovery = new Recovery(clock);
 * const transport = recoveryTransport(() => Promise.resolve(new Response("ok")), recovery, { clock });
 * let recovered = 0;
 * using _listening = recovery.listen(() => recovered++);
 * recovery.onFailure();
 * await transport(new Request("https://kubernetes.invalid/readyz"));
 * console.assert(recovered === 1);
 * ```
 */
export function recoveryTransport(
  transport: Transport,
  recovery: Recovery,
  options: { readonly clock: Clock },
): Transport {
  return async (request) => {
    let response: Response;
    try {
      response = request.method === "GET"
        ? await untilStale(transport(request), recovery, options.clock)
        : await transport(request);
    } catch (error) {
      if (!isGivenUp(request.signal)) recovery.onFailure();
      throw error;
    }
    if (isUnavailableStatus(response.status)) recovery.onFailure();
    else recovery.onResponse();
    return response;
  };
}

/** Rejects when the response is overdue after the server's return. A response that comes later is discarded. */
function untilStale(sending: Promise<Response>, recovery: Recovery, clock: Clock): Promise<Response> {
  return new Promise((resolve, reject) => {
    let timer: Disposable | undefined;
    let isOver = false;
    const listening = recovery.listen(() => timer ??= clock.timer(graceMs, () => end(() => reject(staleError()))));
    const end = (settle: () => void) => {
      isOver = true;
      listening[Symbol.dispose]();
      timer?.[Symbol.dispose]();
      settle();
    };
    sending.then(
      (response) => isOver ? void discard(response) : end(() => resolve(response)),
      (error) => isOver ? undefined : end(() => reject(error)),
    );
  });
}

function staleError(): UnreachableError {
  return new UnreachableError({
    action: "reach the API server",
    reason: { kind: "timeout", detail: "noResponse" },
    state: "it responds to other requests, the connection of this one is gone",
  });
}

/** True when the sender lost interest; a time limit that has passed is a failure of the server. */
function isGivenUp(signal: AbortSignal): boolean {
  return signal.aborted && !(signal.reason instanceof Error && signal.reason.name === "TimeoutError");
}

/** True for the statuses of a server, or a proxy before it, that cannot respond at present. */
export function isUnavailableStatus(status: number): boolean {
  return status === 502 || status === 503 || status === 504;
}
