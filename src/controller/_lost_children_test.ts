import { assertEquals, test } from "../../tests/testing.ts";
import { builtin, type KubeObject, type ObjectKey } from "../api/mod.ts";
import { LostChildren } from "./_lost_children.ts";

const { Service, Ingress } = builtin;

function service(uid: string): KubeObject {
  return { apiVersion: "v1", kind: "Service", metadata: { name: "web", namespace: "shop", uid } };
}

function ingress(ownerUid: string, name = "web"): KubeObject {
  const owner = { apiVersion: "v1", kind: "Service", name: "web", uid: ownerUid, controller: true };
  const metadata = { name, namespace: "shop", ownerReferences: [owner] };
  return { apiVersion: "networking.k8s.io/v1", kind: "Ingress", metadata };
}

/** With a cache that has this one Service, or none. */
function lostWith(cached: KubeObject | undefined): LostChildren {
  return new LostChildren(Service, (key: ObjectKey) => key === "shop/web" ? cached : undefined);
}

test("a child that goes while the cache has its owner is known until it is there again", () => {
  const lost = lostWith(service("u-1"));
  lost.note(Ingress, ingress("u-1"));
  assertEquals(lost.has(Ingress, ingress("u-1"), service("u-1")), true);
  assertEquals(lost.has(Ingress, ingress("u-1", "other"), service("u-1")), false);
  assertEquals(lost.has(Ingress, ingress("u-1"), service("u-2")), false, "another Service of that name had no child");
  lost.forget(Ingress, ingress("u-1"), service("u-1"));
  assertEquals(lost.has(Ingress, ingress("u-1"), service("u-1")), false);
});

test("a child that goes after its owner, or that nobody controls, is not remembered", () => {
  for (const cached of [undefined, service("u-2")]) {
    const lost = lostWith(cached);
    lost.note(Ingress, ingress("u-1"));
    assertEquals(lost.has(Ingress, ingress("u-1"), service("u-1")), false);
  }
  const lost = lostWith(service("u-1"));
  lost.note(Ingress, { ...ingress("u-1"), metadata: { name: "web", namespace: "shop" } });
  assertEquals(lost.has(Ingress, ingress("u-1"), service("u-1")), false);
});

test("of very many lost children the first ones are forgotten", () => {
  const lost = lostWith(service("u-1"));
  for (let count = 0; count <= 50_000; count++) lost.note(Ingress, ingress("u-1", `i${count}`));
  const has = (name: string) => lost.has(Ingress, ingress("u-1", name), service("u-1"));
  assertEquals([has("i0"), has("i1"), has("i50000")], [false, true, true]);
});
