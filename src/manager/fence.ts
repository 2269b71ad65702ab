/**
 * fencedTransport(): a Transport that lets writes out only while this process leads (architecture.md D6).
 *
 * Guarantees: a request that may change something is handed on only when {@link Leadership.mayWrite} says so at that very
 * moment, after a look at the Lease where this process may have slept; when leadership is lost, those under way are
 * aborted. Reads always pass, so caches of a standby are warm.
 *
 * What the transport below sends again by itself (after a 429, or a throttle) is asked about again as it leaves.
 *
 * Caveats: clients of the Lease itself, of TokenReviews and the like must not be fenced.
 */
import { onAbort, scope } from "../async/mod.ts";
import { guardSends, type Transport } from "../client/mod.ts";
import { writeAction } from "./_write_action.ts";
import { FencedError } from "./fenced_error.ts";
import type { Leadership } from "./leadership.ts";

/** What a fence asks. A LeaderElector is one. */
export interface WriteGate {
  /** `Lease "namespace/name"`. */
  readonly lease: string;
  /** The term under which writes go out; undefined while this process does not lead. */
  readonly leadership: Leadership | undefined;
}

const readMethods: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

/**
 * Fences `transport`.
 *
 * The transport rejects with a FencedError instead of sending. Given a LeaderElector as the gate, one client serves all
 * terms of a process; given `{ lease, leadership }` of one term, nothing that outlives the term can write in the next.
 *
 * @example A process that does not lead reads, and does not write
 * ```ts
 * import { fencedTransport, isFenced } from "./mod.ts";
 *
 * const standby = { lease: 'Lease "shop/operator"', leadership: undefined };
 * const transport = fencedTransport(() => Promise.resolve(new Response("ok")), standby);
 * const url = "https://kubernetes.invalid/api/v1/namespaces/shop/configmaps";
 * console.assert((await transport(new Request(url))).ok);
 * const error = await transport(new Request(url, { method: "POST" })).catch((error) => error);
 * console.assert(isFenced(error));
 * ```
 */
export function fencedTransport(transport: Transport, gate: WriteGate): Transport {
  return async (request) => {
    if (readMethods.has(request.method)) return await transport(request);
    const { leadership } = gate;
    if (leadership === undefined) throw fenced(request, gate, false);
    const isConfirmed = await leadership.confirm(request.signal);
    if (!isConfirmed || !leadership.mayWrite()) throw fenced(request, gate, false, leadership);
    return await sendUnder(leadership, { request, transport, gate });
  };
}

/** Throws a FencedError unless `request` may be sent at this moment. */
function assertMayWrite(gate: WriteGate, request: Pick<Request, "method" | "url">): void {
  if (readMethods.has(request.method)) return;
  if (gate.leadership?.mayWrite() !== true) throw fenced(request, gate, false, gate.leadership);
}

interface Sending {
  readonly request: Request;
  readonly transport: Transport;
  readonly gate: WriteGate;
}

async function sendUnder(leadership: Leadership, { request, transport, gate }: Sending): Promise<Response> {
  using child = scope(request.signal);
  using _cutOff = onAbort(leadership.signal, () => child.abort(fenced(request, gate, true, leadership)));
  try {
    const guarded = new Request(request, { signal: child.signal });
    return await transport(guardSends(guarded, () => assertMayWrite(gate, guarded)));
  } catch (error) {
    // Runtimes word an abort in their own ways; the reason says more.
    throw child.signal.aborted ? child.signal.reason : error;
  }
}

function fenced(
  request: Pick<Request, "method" | "url">,
  gate: WriteGate,
  wasSent: boolean,
  leadership?: Leadership,
): FencedError {
  return new FencedError({ action: writeAction(request), lease: gate.lease, wasSent, cause: leadership?.lost });
}
