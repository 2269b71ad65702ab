/**
 * acceptSpdy(): the server side of the beginning of SPDY without a WebSocket, with the rules of apimachinery `httpstream`: an
 * upgrade, and a protocol for the streams that both sides know.
 *
 * Guarantees: a handshake that is refused opens nothing.
 */
import { switchProtocols, type Wire } from "../../runtime/mod.ts";
import { badRequest } from "../model/mod.ts";
import type { ByteChannel } from "./spdy_connection.ts";
import { WireChannel } from "./wire_channel.ts";

/**
 * The 101 for a handshake, or the response that refuses it.
 *
 * @param known the protocols of the server; the first one that the client knows is used
 * @param run speaks; the connection closes after it
 */
export function acceptSpdy(
  request: Request,
  known: readonly string[],
  run: (channel: ByteChannel) => Promise<void>,
): Response {
  const { headers } = request;
  const isUpgrade = (headers.get("connection") ?? "").toLowerCase().includes("upgrade");
  if (!isUpgrade || headers.get("upgrade")?.toLowerCase() !== "spdy/3.1") throw badRequest("Upgrade request required");
  const wanted = (headers.get("x-stream-protocol-version") ?? "").split(",").map((text) => text.trim());
  const protocol = known.find((name) => wanted.includes(name));
  if (protocol === undefined) {
    const text = `unable to upgrade: unable to negotiate protocol: client supports [${wanted.join(" ")}], ` +
      `server accepts [${known.join(" ")}]`;
    return new Response(text, { status: 403, headers: { "x-accepted-stream-protocol-versions": known.join(", ") } });
  }
  return switchProtocols({
    headers: { upgrade: "SPDY/3.1", "x-stream-protocol-version": protocol },
    run: (wire: Wire) => run(new WireChannel(wire)),
    cancel: () => {},
  });
}
