import { assertEquals, test } from "../../tests/testing.ts";
import { compareCrds, type Crd, defineResource, type OtherVersionOptions, z } from "./mod.ts";

interface Variation {
  readonly scope?: "Namespaced" | "Cluster";
  readonly plural?: string;
  readonly size?: z.ZodType;
  readonly status?: z.ZodType;
  readonly versions?: readonly OtherVersionOptions[];
}

function crd(variation: Variation = {}): Crd {
  const { scope = "Cluster", size = z.int32(), ...rest } = variation;
  const spec = z.object({ size });
  return defineResource({ group: "example.dev", version: "v2", kind: "Disk", scope, spec, ...rest }).crd;
}

const v1: OtherVersionOptions = { name: "v1", spec: z.object({}) };

function messages(old: Crd, next: Crd, storedVersions?: readonly string[]): readonly string[] {
  return compareCrds(old, next, { storedVersions }).map(({ kind, message }) => `${kind}: ${message}`);
}

test("compareCrds() finds nothing between a CRD and itself", () => {
  assertEquals(messages(crd({ versions: [v1] }), crd({ versions: [v1] })), []);
});

test("compareCrds() reports another scope or plural as another kind", () => {
  assertEquals(messages(crd(), crd({ scope: "Namespaced", plural: "diskettes" })), [
    "identity: the scope changes from Cluster to Namespaced",
    "identity: the plural changes from disks to diskettes",
  ]);
});

test("compareCrds() reports a version that is gone, and whether objects may lie in it", () => {
  const old = crd({ versions: [v1] });
  assertEquals(messages(old, crd()), ["version: version v1 is removed: clients may use it"]);
  assertEquals(messages(old, crd(), ["v1", "v2"]), ["version: version v1 is removed: objects may be stored in it"]);
});

test("compareCrds() is silent about a version that was neither served nor stored", () => {
  assertEquals(messages(crd({ versions: [{ ...v1, served: false }] }), crd()), []);
  assertEquals(messages(crd({ versions: [{ ...v1, served: false }] }), crd(), ["v1"]), [
    "version: version v1 is removed: objects may be stored in it",
  ]);
});

test("compareCrds() reports a version that is no longer served, and a lost status", () => {
  const old = crd({ versions: [{ ...v1, status: z.object({}) }] });
  assertEquals(messages(old, crd({ versions: [{ ...v1, served: false }] })), [
    "version: version v1 is no longer served: clients may use it",
    "version: version v1 loses its status subresource",
    "removed: v1: status is removed: stored values would be lost",
  ]);
});

test("compareCrds() names the version in which a schema breaks", () => {
  assertEquals(messages(crd(), crd({ size: z.int32().max(3) })), ["narrowed: v2: spec.size has the new maximum 3"]);
});

test("compareCrds() is silent about a new version", () => {
  assertEquals(messages(crd(), crd({ versions: [v1] })), []);
});
