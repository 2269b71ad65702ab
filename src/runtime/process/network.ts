/** The addresses of this machine: its own, and the one by which another machine sees it. */
import { connect } from "node:net";
import { networkInterfaces } from "node:os";

/** The addresses of all network interfaces, loopback included: `["127.0.0.1", "::1", "172.18.0.1"]`. */
export function ownAddresses(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((addresses = []) => addresses.map(({ address }) => address));
}

/**
 * The address that this machine has on the way to a server, which is connected for that.
 *
 * @throws Error when the server does not accept the connection
 */
export function addressTowards(host: string, port: number, signal?: AbortSignal): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const socket = connect({ host, port });
  const abort = () => socket.destroy(signal?.reason instanceof Error ? signal.reason : new Error("aborted"));
  socket.once("connect", () => {
    resolve(socket.localAddress ?? "");
    socket.destroy();
  });
  socket.once("error", reject);
  socket.once("close", () => signal?.removeEventListener("abort", abort));
  signal?.addEventListener("abort", abort, { once: true });
  return promise;
}
