/** Tests that a write which undoes the change of another client is found, and that all other writes are as without it. */
import { VirtualClock } from "../async/mod.ts";
import { assertEquals, test } from "../../tests/testing.ts";
import { LostUpdates } from "./_lost_updates.ts";
import { SimulatedServer } from "./_simulated_server.ts";

const path = "/api/v1/namespaces/default/configmaps/hello";
const map = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "hello", namespace: "default" },
  data: { a: "1" },
};

/** A server with an object. `write` is a write of the operator, with the change of another client right before it. */
async function start() {
  const server = new SimulatedServer({ controllers: [], clock: new VirtualClock(), seed: 1 });
  await server.start();
  await server.client.raw(path.slice(0, path.lastIndexOf("/")), { method: "POST", body: JSON.stringify(map) });
  const lostUpdates = new LostUpdates({ server });
  const write = async (method: "PUT" | "PATCH", value: object) => {
    const body = JSON.stringify(value);
    const contentType = method === "PATCH" ? "application/merge-patch+json" : "application/json";
    await lostUpdates.annotate(path, body);
    const status = await server.client.raw(path, { method, body, contentType }).then(() => 200, ({ code }) => code);
    await lostUpdates.undoNext();
    return { status, messages: lostUpdates.violations.map(({ message }) => message) };
  };
  return { server, write };
}

test("a PUT without a resourceVersion loses the annotation of another client", async () => {
  const { server, write } = await start();
  using _ending = server;
  const { status, messages } = await write("PUT", { ...map, data: { a: "2" } });
  assertEquals(status, 200);
  assertEquals(messages, [
    `${path} lost an annotation that another client had added since the operator read the object`,
  ]);
});

test("a PUT with the resourceVersion that was read is rejected, and loses nothing", async () => {
  const { server, write } = await start();
  using _ending = server;
  const { resourceVersion } = server.at(path)?.metadata ?? {};
  const { status, messages } = await write("PUT", { ...map, metadata: { ...map.metadata, resourceVersion } });
  assertEquals([status, messages], [409, []]);
  assertEquals(server.at(path)?.metadata.annotations, undefined);
});

test("a merge patch of the finalizers without a resourceVersion loses the one of another client", async () => {
  const { server, write } = await start();
  using _ending = server;
  const { messages } = await write("PATCH", { metadata: { finalizers: ["example.dev/own"] } });
  assertEquals(messages, [`${path} lost a finalizer that another client had added since the operator read the object`]);
  assertEquals(server.at(path)?.metadata.finalizers, ["example.dev/own"]);
});

test("a merge patch of other fields loses nothing, and the change is taken back", async () => {
  const { server, write } = await start();
  using _ending = server;
  const { messages } = await write("PATCH", { data: { a: "2" } });
  assertEquals(messages, []);
  assertEquals(server.at(path)?.metadata.annotations, undefined);
});
