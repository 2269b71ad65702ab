/** Tests that changes of foreign objects by the operator are found, and that the user undoes the change in time. */
import { VirtualClock } from "../async/mod.ts";
import { assert, assertEquals, test } from "../../tests/testing.ts";
import { ForeignObjects } from "./_foreign_objects.ts";
import { SimulatedServer } from "./_simulated_server.ts";

const maps = "/api/v1/namespaces/default/configmaps";
const path = `${maps}/hello`;
const owner = { apiVersion: "v1", kind: "Secret", name: "team", uid: "11111111-2222-3333-4444-555555555555" };
const dependent = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "hello", namespace: "default", ownerReferences: [{ ...owner, controller: true }] },
  data: { text: "hello" },
};

/** A server with a dependent. `send` writes as the operator. */
async function start(mayWrite?: (manager: string, collection: string) => boolean) {
  const clock = new VirtualClock();
  const server = new SimulatedServer({ controllers: [], clock, seed: 1 });
  await server.start();
  const foreign = new ForeignObjects({ server, clock, mayWrite });
  const send = async (method: "POST" | "PATCH" | "DELETE", url: string, body: object = {}) => {
    const contentType = method === "PATCH" ? "application/merge-patch+json" : "application/json";
    if (method === "DELETE") foreign.noteDelete(url);
    await server.client.raw(`${url}?fieldManager=operator`, { method, body: JSON.stringify(body), contentType });
  };
  await send("POST", maps, dependent);
  return { clock, server, foreign, send, ownerOf: () => server.at(path)?.metadata.ownerReferences?.[0]?.kind };
}

test("takeOver() gives a dependent another controller for 20 s, without a violation", async () => {
  const { clock, foreign, ownerOf } = await start();
  await foreign.takeOver(path);
  assertEquals([foreign.has(path), ownerOf()], [true, "Namespace"]);
  assertEquals(await foreign.undoNext(), false);
  await clock.advance(20_000);
  assertEquals([await foreign.undoNext(), foreign.isBusy(), ownerOf()], [true, false, "Secret"]);
  assertEquals(foreign.violations, []);
});

test("replace() puts an object without an owner in the place of a dependent, and deletes it after 20 s", async () => {
  const { clock, server, foreign, ownerOf } = await start();
  const uid = server.at(path)?.metadata.uid;
  await foreign.replace(path, "");
  assert(server.at(path)?.metadata.uid !== uid);
  assertEquals(ownerOf(), undefined);
  await clock.advance(20_000);
  await foreign.undoNext();
  assertEquals([server.at(path), foreign.violations], [undefined, []]);
});

test("undoNext() reports a foreign object that the operator changed or deleted", async () => {
  const invariant = "foreign-objects";
  const changed = await start();
  await changed.foreign.takeOver(path);
  await changed.clock.advance(1_000); // managedFields have times in seconds
  await changed.send("PATCH", path, { data: { text: "changed" } });
  await changed.clock.advance(20_000);
  await changed.foreign.undoNext();
  assertEquals(changed.foreign.violations, [{
    invariant,
    message: `${path} was changed while it was a foreign object`,
    consequence: "The ConfigMap default/hello, which belongs to someone else, was changed.",
    object: "configmaps default/hello",
  }]);
  const deleted = await start();
  await deleted.foreign.replace(path, "");
  await deleted.send("DELETE", path);
  await deleted.clock.advance(20_000);
  await deleted.foreign.undoNext();
  assertEquals(deleted.foreign.violations, [{
    invariant,
    message: `${path} was deleted while it was a foreign object`,
    consequence: "The ConfigMap default/hello, which belongs to someone else, was deleted.",
    object: "configmaps default/hello",
  }]);
});

test("a controller that declares writes to objects of others may change a foreign object", async () => {
  const { clock, foreign, send } = await start((manager, collection) =>
    manager === "operator" && collection === "configmaps"
  );
  await foreign.takeOver(path);
  await clock.advance(1_000);
  await send("PATCH", path, { data: { text: "changed" } });
  await clock.advance(20_000);
  await foreign.undoNext();
  assertEquals(foreign.violations, []);
});
