/** Tests that two user actions at the same object do not meet. */
import { VirtualClock } from "../async/mod.ts";
import { assertEquals, test } from "../../tests/testing.ts";
import { SimulatedServer } from "./_simulated_server.ts";
import { UserActions } from "./_user_actions.ts";

const maps = "/api/v1/namespaces/default/configmaps";
const path = `${maps}/hello`;
const owner = { apiVersion: "v1", kind: "Secret", name: "team", uid: "11111111-2222-3333-4444-555555555555" };
const ownerReferences = [{ ...owner, controller: true }];
const body = JSON.stringify({ metadata: { name: "hello", labels: { app: "hello" }, ownerReferences } });

async function start() {
  const clock = new VirtualClock();
  const server = new SimulatedServer({ controllers: [], clock, seed: 1 });
  await server.start();
  await server.client.raw(maps, { method: "POST", body });
  return { server, clock, users: new UserActions({ server, isDependentKind: () => false, clock }) };
}

test("a user does not edit an object that has just become a foreign one", async () => {
  const { server, clock, users } = await start();
  using _ending = server;
  await users.act("takeover", path, body);
  await users.act("edit", path, body);
  assertEquals([users.isBusy(), server.at(path)?.metadata.labels?.app], [true, "hello"]);
  await clock.advance(20_000);
  assertEquals([await users.undoNext(), users.isBusy(), users.violations()], [true, false, []]);
});

test("a user edits an object of the operator, and another client annotates it for one write", async () => {
  const { server, users } = await start();
  using _ending = server;
  await users.act("edit", path, body);
  assertEquals(server.at(path)?.metadata.labels?.app, "edited");
  await users.act("annotate", path, body);
  assertEquals(Object.keys(server.at(path)?.metadata.annotations ?? {}).length, 1);
  assertEquals([await users.undoAfterWrite(), await users.undoAfterWrite()], [true, false]);
  assertEquals([server.at(path)?.metadata.annotations, users.violations()], [undefined, []]);
});

test("a user takes over what a Namespace controls by giving it another Namespace", async () => {
  const { server, users } = await start();
  using _ending = server;
  const { uid = "" } = server.at("/api/v1/namespaces/default", true)?.metadata ?? {};
  const ownerReferences = [{ apiVersion: "v1", kind: "Namespace", name: "default", uid, controller: true }];
  const metadata = { name: "owned", ownerReferences };
  await server.client.raw(maps, { method: "POST", body: JSON.stringify({ metadata }) });
  await users.act("takeover", `${maps}/owned`, body);
  const [owner] = server.at(`${maps}/owned`)?.metadata.ownerReferences ?? [];
  assertEquals([owner?.name, owner?.uid === uid], ["kube-system", false]);
});
