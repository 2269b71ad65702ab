import { createServer } from "node:net";
import { assert, assertEquals, assertRejects, test } from "../../../tests/testing.ts";
import { freePort } from "../../../tests/free_port.ts";
import { addressTowards, ownAddresses } from "./network.ts";

test("ownAddresses() has the loopback address", () => {
  assert(ownAddresses().some((address) => address === "127.0.0.1" || address === "::1"));
});

test("addressTowards() is the address that the server sees, and ends the connection", async () => {
  const seen = Promise.withResolvers<string>();
  const server = createServer((socket) => {
    socket.once("close", () => seen.resolve(socket.remoteAddress ?? "")).resume();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  assert(typeof address === "object" && address !== null);
  assertEquals(await addressTowards("127.0.0.1", address.port), "127.0.0.1");
  await seen.promise;
  await new Promise((resolve) => server.close(resolve));
});

test("addressTowards() rejects when nobody listens", async () => {
  const port = await freePort();
  await assertRejects(() => addressTowards("127.0.0.1", port), /ECONNREFUSED|refused/i);
});
