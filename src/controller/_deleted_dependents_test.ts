import { assertEquals, test } from "../../tests/testing.ts";
import { builtin, type KubeObject, type ObjectKey } from "../api/mod.ts";
import { DeletedDependents } from "./_deleted_dependents.ts";

const { Service, Ingress } = builtin;

function service(uid: string): KubeObject {
  return { apiVersion: "v1", kind: "Service", metadata: { name: "web", namespace: "shop", uid } };
}

function ingress(ownerUid: string, name = "web"): KubeObject {
  const owner = { apiVersion: "v1", kind: "Service", name: "web", uid: ownerUid, controller: true };
  const metadata = { name, namespace: "shop", ownerReferences: [owner] };
  return { apiVersion: "networking.k8s.io/v1", kind: "Ingress", metadata };
}

/** The owner's cache has this one Service, or none. */
function deletedDependents(cached: KubeObject | undefined): DeletedDependents {
  return new DeletedDependents(Service, (key: ObjectKey) => key === "shop/web" ? cached : undefined);
}

test("a dependent deleted while the cache has its owner is known until it exists again", () => {
  const deleted = deletedDependents(service("u-1"));
  deleted.record(Ingress, ingress("u-1"));
  assertEquals(deleted.has(Ingress, ingress("u-1"), service("u-1")), true);
  assertEquals(deleted.has(Ingress, ingress("u-1", "other"), service("u-1")), false);
  assertEquals(deleted.has(Ingress, ingress("u-1"), service("u-2")), false, "another Service with the same name");
  deleted.forget(Ingress, ingress("u-1"), service("u-1"));
  assertEquals(deleted.has(Ingress, ingress("u-1"), service("u-1")), false);
});

test("a dependent deleted after its owner, or without a controller, is not recorded", () => {
  for (const cached of [undefined, service("u-2")]) {
    const deleted = deletedDependents(cached);
    deleted.record(Ingress, ingress("u-1"));
    assertEquals(deleted.has(Ingress, ingress("u-1"), service("u-1")), false);
  }
  const deleted = deletedDependents(service("u-1"));
  deleted.record(Ingress, { ...ingress("u-1"), metadata: { name: "web", namespace: "shop" } });
  assertEquals(deleted.has(Ingress, ingress("u-1"), service("u-1")), false);
});

test("at most 50,000 deleted dependents are recorded, and the first ones are forgotten first", () => {
  const deleted = deletedDependents(service("u-1"));
  for (let count = 0; count <= 50_000; count++) deleted.record(Ingress, ingress("u-1", `i${count}`));
  const has = (name: string) => deleted.has(Ingress, ingress("u-1", name), service("u-1"));
  assertEquals([has("i0"), has("i1"), has("i50000")], [false, true, true]);
});
