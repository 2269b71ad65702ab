/** Tests of SharedValues alone. */
import fc from "fast-check";
import { assert, assertEquals, assertThrows, test } from "../../tests/testing.ts";
import type { KubeObject } from "../api/mod.ts";
import { SharedValues } from "./shared_values.ts";

const owner = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web", uid: "u-1", controller: true };
const container = { name: "web", image: "web:1", resources: {}, ports: [{ containerPort: 80 }] };

interface Content extends KubeObject {
  readonly spec?: unknown;
  readonly status?: unknown;
}

/** A new object, as a parser makes one. */
function parsed(name: string, metadata: Partial<KubeObject["metadata"]>, content: object = {}): Content {
  return JSON.parse(JSON.stringify({ apiVersion: "v1", kind: "Pod", metadata: { name, ...metadata }, ...content }));
}

test("equal labels, annotations and owner references of two objects become one frozen value each", () => {
  const values = new SharedValues(0);
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

test("equal parts of the content become one value, frozen at all depths, also inside of what differs", () => {
  const values = new SharedValues(0);
  const content = (name: string, image: string) => ({
    spec: { name, template: { spec: { containers: [container, { ...container, image }], hostNetwork: false } } },
    status: { conditions: [{ type: "Ready", status: "True" }] },
  });
  type Spec = { readonly template: { readonly spec: { readonly containers: { image: string }[] } } };
  const specOf = ({ spec }: Content) => (spec as Spec).template.spec;
  const [first, second, third] = [["a", "x"], ["b", "x"], ["c", "y"]].map(([name = "", image = ""]) =>
    values.share(parsed(name, {}, content(name, image)))
  );
  assert(first !== undefined && second !== undefined && third !== undefined);
  assert(first.spec !== second.spec && specOf(first) === specOf(second) && first.status === second.status);
  assert(specOf(third) !== specOf(first) && specOf(third).containers[0] === specOf(first).containers[0]);
  assertEquals(third, parsed("c", {}, content("c", "y")));
  assertThrows(() => specOf(second).containers.pop(), /./);
  assertThrows(() => void Object.assign(specOf(second).containers[1] ?? {}, { image: "z" }), /./);
});

test("the first objects of a cache stay as they are", () => {
  const values = new SharedValues(2);
  const labels = Array.from({ length: 4 }, () => values.share(parsed("a", { labels: { app: "web" } })).metadata.labels);
  assertEquals(labels.map((own) => own === labels[2]), [false, false, true, true]);
});

test("values that differ, also in what the hash does not read, stay as they are", () => {
  const middle = (letter: string) => ({ note: `${"a".repeat(40)}${letter}${"b".repeat(40)}` });
  const cases: readonly (readonly [unknown, unknown])[] = [
    [{ app: "web" }, { app: "wed" }],
    [{ app: "web" }, { app: "web", tier: "x" }],
    [{ app: "web", tier: "x" }, { app: "web" }],
    [{ app: "web" }, { apq: "web" }],
    [middle("x"), middle("y")],
    [{ constructor: "x" }, { toString: "x" }],
    [{ inner: {} }, { inner: [] }],
    [{ inner: null }, { inner: {} }],
    [[1, 2], [2, 1]],
    [{ number: 1 }, { number: 1.5 }],
    [{ number: 1 }, { number: "1" }],
    [{ number: 0 }, JSON.parse(`{"number":-0}`)],
    [{ a: { x: 1 }, b: {} }, { a: {}, b: { x: 1 } }],
    [{ abcdefghi: {} }, JSON.parse(`{"__proto__":{}}`)],
    [JSON.parse(`{"__proto__":{}}`), { abcdefghi: {} }],
    [{ abcdefghi: {}, x: 1 }, JSON.parse(`{"__proto__":{},"x":1}`)],
  ];
  for (const [left, right] of cases) {
    const values = new SharedValues(0);
    for (let time = 0; time < 2; time++) values.share({ ...parsed("a", {}), spec: structuredClone(left) });
    const object: Content = values.share({ ...parsed("b", {}), spec: right });
    assert(object.spec === right, JSON.stringify([left, right]));
  }
});

test("2,000 random objects are what they were, in one cache", () => {
  const values = new SharedValues(0);
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      fc.constantFrom(null, true, 0, -0, 1.5, "a", "b", "x".repeat(30), `${"x".repeat(14)}y${"x".repeat(15)}`),
      fc.array(tie("tree"), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom("a", "b", "metadata", "__proto__", "constructor"), tie("tree"), { maxKeys: 3 }),
    ),
  }));
  const objects = fc.record({
    metadata: fc.record({ name: fc.constant("a"), labels: tree }),
    spec: tree,
    status: tree,
  });
  fc.assert(
    fc.property(objects, (object) => {
      const text = JSON.stringify(object);
      // deno-lint-ignore no-explicit-any -- metadata of any shape
      assertEquals(JSON.parse(JSON.stringify(values.share(JSON.parse(text) as any))), JSON.parse(text));
    }),
    { numRuns: 2_000 },
  );
});

test("large values, and what holds instances of classes, are not shared and not frozen", () => {
  const values = new SharedValues(0);
  class Duration {
    readonly seconds = 1;
  }
  const content = () => ({
    data: { text: "x".repeat(5_000) },
    list: Array.from({ length: 300 }, (_, index) => index),
    spec: { duration: new Duration(), small: { a: 1 } },
  });
  const share = () => values.share({ ...parsed("a", {}), ...content() });
  const [first, second] = [share(), share()];
  assert(first.data !== second.data && first.list !== second.list && first.spec !== second.spec);
  assert(first.spec.small === second.spec.small && second.spec.duration instanceof Duration);
  assertEquals([second.data, second.list, second.spec, second.spec.duration].some(Object.isFrozen), false);
});

test("a frozen object, and an object whose metadata is frozen, stay as they are", () => {
  const values = new SharedValues(0);
  values.share(parsed("a", { labels: { app: "web" } }));
  const frozen = Object.freeze(parsed("b", { labels: { app: "web" } }));
  const labels = { app: "web" };
  const object = { ...frozen, metadata: Object.freeze({ name: "c", labels }) };
  assert(values.share(frozen) === frozen);
  assert(values.share(object).metadata.labels === labels);
});

test("a value that nothing is equal to is not frozen, and a value that somebody has changed is not shared", () => {
  const values = new SharedValues(0);
  const first = values.share(parsed("a", {}, { spec: { replicas: 1 } }));
  assertEquals(Object.isFrozen(first.spec), false);
  Object.assign(first.spec ?? {}, { replicas: 2 });
  const second = values.share(parsed("b", {}, { spec: { replicas: 1 } }));
  const third = values.share(parsed("c", {}, { spec: { replicas: 1 } }));
  assertEquals([first.spec, second.spec], [{ replicas: 2 }, { replicas: 1 }]);
  assert(third.spec === second.spec);
});

test("places where values are rarely equal are left alone, and what is equal inside of them is still shared", () => {
  const values = new SharedValues(0);
  const make = (number: number) => {
    const spec = { number, id: { of: number }, pods: { restartPolicy: "Always", number: number % 3 } };
    return values.share(parsed(`p-${number}`, {}, { spec }));
  };
  const objects = Array.from({ length: 5_000 }, (_, number) => make(number));
  const pods = objects.map(({ spec }) => (spec as { pods: unknown }).pods);
  assertEquals(new Set(pods).size, 3);
  const [last, again] = [make(4_999), make(4_999)];
  assert(last.spec !== again.spec, "a whole spec is not compared any more");
  assertEquals(last, parsed("p-4999", {}, { spec: last.spec }));
});

test("a map whose names differ in all objects is left alone, and takes no place from others", () => {
  const values = new SharedValues(0);
  const make = (number: number) => {
    const owned = { "f:owners": { [`k:{"uid":"u-${number}"}`]: { ".": {} } }, "f:labels": { "f:app": {} } };
    const spec = Object.fromEntries(["a", "b"].map((name) => [name + Math.floor(number / 3_000), { inner: { x: 1 } }]));
    return values.share(parsed(`p-${number}`, {}, { owned, spec }));
  };
  const objects = Array.from({ length: 6_000 }, (_, number) => make(number));
  assertEquals(
    objects[5_999],
    parsed("p-5999", {}, { owned: (objects[5_999] as Content & { owned: unknown }).owned, spec: objects[5_999]?.spec }),
  );
  const innerOf = ({ spec }: Content) => (spec as Record<string, { inner: unknown }>)["a1"]?.inner;
  const labelsOf = (object: Content) => (object as Content & { owned: Record<string, unknown> }).owned["f:labels"];
  assertEquals(new Set(objects.slice(3_000).map(innerOf)).size, 1, "a name that comes late has a place");
  assertEquals(new Set(objects.map(labelsOf)).size, 1);
});

test("values are compared again after a pause, when they have become equal", () => {
  const values = new SharedValues(0);
  const make = (number: number) => values.share(parsed(`p-${number}`, {}, { spec: { number } }));
  for (let number = 0; number < 2_000; number++) make(number);
  const alike = Array.from({ length: 60_000 }, () => make(-1));
  assert(alike.at(-1)?.spec === alike.at(-2)?.spec);
});

test("values that nothing was equal to for long are forgotten, and those in use are not", () => {
  const values = new SharedValues(0);
  const share = (number: string) => values.share(parsed("a", { labels: { number } })).metadata.labels;
  const [rare, usual] = [share("rare"), share("usual")];
  assert(share("rare") === rare);
  for (let number = 1; number <= 20_000; number++) {
    share(String(number));
    assert(share("usual") === usual);
  }
  assert(share("rare") !== rare);
});
