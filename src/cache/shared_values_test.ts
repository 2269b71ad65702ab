/** Tests of SharedValues alone. */
import { assert, assertEquals, test } from "../../tests/testing.ts";
import type { KubeObject } from "../api/mod.ts";
import { SharedValues } from "./shared_values.ts";

const owner = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web", uid: "u-1", controller: true };

/** A new object, as a parser makes one. */
function parsed(name: string, metadata: Partial<KubeObject["metadata"]>): KubeObject {
  return structuredClone({ apiVersion: "v1", kind: "Pod", metadata: { name, ...metadata } });
}

test("equal labels, annotations and owner references of two objects become one frozen value each", () => {
  const values = new SharedValues();
  const metadata = { labels: { app: "web", tier: "" }, annotations: { note: "x" }, ownerReferences: [owner] };
  const [first, second] = [values.share(parsed("a", metadata)), values.share(parsed("b", metadata))];
  assert(first.metadata.labels === second.metadata.labels);
  assert(first.metadata.annotations === second.metadata.annotations);
  assert(first.metadata.ownerReferences === second.metadata.ownerReferences);
  assertEquals(second, parsed("b", metadata));
  assertEquals(
    [second.metadata.labels, second.metadata.ownerReferences, second.metadata.ownerReferences?.[0]].map(
      Object.isFrozen,
    ),
    [true, true, true],
  );
});

test("values that differ, also in what the hash does not read, stay as they are", () => {
  const values = new SharedValues();
  const middle = (letter: string) => ({ note: `${"a".repeat(40)}${letter}${"b".repeat(40)}` });
  const cases: readonly (readonly [Record<string, string>, Record<string, string>])[] = [
    [{ app: "web" }, { app: "wed" }],
    [{ app: "web" }, { app: "web", tier: "x" }],
    [{ app: "web", tier: "x" }, { app: "web" }],
    [{ app: "web" }, { apq: "web" }],
    [middle("x"), middle("y")],
    [{ constructor: "x" }, { toString: "x" }],
  ];
  for (const [left, right] of cases) {
    values.share(parsed("a", { labels: left }));
    assertEquals(values.share(parsed("b", { labels: right })).metadata.labels, right);
  }
});

test("large maps, and lists with other items than flat maps, are not shared and not frozen", () => {
  const values = new SharedValues();
  const odd = [{ ...owner, nested: { a: "b" } }];
  const large = { annotations: { text: "x".repeat(2_000) }, ownerReferences: odd };
  const [first, second] = [values.share(parsed("a", large)), values.share(parsed("b", large))];
  assert(first.metadata.annotations !== second.metadata.annotations);
  assert(first.metadata.ownerReferences !== second.metadata.ownerReferences);
  assertEquals(Object.isFrozen(second.metadata.annotations), false);
});

test("a frozen object, and an object whose metadata is frozen, stay as they are", () => {
  const values = new SharedValues();
  values.share(parsed("a", { labels: { app: "web" } }));
  const frozen = Object.freeze(parsed("b", { labels: { app: "web" } }));
  const labels = { app: "web" };
  const object = { ...frozen, metadata: Object.freeze({ name: "c", labels }) };
  assert(values.share(frozen) === frozen);
  assert(values.share(object).metadata.labels === labels);
});

test("the table forgets its oldest value when it is full", () => {
  const values = new SharedValues();
  const first = values.share(parsed("a", { labels: { number: "0" } }));
  for (let number = 1; number <= 20_000; number++) {
    values.share(parsed(`p-${number}`, { labels: { number: String(number) } }));
  }
  const again = values.share(parsed("b", { labels: { number: "0" } }));
  const latest = values.share(parsed("c", { labels: { number: "0" } }));
  assert(again.metadata.labels !== first.metadata.labels);
  assert(latest.metadata.labels === again.metadata.labels);
});
