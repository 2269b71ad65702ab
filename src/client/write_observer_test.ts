/** Tests of what a WriteObserver learns from each response and each failure. */
import { assertEquals, assertRejects, test } from "../../tests/testing.ts";
import { builtin, type KubeObject } from "../api/mod.ts";
import type { Client } from "./client.ts";
import { configMap, status, testClient } from "./testing/test_client.ts";
import { UnreachableError } from "./unreachable_error.ts";
import { fieldsOf, isRemoved } from "./write_observer.ts";

const { ConfigMap, Deployment } = builtin;

/** A client of a server that responds like this, and what its observer was told. */
function observed(respond: () => Response): { readonly client: Client; readonly told: string[] } {
  const told: string[] = [];
  const client = testClient(respond).client.withWriteObserver({
    onStored: (resource, object) => void told.push(`stored ${resource.kind} ${object.metadata.name}`),
    onRemoved: (resource, key, uid) => void told.push(`removed ${resource.kind} ${key} ${uid}`),
    onUnknown: (resource, key) => {
      told.push(`unknown ${resource.kind} ${key}`);
      return Promise.resolve();
    },
  });
  return { client, told };
}

const change = { kind: "merge", value: { data: { key: "x" } } } as const;

test("each verb that stores an object reports it, also the status, and reads report nothing", async () => {
  const { client, told } = observed(() => Response.json(configMap()));
  const object = await client.get(ConfigMap, "ns/a");
  await client.create(ConfigMap, object);
  await client.update(ConfigMap, object);
  await client.patch(ConfigMap, "ns/a", change);
  await client.patch(ConfigMap, "ns/a", change, { subresource: "status" });
  await client.apply(ConfigMap, { metadata: { namespace: "ns", name: "a" } }, { fieldManager: "m" });
  assertEquals(told, Array.from({ length: 5 }, () => "stored ConfigMap a"));
});

test("dry runs report nothing, of the client or of one write", async () => {
  const { client, told } = observed(() => Response.json(configMap()));
  await client.patch(ConfigMap, "ns/a", change, { dryRun: true });
  await client.delete(ConfigMap, "ns/a", { dryRun: true });
  await client.dryRunClient().patch(ConfigMap, "ns/a", change);
  assertEquals(told, []);
});

test("a deletion reports the UID of the response, or of the precondition; an object that stays is stored", async () => {
  const done = observed(() => Response.json({ kind: "Status", status: "Success", details: { uid: "u-1" } }));
  await done.client.delete(ConfigMap, "ns/a");
  const bare = observed(() => Response.json({ kind: "Status", status: "Success" }));
  await bare.client.delete(ConfigMap, "ns/a", { preconditions: { uid: "u-2" } });
  await bare.client.delete(ConfigMap, "ns/a");
  const deletionTimestamp = "2026-01-01T00:00:00Z";
  const waiting = { ...configMap(), metadata: { ...configMap().metadata, deletionTimestamp, finalizers: ["x/y"] } };
  const stays = observed(() => Response.json(waiting));
  await stays.client.delete(ConfigMap, "ns/a");
  assertEquals([done.told, bare.told, stays.told], [
    ["removed ConfigMap ns/a u-1"],
    ["removed ConfigMap ns/a u-2"],
    ["stored ConfigMap a"],
  ]);
});

test("a write that removes the last finalizer of a deleted object reports the removal", async () => {
  const metadata = { ...configMap().metadata, uid: "u-1", deletionTimestamp: "2026-01-01T00:00:00Z" };
  const { client, told } = observed(() => Response.json({ ...configMap(), metadata }));
  await client.patch(ConfigMap, "ns/a", change);
  assertEquals(told, ["removed ConfigMap ns/a u-1"]);
});

test("an object is removed when it is being deleted and neither finalizers nor a grace period hold it", () => {
  const of = (metadata: KubeObject["metadata"], spec?: unknown) =>
    isRemoved({ apiVersion: "v1", kind: "Pod", metadata, ...(spec === undefined ? {} : { spec }) } as KubeObject);
  const deletionTimestamp = "2026-01-01T00:00:00Z";
  assertEquals([
    of({}),
    of({ deletionTimestamp, finalizers: ["x"] }),
    of({ deletionTimestamp, deletionGracePeriodSeconds: 30 }),
    of({ deletionTimestamp }, { finalizers: ["kubernetes"] }),
  ], [false, false, false, false]);
  assertEquals([of({ deletionTimestamp }), of({ deletionTimestamp, deletionGracePeriodSeconds: 0 })], [true, true]);
});

test("a write that may have taken effect is reported before its error", async () => {
  const reasons = [
    { kind: "timeout", detail: "noResponse" },
    { kind: "unreachable", detail: "reset" },
    { kind: "unreachable", detail: "refused" },
    { kind: "tls", detail: "expired" },
  ] as const;
  const reported: string[][] = [];
  for (const reason of reasons) {
    const { client, told } = observed(() => {
      throw new UnreachableError({ action: "reach the API server", reason });
    });
    await assertRejects(() => client.patch(ConfigMap, "ns/a", change));
    reported.push(told);
  }
  assertEquals(reported, [["unknown ConfigMap ns/a"], ["unknown ConfigMap ns/a"], [], []]);
});

test("of error responses only those of a failing server leave the outcome unknown", async () => {
  const codes: Record<number, string[]> = {};
  for (const code of [400, 403, 404, 409, 422, 429, 500, 503, 504]) {
    const { client, told } = observed(() => status(code, "Reason"));
    await assertRejects(() => client.patch(ConfigMap, "ns/a", change));
    codes[code] = told;
  }
  const unknown = Object.entries(codes).filter(([, told]) => told.length > 0).map(([code]) => code);
  assertEquals(unknown, ["500", "503", "504"]);
});

test("the response to a write of another subresource does not show the object", async () => {
  const scale = { apiVersion: "autoscaling/v1", kind: "Scale", metadata: { name: "a", namespace: "ns" } };
  const { client, told } = observed(() => Response.json(scale));
  const patch = { kind: "merge", value: { spec: { replicas: 3 } } } as const;
  await client.patch(Deployment, "ns/a", patch, { subresource: "scale" });
  assertEquals(told, ["unknown Deployment ns/a"]);
});

test("the fields of a JSON patch are those at its pointers, and of an item its list", () => {
  const fields = fieldsOf({
    kind: "json",
    operations: [
      { op: "test", path: "/metadata/uid", value: "u" },
      { op: "add", path: "/metadata/finalizers/-", value: "x" },
      { op: "replace", path: "/metadata/labels/a~1b", value: "1" },
      { op: "move", from: "/spec/old", path: "/spec/new" },
      { op: "remove", path: "/spec/items/3/name" },
    ],
  });
  assertEquals(fields, {
    metadata: { finalizers: true, labels: { "a/b": true } },
    spec: { old: true, new: true, items: true },
  });
});
