/** Tests of connectTcp() over real sockets. */
import { assertEquals, assertRejects, test } from "../../../tests/testing.ts";
import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { freePort } from "../../../tests/free_port.ts";
import { connectTcp, isConnectedToItself } from "./tcp_connection.ts";

const never = new AbortController().signal;

/** Listens for one test. @returns the server and its address */
async function listening(onSocket: (socket: Socket) => void) {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on("error", () => {});
    onSocket(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return { server, hostname: "127.0.0.1", port: typeof address === "object" && address !== null ? address.port : 0 };
}

async function closed(server: Server): Promise<void> {
  await new Promise((resolve) => server.close(resolve));
}

test("the end of what is sent reaches the peer, whose answer is read to its end", async () => {
  const { server, ...address } = await listening((socket) => {
    let bytes = 0;
    socket.on("data", (chunk: Uint8Array) => bytes += chunk.length);
    socket.on("end", () => socket.end(`${bytes}`));
  });
  using connection = await connectTcp(address, never);
  await connection.write(new Uint8Array(300_000));
  connection.finish();
  let text = "";
  for (let chunk = await connection.read(); chunk !== undefined; chunk = await connection.read()) {
    text += new TextDecoder().decode(chunk);
  }
  assertEquals(text, "300000");
  await closed(server);
});

test("dispose ends a read that waits, and a write after it does nothing", async () => {
  const { server, ...address } = await listening((socket) => void socket.write(new Uint8Array(64)));
  const connection = await connectTcp(address, never);
  assertEquals((await connection.read())?.length, 64);
  const waiting = connection.read();
  connection[Symbol.dispose]();
  assertEquals(await waiting, undefined);
  await connection.write(new Uint8Array(1));
  server.close();
});

test("a port that refuses is an error with its code, and an aborted connection the reason", async () => {
  const { server, ...address } = await listening(() => {});
  await closed(server);
  const error = await connectTcp(address, never).catch((error: unknown) => error);
  assertEquals(error instanceof Error && "code" in error && error.code, "ECONNREFUSED");
  const stop = new AbortController();
  stop.abort(new Error("enough"));
  await assertRejects(() => connectTcp(address, stop.signal), /enough/);
});

test("a socket that the system connected to itself is no connection, and one to a server is", async () => {
  const port = await freePort();
  const own = connect({ host: "127.0.0.1", port, localAddress: "127.0.0.1", localPort: port });
  await once(own, "connect");
  assertEquals(isConnectedToItself(own), true);
  own.destroy();

  const { server, port: serverPort } = await listening((socket) => socket.end());
  const other = connect({ host: "127.0.0.1", port: serverPort });
  await once(other, "connect");
  assertEquals(isConnectedToItself(other), false);
  other.destroy();
  await closed(server);
});
