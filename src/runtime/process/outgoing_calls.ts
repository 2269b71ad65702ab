/**
 * refuseOutgoingCalls(): a guard against requests to other systems while code of others runs that must not have effects, such
 * as the controllers of a plan.
 *
 * Guarantees: `fetch` and new connections of `node:net`, which also carry those of `node:http` in Node, reject or throw with a
 * message that names the target. The end of the guard restores both.
 *
 * Caveats: it is no sandbox. A program that is started, or a native module, is not seen.
 */
import { Socket } from "node:net";

/** Refuses calls until the result is disposed. @param state Why, for the message: `a plan calls no other system` */
export function refuseOutgoingCalls(state: string): Disposable {
  const { fetch } = globalThis;
  const { connect } = Socket.prototype;
  const refusal = (target: string) => new Error(`Cannot call ${target}: ${state}`);
  globalThis.fetch =
    ((input: RequestInfo | URL) => Promise.reject(refusal(originOf(input)))) as typeof globalThis.fetch;
  Socket.prototype.connect = () => {
    throw refusal("another system");
  };
  return {
    [Symbol.dispose]() {
      globalThis.fetch = fetch;
      Socket.prototype.connect = connect;
    },
  };
}

/** The scheme and the host: a path or a query may hold a secret. */
function originOf(input: RequestInfo | URL): string {
  try {
    return new URL(input instanceof Request ? input.url : `${input}`).origin;
  } catch {
    return "another system";
  }
}
