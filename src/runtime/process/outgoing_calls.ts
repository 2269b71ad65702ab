/**
 * refuseOutgoingCalls(): a guard against requests to other systems while code of others runs that must not have effects, such
 * as the controllers of a plan.
 *
 * Guarantees: `fetch`, WebSocket, EventSource, new connections of `node:net`, which also carry those of `node:http` in Node,
 * and datagrams of `node:dgram` reject or throw with a message that names the target. The end of the guard restores all.
 *
 * Caveats: it is no sandbox. A program that is started, a native module, or a function such as `Deno.connect` is not seen.
 */
import { Socket as DatagramSocket } from "node:dgram";
import { Socket } from "node:net";

/** Classes of the global scope that connect when they are constructed. A runtime need not have them. */
const connecting = ["WebSocket", "EventSource"];

/** Refuses calls until the result is disposed. @param state Why, for the message: `a plan calls no other system` */
export function refuseOutgoingCalls(state: string): Disposable {
  const refusal = (target: string) => new Error(`Cannot call ${target}: ${state}`);
  const refuse = () => {
    throw refusal("another system");
  };
  const replaced = [
    replace(globalThis, "fetch", (input: RequestInfo | URL) => Promise.reject(refusal(originOf(input)))),
    replace(Socket.prototype, "connect", refuse),
    replace(DatagramSocket.prototype, "connect", refuse),
    replace(DatagramSocket.prototype, "send", refuse),
    ...connecting.map((name) => {
      const known: unknown = Reflect.get(globalThis, name);
      if (typeof known !== "function") return () => {};
      const construct = (_: unknown, [url]: readonly (string | URL)[]) => {
        throw refusal(originOf(url ?? ""));
      };
      return replace(globalThis, name, new Proxy(known, { construct }));
    }),
  ];
  return {
    [Symbol.dispose]() {
      for (const restore of replaced) restore();
    },
  };
}

/** Replaces a member. @returns what restores it */
function replace(owner: object, name: string, value: unknown): () => void {
  const before = Object.getOwnPropertyDescriptor(owner, name);
  Object.defineProperty(owner, name, {
    value,
    writable: true,
    configurable: true,
    enumerable: before?.enumerable ?? true,
  });
  return () => {
    if (before === undefined) Reflect.deleteProperty(owner, name);
    else Object.defineProperty(owner, name, before);
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
