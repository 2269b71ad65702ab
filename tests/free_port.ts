/**
 * The only chooser of free ports for tests that cannot let a server choose its own (port 0).
 *
 * Guarantees: no two processes of tests get the same port, however many run at once. A process holds a block of
 * consecutive ports by listening on the first one until it ends; it gives out the others in turn, as long as they are
 * free. The blocks are below the ports that systems give to clients and to servers on port 0.
 *
 * Caveats: a program that is not a test may take a port after it was given out.
 */
import { createServer, type Server } from "node:net";
import process from "node:process";

const host = "127.0.0.1";
const firstPort = 20_000;
const blockSize = 50;
const blockCount = 200;

/** Listens until this process ends. It begins here and not in a test, which would leak it. */
const holder: Server = await holdBlock();
const blockStart = portOf(holder);
let used = 0;

/** A free port of 127.0.0.1 that no other test gets. */
export async function freePort(): Promise<number> {
  for (let tries = 1; tries < blockSize; tries++) {
    used = used % (blockSize - 1) + 1;
    const port = blockStart + used;
    if (await isFree(port)) return port;
  }
  throw new Error(`Cannot find a free port: all from ${blockStart} on are in use`);
}

/** Listens on the first port of a block that no process holds. */
async function holdBlock(): Promise<Server> {
  for (let index = 0; index < blockCount; index++) {
    const start = firstPort + ((process.pid + index) % blockCount) * blockSize;
    const server = await listen(start);
    if (server !== undefined) return server.unref();
  }
  throw new Error("Cannot find a free port: all blocks are held");
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("Cannot hold a block of ports: no TCP listener");
  return address.port;
}

async function isFree(port: number): Promise<boolean> {
  const server = await listen(port);
  if (server === undefined) return false;
  await new Promise((resolve) => server.close(resolve));
  return true;
}

/** @returns undefined if the port is in use */
function listen(port: number): Promise<Server | undefined> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once("error", () => resolve(undefined));
    server.listen(port, host, () => resolve(server));
  });
}
