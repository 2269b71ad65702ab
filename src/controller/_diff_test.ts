import { assertEquals, test } from "../../tests/testing.ts";
import { builtin, type KubeObject, type ManagedFieldsEntry } from "../api/mod.ts";
import { findDifferences, findExtraFields, firstDifference, hasDesiredValues, NormalizationCache } from "./_diff.ts";

interface ComparisonCase {
  readonly name: string;
  readonly live: unknown;
  readonly desired: unknown;
  readonly expected: boolean;
}

const comparisonCases: readonly ComparisonCase[] = [
  { name: "equal scalars", live: 1, desired: 1, expected: true },
  { name: "different scalars", live: 1, desired: 2, expected: false },
  { name: "a number is not its text", live: "1", desired: 1, expected: false },
  { name: "a Date is its text", live: { a: "1970-01-01T00:00:00.000Z" }, desired: { a: new Date(0) }, expected: true },
  { name: "another Date", live: { a: "1970-01-01T00:00:00.000Z" }, desired: { a: new Date(1) }, expected: false },
  { name: "a Map, which JSON does not have", live: { a: { b: 1 } }, desired: { a: new Map() }, expected: false },
  {
    name: "an instance of a class",
    live: { a: { b: "c" } },
    desired: {
      a: new (class {
        b = "c";
      })(),
    },
    expected: true,
  },
  { name: "-0 is stored as 0", live: { a: 0 }, desired: { a: -0 }, expected: true },
  { name: "fields added by the server do not count", live: { a: 1, b: 2 }, desired: { a: 1 }, expected: true },
  { name: "a missing field counts", live: { b: 2 }, desired: { a: 1 }, expected: false },
  { name: "undefined desires nothing", live: { b: 2 }, desired: { a: undefined }, expected: true },
  {
    name: "an empty object that is missing counts (emptyDir: {} is not nothing)",
    live: {},
    desired: { a: { b: undefined } },
    expected: false,
  },
  { name: "an empty desired list does not match a full one", live: [1], desired: [], expected: false },
  { name: "an empty list that the server left out", live: {}, desired: { a: [] }, expected: true },
  { name: "lists compare in order", live: [1, 2], desired: [2, 1], expected: false },
  { name: "defaults inside list elements", live: [{ a: 1, d: 0 }], desired: [{ a: 1 }], expected: true },
  { name: "a longer live list", live: [{ a: 1 }, { a: 2 }], desired: [{ a: 1 }], expected: false },
  { name: "an object is not a list", live: [1], desired: { 0: 1 }, expected: false },
  { name: "null is a value", live: { a: null }, desired: { a: null }, expected: true },
  { name: "null matches an absent field, as in a merge patch", live: { b: 2 }, desired: { a: null }, expected: true },
  { name: "null does not match a present field", live: { a: { b: 2 } }, desired: { a: { b: null } }, expected: false },
  {
    name: "names on Object.prototype do not count as present",
    live: {},
    desired: { constructor: "x" },
    expected: false,
  },
];

for (const { name, live, desired, expected } of comparisonCases) {
  test(`hasDesiredValues(): ${name}`, () => assertEquals(hasDesiredValues(live, desired), expected));
}

test("firstDifference() returns the path of the first field without the desired value", () => {
  const live = { spec: { replicas: 1, containers: [{ name: "a", image: "x" }] } };
  assertEquals(firstDifference(live, { spec: { replicas: 2 } }), "spec.replicas");
  assertEquals(
    firstDifference(live, { spec: { containers: [{ name: "a", image: "y" }] } }),
    "spec.containers[0].image",
  );
  assertEquals(firstDifference(live, { spec: { containers: [] } }), "spec.containers");
  assertEquals(firstDifference(live, { status: { ready: true } }), "status");
  assertEquals(firstDifference(live, live), undefined);
});

test("findDifferences() returns all fields without the desired value, and a list as a whole", () => {
  const live = { spec: { replicas: 1, cpu: "1", containers: [{ name: "a", image: "x" }] } };
  assertEquals(
    findDifferences(live, { spec: { replicas: 1, cpu: "1000m", containers: [{ image: "y" }], paused: true } }),
    [
      { field: "spec.cpu", live: "1", desired: "1000m" },
      { field: "spec.containers", live: [{ name: "a", image: "x" }], desired: [{ image: "y" }] },
      { field: "spec.paused", live: undefined, desired: true },
    ],
  );
  assertEquals(findDifferences(live, { spec: { replicas: 1, tolerations: [], missing: undefined } }), []);
  assertEquals(findDifferences(live, live), []);
});

test("findDifferences() compares the items of lists with the same names, so that equal differences of unequal objects are one", () => {
  const live = (arg: string) => ({
    containers: [{ name: "a", args: [arg], cpu: "1" }],
    claims: [{ metadata: { name: arg }, size: "1Gi" }],
  });
  const desired = (arg: string) => ({
    containers: [{ name: "a", args: [arg], cpu: "1000m" }],
    claims: [{ metadata: { name: arg }, size: "1024Mi" }],
  });
  const found = findDifferences(live("x"), desired("x"));
  assertEquals(found, [
    { field: "containers[0].cpu", live: "1", desired: "1000m" },
    { field: "claims[0].size", live: "1Gi", desired: "1024Mi" },
  ]);
  assertEquals(findDifferences(live("y"), desired("y")), found);
  assertEquals(findDifferences(live("y"), desired("x")).map(({ field }) => field), [
    "containers[0].args",
    "containers[0].cpu",
    "claims",
  ]);
});

function managed(entries: readonly ManagedFieldsEntry[]): KubeObject {
  return { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "a", managedFields: entries } };
}

function applied(fieldsV1: Readonly<Record<string, unknown>>, manager = "foo"): ManagedFieldsEntry {
  return { manager, operation: "Apply", fieldsV1 };
}

const desired = {
  metadata: { labels: { app: "a" }, finalizers: ["x"] },
  spec: { template: { spec: { containers: [{ name: "nginx", ports: [{ containerPort: 80 }] }] } } },
};

test("findExtraFields() returns nothing while every owned field is desired", () => {
  const fields = {
    "f:metadata": { "f:labels": { "f:app": {} }, "f:finalizers": { 'v:"x"': {} } },
    "f:spec": {
      "f:template": {
        "f:spec": {
          "f:containers": {
            'k:{"name":"nginx"}': {
              ".": {},
              "f:name": {},
              "f:ports": { 'k:{"containerPort":80,"protocol":"TCP"}': { ".": {}, "f:containerPort": {} } },
            },
          },
        },
      },
    },
  };
  assertEquals(findExtraFields(managed([applied(fields)]), desired, "foo"), []);
});

const leftovers: readonly (readonly [string, string, Readonly<Record<string, unknown>>])[] = [
  ["a label", "metadata.labels.old", { "f:metadata": { "f:labels": { "f:app": {}, "f:old": {} } } }],
  ["a finalizer", 'metadata.finalizers."y"', { "f:metadata": { "f:finalizers": { 'v:"y"': {} } } }],
  ["a container", 'spec.template.spec.containers.{"name":"side"}', {
    "f:spec": { "f:template": { "f:spec": { "f:containers": { 'k:{"name":"side"}': { ".": {} } } } } },
  }],
  ["a whole branch", "spec.replicas", { "f:spec": { "f:replicas": {} } }],
];

for (const [what, field, fields] of leftovers) {
  test(`findExtraFields() returns ${what} that is no longer desired`, () => {
    assertEquals(findExtraFields(managed([applied(fields)]), desired, "foo").map(({ field }) => field), [field]);
    assertEquals(findExtraFields(managed([applied(fields, "other-manager")]), desired, "foo"), []);
  });
}

test("findExtraFields() returns a map that is owned as a whole and has a key that is no longer desired", () => {
  const selected = { f: { "f:spec": { "f:nodeSelector": {}, "f:emptyDir": {}, "f:args": {} } } }.f;
  const live = (spec: object) => ({ ...managed([applied(selected)]), spec });
  const spec = { nodeSelector: { disk: "ssd" }, emptyDir: {}, args: ["x"], none: undefined };
  assertEquals(findExtraFields(live(spec), { spec }, "foo"), []);
  const larger = { ...spec, nodeSelector: { disk: "ssd", zone: "a" } };
  assertEquals(findExtraFields(live(larger), { spec }, "foo"), [
    { field: "spec.nodeSelector", live: larger.nodeSelector, desired: spec.nodeSelector },
  ]);
});

const ownerFields = {
  "as the server names them": { ".": {}, 'k:{"uid":"u1"}': {} },
  "as a cache keeps them": {},
};

for (const [form, fields] of Object.entries(ownerFields)) {
  test(`findExtraFields() returns owner references that are no longer desired, ${form}`, () => {
    const entry = applied({ "f:metadata": { "f:ownerReferences": fields } });
    const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "a", uid: "u1", controller: true }];
    const { metadata, ...rest } = managed([entry]);
    const live = { ...rest, metadata: { ...metadata, ownerReferences } };
    assertEquals(findExtraFields(live, { metadata: { ownerReferences } }, "foo"), []);
    const none = { metadata: {}, spec: {} };
    assertEquals(findExtraFields(live, none, "foo").map(({ field }) => field), ["metadata.ownerReferences"]);
    // Another owner is a difference of values.
    const other = { metadata: { ownerReferences: [{ ...ownerReferences[0], uid: "u2" }] } };
    assertEquals(findDifferences(live, other).map(({ field }) => field), ["metadata.ownerReferences"]);
  });
}

test("findExtraFields() returns a map or list that has more than what is desired and that another client owns", () => {
  const fields = {
    "f:metadata": { "f:labels": { "f:app": {} } },
    "f:spec": { "f:ports": { 'k:{"port":80}': { ".": {} } } },
  };
  const spec = { selector: { app: "a" }, peers: [{ port: 1 }], ports: [{ port: 80, names: { a: "a" } }] };
  const live = (changed: object): KubeObject => {
    const { metadata, ...object } = managed([applied(fields)]);
    const annotations = { added: "x" };
    return {
      ...object,
      metadata: { ...metadata, annotations },
      spec: { ...spec, other: {}, ...changed },
      status: { a: 1 },
    } as never;
  };
  const desired = { metadata: { labels: { app: "a" }, annotations: {} }, spec, status: {} };
  assertEquals(findExtraFields(live({}), desired, "foo"), []);
  const larger = {
    selector: { app: "a", b: "b" },
    peers: [{ port: 1, b: "b" }],
    ports: [{ port: 80, names: { a: "a", b: "b" } }],
  };
  const names = findExtraFields(live(larger), desired, "foo").map(({ field }) => field);
  assertEquals(names, ['spec.ports.{"port":80}.names', "spec.selector", "spec.peers"]);
  assertEquals(findExtraFields(live(larger), desired, "who has applied nothing"), []);
});

test("findExtraFields() finds an extra key in a map inside a list that is owned as a whole, also the key `constructor`", () => {
  const entry = applied({ "f:spec": { "f:rules": {} } });
  const live = { ...managed([entry]), spec: { rules: [{ host: "a", http: { constructor: "x" } }] } };
  assertEquals(findExtraFields(live, { spec: { rules: [{ host: "a", http: {} }] } }, "foo").map(({ field }) => field), [
    "spec.rules",
  ]);
});

const { ConfigMap, Deployment } = builtin;

const cpu = { field: "spec.cpu", live: "1", desired: "1000m" };

test("NormalizationCache knows the difference that an apply left, for the same kind only", () => {
  const normalizations = new NormalizationCache();
  assertEquals(normalizations.has(Deployment, cpu), false);
  normalizations.add(Deployment, [cpu]);
  assertEquals(normalizations.has(Deployment, { ...cpu }), true);
  assertEquals(normalizations.has(Deployment, { ...cpu, live: "2" }), false);
  assertEquals(normalizations.has(Deployment, { ...cpu, desired: "2000m" }), false);
  assertEquals(normalizations.has(ConfigMap, cpu), false);
});

test("NormalizationCache keeps 10,000 differences and removes the oldest first", () => {
  const normalizations = new NormalizationCache();
  const difference = (number: number) => ({ ...cpu, live: String(number) });
  for (let number = 0; number <= 10_000; number++) normalizations.add(Deployment, [difference(number)]);
  assertEquals([0, 1, 10_000].map((number) => normalizations.has(Deployment, difference(number))), [false, true, true]);
});
