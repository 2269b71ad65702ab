/** Tests in which form fields are compared. */
import type { KubeObject } from "../api/mod.ts";
import { assert, assertEquals, test } from "../../tests/testing.ts";
import { CanonicalNames, learnNames } from "./_canonical_names.ts";
import { differingKeys, fieldsOf } from "./summary.ts";

const collection = "things.example.dev";
const uid = (digit: number) => `00000000-0000-4000-8000-00000000000${digit}`;

function thing(name: string, rest: Readonly<Record<string, unknown>>, metadata = {}): KubeObject {
  return {
    apiVersion: "example.dev/v1",
    kind: "Thing",
    metadata: { name, namespace: "default", ...metadata },
    ...rest,
  };
}

function fields(...objects: readonly KubeObject[]): ReadonlyMap<string, string> {
  return fieldsOf(objects.map((object) => ({ collection, object })));
}

const equal: readonly (readonly [what: string, one: object, other: object])[] = [
  ["times", { at: "2026-01-01T00:00:01Z" }, { at: "2026-01-01T00:02:03.5Z" }],
  ["times in texts", { text: "since 2026-01-01T00:00:01Z" }, { text: "since 2026-01-01T00:00:09Z" }],
  ["times as numbers", { at: 1767225600000, s: 1767225600 }, { at: 1767225609000, s: 1767225609 }],
  ["resource versions", { resourceVersion: "12" }, { resourceVersion: "345" }],
  ["generations", { lastGeneration: 2 }, { lastGeneration: 5 }],
  ["lists with map keys", { items: [{ name: "a", v: 1 }, { name: "b" }] }, {
    items: [{ name: "b" }, { name: "a", v: 1 }],
  }],
  ["unknown UIDs", { text: `pod/${uid(1)}` }, { text: `pod/${uid(2)}` }],
];

for (const [what, one, other] of equal) {
  test(`${what} are no difference`, () => {
    assertEquals(differingKeys(fields(thing("a", { spec: one })), fields(thing("a", { spec: other }))), []);
  });
}

test("the order of a status' scalars is no difference, that of a spec's scalars is one", () => {
  const [one, other] = [{ names: ["a", "b"] }, { names: ["b", "a"] }];
  assertEquals(differingKeys(fields(thing("a", { status: one })), fields(thing("a", { status: other }))), []);
  assertEquals(differingKeys(fields(thing("a", { spec: one })), fields(thing("a", { spec: other }))).length, 2);
});

test("values, missing items and other names are differences", () => {
  const base = fields(thing("a", { spec: { items: [{ name: "x", v: 1 }] } }));
  for (const items of [[{ name: "x", v: 2 }], [], [{ name: "y", v: 1 }]]) {
    assert(differingKeys(base, fields(thing("a", { spec: { items } }))).length > 0);
  }
});

test("a UID inside of a text stands for the object that has it", () => {
  const of = (first: number, second: number, told: number) =>
    fields(
      thing("a", {}, { uid: uid(first) }),
      thing("b", {}, { uid: uid(second) }),
      thing("c", { status: { owner: `Thing/${uid(told)}` } }),
    );
  assertEquals(differingKeys(of(1, 2, 1), of(3, 4, 3)), []);
  assertEquals(differingKeys(of(1, 2, 1), of(3, 4, 4)), [`${collection} default/c .status.owner`]);
});

test("objects with generated names are compared by role and content", () => {
  const job = (name: string, v: number) => thing(name, { spec: { v } }, { generateName: "job-" });
  const told = (name: string) => thing("told", { status: { job: name, text: `started ${name}` } });
  const one = fields(job("job-x7k2p", 1), job("job-abcde", 2), told("job-x7k2p"));
  assertEquals(differingKeys(one, fields(job("job-zzzzz", 2), job("job-yyyyy", 1), told("job-yyyyy"))), []);
  assert(differingKeys(one, fields(job("job-zzzzz", 1), told("job-zzzzz"))).length > 0);
  assert(differingKeys(one, fields(job("job-zzzzz", 1), job("job-yyyyy", 3), told("job-zzzzz"))).length > 0);
});

test("names that differ between runs without faults are generated, others are not", () => {
  const run = (suffix: string) => [thing("a", {}), thing(`a-${suffix}`, {})].map((object) => ({ collection, object }));
  const learned = learnNames([run("x7k2p"), run("abcde")]);
  assertEquals([...learned.stable], [`${collection} default/a`]);
  const names = new CanonicalNames([], run("qqqqq"), learned);
  assertEquals(run("qqqqq").map((one) => names.nameOf(one)), [`${collection} default/a`, `${collection} default/a-*`]);
});

test("init containers are compared with their order, containers without", () => {
  const pods = (list: string, ...names: readonly string[]) =>
    fields(thing("a", { spec: { [list]: names.map((name) => ({ name })) } }));
  assertEquals(differingKeys(pods("containers", "a", "b"), pods("containers", "b", "a")), []);
  assertEquals(differingKeys(pods("initContainers", "a", "b"), pods("initContainers", "b", "a")), [
    `${collection} default/a .spec.initContainers[order].name`,
  ]);
});
