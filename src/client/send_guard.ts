/**
 * A check that travels with a request, for whoever stands above a transport that may send more than once. A retry that
 * waited, or a request that queued behind a throttle, is checked again at the moment it leaves.
 */

const guards = new WeakMap<Request, () => void>();

/** Has `check` called each time before `request` is put on the wire; what it throws is what the transport rejects with. */
export function guardSends(request: Request, check: () => void): Request {
  guards.set(request, check);
  return request;
}

/** The check of a request; undefined when nobody asked for one. For transports. */
export function sendGuardOf(request: Request): (() => void) | undefined {
  return guards.get(request);
}
