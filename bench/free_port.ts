/** freePort(): a port of the loopback interface that nobody listens on, for a server that is told where to listen. */
import { createServer } from "node:net";

/** Finds one. Another program may take it before the server does. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (typeof address !== "object" || address === null) throw new Error("Cannot find a free port: the server has none");
  return address.port;
}
