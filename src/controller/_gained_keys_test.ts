import { assertEquals, test } from "../../tests/testing.ts";
import { builtin, type KubeObject, type ObjectKey, type ResourceVersion } from "../api/mod.ts";
import { findGainedKeys, type GainedKeysOptions } from "./_gained_keys.ts";
import { controller } from "./builder.ts";
import { done } from "./request.ts";

const { ConfigMap, Secret } = builtin;

interface Described {
  readonly deletionTimestamp?: string;
  readonly generation?: number;
  readonly observedGeneration?: number;
}

function map(name: string, { observedGeneration, ...metadata }: Described = {}): KubeObject {
  const known = { name, namespace: "x", uid: name, resourceVersion: "1" as ResourceVersion };
  const status = observedGeneration === undefined ? {} : { status: { observedGeneration } };
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { ...known, ...metadata }, ...status };
}

function secretOf(name: string): KubeObject {
  const owner = { apiVersion: "v1", kind: "ConfigMap", name, uid: name, controller: true };
  const metadata = { name, namespace: "x", uid: `secret-${name}`, resourceVersion: "1" as ResourceVersion };
  return { apiVersion: "v1", kind: "Secret", metadata: { ...metadata, ownerReferences: [owner] } };
}

/** Caches that have these objects, whatever is asked of them. */
function cachesOf(maps: readonly KubeObject[], secrets: readonly KubeObject[]): GainedKeysOptions["caches"] {
  const informer = (objects: readonly KubeObject[]) => ({ lister: { list: () => objects } });
  const caches: unknown = {
    findInformer: ({ kind }: { readonly kind: string }) => informer(kind === "Secret" ? secrets : maps),
  };
  return caches as GainedKeysOptions["caches"];
}

const copies = controller("copies").for(ConfigMap).owns(Secret).reconcile(() => Promise.resolve(done));

test("gained keys whose objects need work come first, and each key has all its reasons", () => {
  const maps = [
    map("settled", { generation: 2, observedGeneration: 2 }),
    map("deleted", { deletionTimestamp: "2026-01-01T00:00:00Z" }),
    map("unknown"),
    map("unseen", { generation: 2, observedGeneration: 1 }),
    map("bare"),
  ];
  const secrets = ["settled", "deleted", "unknown", "unseen"].map(secretOf);
  const options = { definition: copies, caches: cachesOf(maps, secrets), namespace: undefined };
  const found = findGainedKeys({ ...options, isGained: () => true, isAccepted: () => true });
  assertEquals(found.map(({ key, isUrgent, reasons }) => [key, isUrgent, reasons.length]), [
    ["x/deleted", true, 2],
    ["x/unseen", true, 2],
    ["x/bare", true, 1],
    ["x/settled", false, 2],
    ["x/unknown", false, 2],
  ]);
});

test("a key that was not gained, or whose objects no watch accepts, is not enqueued", () => {
  const caches = cachesOf([map("a"), map("b")], [secretOf("a"), secretOf("b")]);
  const options = { definition: copies, caches, namespace: undefined };
  const isGained = (key: ObjectKey) => key === "x/b";
  const found = findGainedKeys({ ...options, isGained, isAccepted: ({ role }) => role === "owns" });
  assertEquals(found.map(({ key, isUrgent, reasons }) => [key, isUrgent, reasons.length]), [["x/b", false, 1]]);
  assertEquals(findGainedKeys({ ...options, isGained, isAccepted: () => false }), []);
});
