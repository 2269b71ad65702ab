/** Tests of the decoding of metadata. */
import { assertEquals, assertThrows, test } from "../../../tests/testing.ts";
import type { Draft } from "../model/mod.ts";
import { decodeObjectMeta } from "./object_meta.ts";

const path = "ObjectMeta";

const wrong: readonly (readonly [Draft, RegExp])[] = [
  [{ creationTimestamp: "x" }, /^parsing time "x" as/],
  [{ deletionTimestamp: "" }, /^parsing time "" as/],
  [{ generation: 1e30 }, /cannot unmarshal number 1e\+30 into Go struct field ObjectMeta.generation of type int64$/],
  [{ ownerReferences: [1] }, /number into Go struct field ObjectMeta.ownerReferences of type v1.OwnerReference$/],
  [{ managedFields: [{ time: "x" }] }, /^parsing time "x" as/],
  [{ managedFields: {} }, /of type \[\]v1.ManagedFieldsEntry$/],
];

for (const [metadata, message] of wrong) {
  test(`decodeObjectMeta() rejects ${JSON.stringify(metadata)}`, () => {
    assertThrows(() => decodeObjectMeta(structuredClone(metadata), { path }), message);
  });
}

test("decodeObjectMeta() returns the unknown fields of lists, and drops them", () => {
  const metadata: Draft = {
    managedFields: [{ operation: "Apply", more: 1 }],
    ownerReferences: [null, { name: "a", more: 1 }],
    other: 1,
  };
  const unknown = decodeObjectMeta(metadata, { path });
  assertEquals(unknown, ["managedFields[0].more", "ownerReferences[1].more", "other"]);
  assertEquals(metadata, {
    managedFields: [{ operation: "Apply" }],
    ownerReferences: [{ apiVersion: "", kind: "", name: "", uid: "" }, { name: "a" }],
  });
});

test("decodeObjectMeta() drops malformed fields of the server on request", () => {
  const metadata: Draft = { creationTimestamp: "x", generation: 1.5, name: "a" };
  decodeObjectMeta(metadata, { path, dropsMalformed: true });
  assertEquals(metadata, { name: "a" });
});
