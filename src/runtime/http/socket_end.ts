/** The end of a connection of the server, the same in each version of HTTP. */
import type { Socket } from "node:net";
import type { ByteSource } from "./byte_source.ts";
import type { ServeLimits } from "./serve_options.ts";
import type { Timers } from "./timers.ts";

/** How long the end of a connection waits for the client to close it too. */
const lingerMs = 1_000;
/** Bytes of a client that are read meanwhile, as net/http of Go does. */
const lingerBytes = 256 * 1024;

/** What {@link endSocket} needs of its server. */
export interface SocketEndOptions {
  readonly limits: Pick<ServeLimits, "writeTimeoutMs">;
  readonly timers: Timers;
}

/**
 * Ends the connection after its last byte was sent. A client that still sends would reset it and lose the response, so we
 * read on for a moment (RFC 9112, 9.6).
 */
export async function endSocket(socket: Socket, source: ByteSource, options: SocketEndOptions): Promise<void> {
  const { timers, limits } = options;
  if (socket.destroyed) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  let timer = timers.timer(limits.writeTimeoutMs, resolve);
  socket.once("close", resolve);
  source.discard(lingerBytes);
  socket.end(() => {
    timer[Symbol.dispose]();
    // Bun calls this after the close, too.
    if (source.hasEnded || socket.destroyed) resolve();
    else timer = timers.timer(lingerMs, resolve);
  });
  await promise;
  timer[Symbol.dispose]();
  socket.destroy();
}
