/** listenTcp(): accepts TCP connections on this machine, for forwarded ports. */
import { createServer, type Socket } from "node:net";
import { type Wire, wireOfDuplex } from "./wire.ts";

/** A listening port. Dispose it to close it and all of its connections. */
export interface TcpListener extends AsyncDisposable {
  /** The port, chosen by the system if it was 0. */
  readonly port: number;
}

/** Listens. @throws the error of the system, with its `code`, when the address cannot be used */
export async function listenTcp(
  address: { readonly hostname: string; readonly port: number },
  onConnection: (wire: Wire) => void,
): Promise<TcpListener> {
  const sockets = new Set<Socket>();
  // A client that has sent everything still reads the answer.
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    onConnection(wireOfDuplex(socket, { isHalfOpen: true }));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(address.port, address.hostname, () => {
      server.off("error", reject);
      server.on("error", () => {});
      resolve();
    });
  });
  const bound = server.address();
  return {
    port: bound === null || typeof bound === "string" ? address.port : bound.port,
    async [Symbol.asyncDispose]() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
