/** Tests of the Website controller in memory: an API server, a cluster, and a clock that the test advances. */
import assert from "node:assert/strict";
import test from "node:test";
import { ConfigMap, Deployment, Service } from "../../src/mod.ts";
import { World } from "../../src/testing.ts";
import { websiteController } from "./controller.ts";
import { Website } from "./website.ts";

const hello = { name: "hello", spec: { html: "<h1>Hello</h1>", replicas: 2 } };

test("a Website gets a page, servers and an address, and reports its ready servers", async () => {
  await using world = await World.start({ controllers: [websiteController] });
  await world.create(Website, hello);
  await world.settled();
  assert.equal(world.get(ConfigMap, "default/hello").data?.["index.html"], "<h1>Hello</h1>");
  assert.equal(world.get(Service, "default/hello").spec.ports?.[0]?.port, 80);
  assert.equal(world.get(Deployment, "default/hello").status?.readyReplicas, 2);
  assert.equal(world.get(Website, "default/hello").status?.readyReplicas, 2);
});

test("changed and deleted objects are restored", async () => {
  await using world = await World.start({ controllers: [websiteController] });
  await world.create(Website, hello);
  await world.settled();
  await world.patch(ConfigMap, "default/hello", { kind: "merge", value: { data: { "index.html": "hacked" } } });
  await world.delete(Deployment, "default/hello");
  await world.settled();
  assert.equal(world.get(ConfigMap, "default/hello").data?.["index.html"], "<h1>Hello</h1>");
  assert.equal(world.get(Deployment, "default/hello").status?.readyReplicas, 2);
});

test("the objects of a deleted Website are deleted", async () => {
  await using world = await World.start({ controllers: [websiteController] });
  await world.create(Website, hello);
  await world.settled();
  await world.delete(Website, "default/hello");
  await world.settled();
  for (const resource of [ConfigMap, Deployment, Service]) {
    assert.equal(world.find(resource, "default/hello"), undefined);
  }
});

test("a Website without a page is rejected", async () => {
  await using world = await World.start({ controllers: [websiteController] });
  await assert.rejects(() => world.create(Website, { name: "empty", spec: { html: "", replicas: 1 } }), /spec\.html/);
});
