/**
 * Free ports of the loopback address. They are all held at once and then let go, so they differ; that another process
 * takes one before a server binds it is possible and unlikely, and up to the caller.
 */
import { once } from "node:events";
import { createServer, type Server } from "node:net";
import { loopback } from "./flags.ts";

/** Two ports that were free a moment ago. */
export async function twoFreePorts(): Promise<readonly [number, number]> {
  const [first, second] = [await listening(), await listening()];
  const ports = [portOf(first), portOf(second)] as const;
  await Promise.all([first, second].map(closed));
  return ports;
}

async function listening(): Promise<Server> {
  const server = createServer().listen(0, loopback);
  await once(server, "listening");
  return server;
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("Cannot find a free port: not a TCP listener");
  return address.port;
}

async function closed(server: Server): Promise<void> {
  server.close();
  await once(server, "close");
}
