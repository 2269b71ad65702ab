/**
 * Switching protocols: how a handler takes over the connection of its request, as WebSockets do (RFC 9110, 7.8). A Response
 * cannot have status 101, so the handler returns one that is marked, and the server sends the 101.
 *
 * Assumptions: the response reaches the server as it is. A copy, and a caller in memory, is an empty response.
 */
import type { Wire } from "./wire.ts";

/** The other protocol of a connection. */
export interface ProtocolSwitch {
  /** Fields of the 101; `connection: Upgrade` is added. */
  readonly headers: Readonly<Record<string, string>>;
  /** Speaks the protocol until its end. The connection closes when this resolves. */
  run(wire: Wire): Promise<void>;
  /** Called instead of {@link ProtocolSwitch.run} when the connection cannot switch. */
  cancel(): void;
}

const switches = new WeakMap<Response, ProtocolSwitch>();

/** A response that makes the server switch protocols. */
export function switchProtocols(target: ProtocolSwitch): Response {
  const response = new Response(null, { headers: { "content-type": "text/plain" } });
  switches.set(response, target);
  return response;
}

/** The other protocol of a response of {@link switchProtocols}; undefined for others. */
export function protocolSwitchOf(response: Response): ProtocolSwitch | undefined {
  return switches.get(response);
}
