import { assertEquals, test } from "../../tests/testing.ts";
import { difference, gapsOf, holds } from "./_same.ts";

interface HoldsCase {
  readonly name: string;
  readonly live: unknown;
  readonly wanted: unknown;
  readonly expected: boolean;
}

const holdsCases: readonly HoldsCase[] = [
  { name: "equal scalars", live: 1, wanted: 1, expected: true },
  { name: "different scalars", live: 1, wanted: 2, expected: false },
  { name: "a number is not its text", live: "1", wanted: 1, expected: false },
  { name: "what the server added does not count", live: { a: 1, b: 2 }, wanted: { a: 1 }, expected: true },
  { name: "a missing field counts", live: { b: 2 }, wanted: { a: 1 }, expected: false },
  { name: "undefined wants nothing", live: { b: 2 }, wanted: { a: undefined }, expected: true },
  {
    name: "an empty object that is missing counts (emptyDir: {} is not nothing)",
    live: {},
    wanted: { a: { b: undefined } },
    expected: false,
  },
  { name: "an empty wanted list is not a full one", live: [1], wanted: [], expected: false },
  { name: "an empty list that the server left out", live: {}, wanted: { a: [] }, expected: true },
  { name: "lists compare in order", live: [1, 2], wanted: [2, 1], expected: false },
  { name: "defaults inside list elements", live: [{ a: 1, d: 0 }], wanted: [{ a: 1 }], expected: true },
  { name: "a longer live list", live: [{ a: 1 }, { a: 2 }], wanted: [{ a: 1 }], expected: false },
  { name: "an object is not a list", live: [1], wanted: { 0: 1 }, expected: false },
  { name: "null is a value", live: { a: null }, wanted: { a: null }, expected: true },
  { name: "null wants a field gone, as in a merge patch", live: { b: 2 }, wanted: { a: null }, expected: true },
  { name: "a field that shall go and is there", live: { a: { b: 2 } }, wanted: { a: { b: null } }, expected: false },
  { name: "names on Object.prototype are not held", live: {}, wanted: { constructor: "x" }, expected: false },
];

for (const { name, live, wanted, expected } of holdsCases) {
  test(`holds(): ${name}`, () => assertEquals(holds(live, wanted), expected));
}

test("difference() names the first field that is not as wanted", () => {
  const live = { spec: { replicas: 1, containers: [{ name: "a", image: "x" }] } };
  assertEquals(difference(live, { spec: { replicas: 2 } }), "spec.replicas");
  assertEquals(difference(live, { spec: { containers: [{ name: "a", image: "y" }] } }), "spec.containers[0].image");
  assertEquals(difference(live, { spec: { containers: [] } }), "spec.containers");
  assertEquals(difference(live, { status: { ready: true } }), "status");
  assertEquals(difference(live, live), undefined);
});

test("gapsOf() names all fields that are not as wanted, lists as wholes", () => {
  const live = { spec: { replicas: 1, cpu: "1", containers: [{ name: "a", image: "x" }] } };
  assertEquals(gapsOf(live, { spec: { replicas: 1, cpu: "1000m", containers: [{ image: "y" }], paused: true } }), [
    { field: "spec.cpu", live: "1", wanted: "1000m" },
    { field: "spec.containers", live: [{ name: "a", image: "x" }], wanted: [{ image: "y" }] },
    { field: "spec.paused", live: undefined, wanted: true },
  ]);
  assertEquals(gapsOf(live, { spec: { replicas: 1, tolerations: [], missing: undefined } }), []);
  assertEquals(gapsOf(live, live), []);
});
