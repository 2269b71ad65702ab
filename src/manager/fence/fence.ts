/**
 * fencedTransport(): a Transport that sends writes only while this process leads. All clients of controllers use it.
 *
 * Three files keep a deposed leader from writing:
 * - this one checks `mayWrite()` before every write, again before every retry of it, and aborts running writes when the
 *   leadership ends;
 * - `election/term.ts` makes `mayWrite()` false at the renew deadline, even if the process was paused;
 * - `election/lease_claim.ts` lets another process take the Lease only after the lease duration, which is longer.
 *
 * Guarantees: a write leaves the process only if {@link WriteAuthority.mayWrite} is true at that moment; after a pause of
 * the process, the Lease is read first. Reads are always sent, so the caches of a standby are up to date.
 *
 * Caveats: a write that is already on its way may still take effect, see FencedError.wasSent. The clients of the Lease
 * itself, of TokenReviews and of SubjectAccessReviews must not be fenced.
 */
import { onAbort, scope } from "../../async/mod.ts";
import { guardSends, type Transport, upgradeOf } from "../../client/mod.ts";
import { errorChain } from "../../observe/mod.ts";
import { knownBodyOf, rememberBody } from "../../runtime/mod.ts";
import { writeAction } from "../access/mod.ts";

/** The right of a leader to write. A Leadership (`election/`) is one. */
export interface WriteAuthority {
  /** Aborts when the leadership ends. */
  readonly signal: AbortSignal;
  /** Why the leadership was lost, if it was. */
  readonly lost: Error | undefined;
  /** True while no other process can hold the Lease. */
  mayWrite(): boolean;
  /** {@link mayWrite}, after reading the Lease if that is necessary. @throws the signal's reason */
  confirm(signal: AbortSignal): Promise<boolean>;
}

/** Where the fence finds the current leadership. A LeaderElector is one. */
export interface LeadershipSource {
  /** `Lease "namespace/name"`. */
  readonly lease: string;
  /** Undefined while this process does not lead. */
  readonly leadership: WriteAuthority | undefined;
}

const readMethods: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

/**
 * Wraps `transport` so that it rejects writes with a FencedError while this process does not lead.
 *
 * With a LeaderElector as the source, one client serves all terms of the process. With `{ lease, leadership }` of one
 * term, the client cannot write in a later term.
 *
 * @example A process that does not lead can read, but not write
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
export function fencedTransport(transport: Transport, source: LeadershipSource): Transport {
  return async (request) => {
    // A program in a container can change anything, and starts with a GET.
    const isUpgrade = upgradeOf(request) !== undefined;
    if (readMethods.has(request.method) && !isUpgrade) return await transport(request);
    const { leadership } = source;
    if (leadership === undefined) throw fencedError(request, source, false);
    const isConfirmed = await leadership.confirm(request.signal);
    if (!isConfirmed || !leadership.mayWrite()) throw fencedError(request, source, false, leadership);
    if (isUpgrade) return await transport(request);
    return await sendAsLeader(leadership, { request, transport, source });
  };
}

interface FencedRequest {
  readonly request: Request;
  readonly transport: Transport;
  readonly source: LeadershipSource;
}

/** Sends the request, and aborts it when the leadership ends. The guard runs again before each retry below the fence. */
async function sendAsLeader(
  leadership: WriteAuthority,
  { request, transport, source }: FencedRequest,
): Promise<Response> {
  using child = scope(request.signal);
  using _aborting = onAbort(leadership.signal, () => child.abort(fencedError(request, source, true, leadership)));
  try {
    const guarded = new Request(request, { signal: child.signal });
    const body = knownBodyOf(request);
    if (body !== undefined) rememberBody(guarded, body);
    return await transport(guardSends(guarded, () => assertMayWrite(source, guarded)));
  } catch (error) {
    // The runtimes throw different errors after an abort; the reason is more precise.
    throw child.signal.aborted ? child.signal.reason : error;
  }
}

/** @throws FencedError unless `request` may be sent now. */
function assertMayWrite(source: LeadershipSource, request: Pick<Request, "method" | "url">): void {
  if (readMethods.has(request.method)) return;
  if (source.leadership?.mayWrite() !== true) throw fencedError(request, source, false, source.leadership);
}

function fencedError(
  request: Pick<Request, "method" | "url">,
  source: LeadershipSource,
  wasSent: boolean,
  leadership?: WriteAuthority,
): FencedError {
  return new FencedError({ action: writeAction(request), lease: source.lease, wasSent, cause: leadership?.lost });
}

/** Options of a {@link FencedError}. */
interface FencedErrorOptions {
  /** The action that failed, as an infinitive: `create deployments.apps in namespace "default"`. */
  readonly action: string;
  /** `Lease "namespace/name"`. */
  readonly lease: string;
  readonly wasSent: boolean;
  /** Why the leadership ended, if that is known. */
  readonly cause?: unknown;
}

/** The fence rejected or aborted a write. The next leader does the same work, from the current state. */
export class FencedError extends Error {
  override readonly name = "FencedError";
  /** False: the write was never sent. True: it was already sent, and may or may not have taken effect. */
  readonly wasSent: boolean;

  constructor(options: FencedErrorOptions) {
    const { action, lease, wasSent, cause } = options;
    const state = wasSent ? `this process lost ${lease} while sending` : `this process does not hold ${lease}`;
    super(`Cannot ${action}: ${state}`, { cause });
    this.wasSent = wasSent;
  }
}

/** True when `error`, or one of its causes, is a FencedError. */
export function isFenced(error: unknown): boolean {
  for (const one of errorChain(error)) if (one instanceof FencedError) return true;
  return false;
}
