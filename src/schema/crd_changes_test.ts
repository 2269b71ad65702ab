import { assertEquals, test } from "../../tests/testing.ts";
import { type ComparedCrd, crdChanges, defineResource, type OtherVersionOptions, z } from "./mod.ts";

interface Variation {
  readonly size?: z.ZodType;
  readonly versions?: readonly OtherVersionOptions[];
  readonly labels?: Readonly<Record<string, string>>;
}

function disk({ size = z.int32(), ...rest }: Variation = {}): ComparedCrd {
  const spec = z.object({ size });
  return defineResource({ group: "example.dev", version: "v1", kind: "Disk", scope: "Cluster", spec, ...rest }).crd;
}

const at = "spec.versions[v1].schema.openAPIV3Schema.properties.spec.properties.size";

test("crdChanges() reports nothing between a definition and its stored form", () => {
  const { spec } = disk();
  const stored = {
    metadata: { labels: {}, annotations: {}, uid: "u", resourceVersion: "7", generation: 3, managedFields: [] },
    spec: { ...spec, conversion: { strategy: "None" as const }, preserveUnknownFields: false },
    status: { storedVersions: ["v1"] },
  };
  assertEquals(crdChanges(stored, disk()), []);
});

test("crdChanges() reports the field that is changed, added or removed", () => {
  assertEquals(crdChanges(disk(), disk({ size: z.int32().max(9) })), [{ path: `${at}.maximum`, after: 9 }]);
  assertEquals(crdChanges(disk({ size: z.int32().max(9) }), disk({ size: z.int32().max(8) })), [
    { path: `${at}.maximum`, before: 9, after: 8 },
  ]);
  assertEquals(crdChanges(disk({ size: z.enum(["a", "b"]) }), disk({ size: z.enum(["a"]) })), [
    { path: `${at}.enum`, before: ["a", "b"], after: ["a"] },
  ]);
});

test("crdChanges() matches versions by name, regardless of their order", () => {
  const old: OtherVersionOptions = { name: "v1alpha1", spec: z.object({}), served: false };
  const [first, ...others] = crdChanges(disk(), disk({ versions: [old] }));
  assertEquals(first, { path: "spec.versions[v1alpha1].name", after: "v1alpha1" });
  assertEquals(others.every(({ path }) => path.startsWith("spec.versions[v1alpha1].")), true);
  const both = disk({ versions: [old] });
  const turned = { ...both, spec: { ...both.spec, versions: both.spec.versions.toReversed() } };
  assertEquals(crdChanges(both, turned), []);
});

test("crdChanges() without an old definition reports every field of the new one", () => {
  const paths = crdChanges(undefined, disk({ labels: { "a.dev/b": "c" } })).map(({ path }) => path);
  assertEquals(paths.includes('metadata.labels["a.dev/b"]'), true);
  assertEquals(paths.includes("spec.scope"), true);
  assertEquals(crdChanges(undefined, disk()).some((change) => "before" in change), false);
});

test("crdChanges() handles keys named like properties of Object.prototype", () => {
  const proto = { metadata: { annotations: JSON.parse('{"__proto__":"x","constructor":"y"}') }, spec: disk().spec };
  assertEquals(crdChanges(disk(), proto).map(({ path, after }) => `${path}=${after}`), [
    "metadata.annotations.__proto__=x",
    "metadata.annotations.constructor=y",
  ]);
});
