/**
 * Fields that server-side apply replaces as a whole: the selector of a Service, the rules of a NetworkPolicy, the node selector
 * of a Pod. Another client that adds to one owns it then, so that only its value shows that it is not the desired one.
 */
import { builtin } from "../../src/api/mod.ts";
import { controller, done, labelled, manifest } from "../../src/controller/mod.ts";
import { World } from "../../src/simulation/mod.ts";
import { assertEquals, test } from "../testing.ts";

const { ConfigMap, NetworkPolicy, Service } = builtin;

const isolations = controller("isolation").for(ConfigMap, { when: labelled({ isolated: "yes" }) })
  .owns(Service).owns(NetworkPolicy).reconcile(async (ctx) => {
    const { name = "", namespace } = ctx.object.metadata;
    const metadata = { name, namespace };
    await ctx.apply(manifest(Service, { metadata, spec: { selector: { app: name }, ports: [{ port: 80 }] } }));
    const from = [{ podSelector: { matchLabels: { app: "web" } } }];
    await ctx.apply(manifest(NetworkPolicy, { metadata, spec: { podSelector: {}, ingress: [{ from }] } }));
    return done;
  });

test("what another client adds to a field that is owned as a whole is removed, once", async () => {
  await using world = await World.start({ controllers: [isolations], cluster: false });
  await world.create(ConfigMap, { name: "a", labels: { isolated: "yes" } });
  await world.settled();
  const specs = () => [world.get(Service, "default/a").spec, world.get(NetworkPolicy, "default/a").spec];
  const before = specs();
  await world.patch(Service, "default/a", { kind: "merge", value: { spec: { selector: { version: "canary" } } } });
  await world.settled();
  assertEquals(specs(), before);
  const podSelector = { matchLabels: { app: "db" } };
  const ingress = [{ from: [{ podSelector: { matchLabels: { app: "web" } }, namespaceSelector: {} }] }];
  for (const spec of [{ podSelector }, { ingress }]) {
    await world.patch(NetworkPolicy, "default/a", { kind: "merge", value: { spec } });
    await world.settled();
    assertEquals(specs(), before);
  }
  // What the controller does not desire stays, and what it owns again needs no further write.
  await world.patch(Service, "default/a", { kind: "merge", value: { spec: { sessionAffinity: "ClientIP" } } });
  await world.settled();
  const { revision } = world;
  await world.patch(ConfigMap, "default/a", { kind: "merge", value: { data: { a: "b" } } });
  await world.settled();
  assertEquals(world.revision, revision + 1);
  assertEquals(world.get(Service, "default/a").spec.sessionAffinity, "ClientIP");
});
