/** freePort(): a free port of the loopback interface, for a server that needs its port as a flag. */
import { createServer } from "node:net";

/** Finds a free port. Another program may take it before the server does. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (typeof address !== "object" || address === null) throw new Error("Cannot find a free port: the server has none");
  return address.port;
}
