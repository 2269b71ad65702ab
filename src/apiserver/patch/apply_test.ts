import { assert, assertEquals, test } from "../../../tests/testing.ts";
import { type JsonObject, StatusError } from "../model/mod.ts";
import { applyConfiguration, applyConflict } from "./apply.ts";
import { specField, thing, ThingStore, thingTypes } from "./testing/things.ts";

/** The StatusError of a write. */
function statusErrorOf(write: () => unknown): StatusError {
  let statusError: unknown;
  try {
    write();
  } catch (error) {
    statusError = error;
  }
  assert(statusError instanceof StatusError, String(statusError));
  return statusError;
}

const second = 1000;

test("an apply that creates owns its fields, but not identity and kind", () => {
  const store = new ThingStore();
  store.apply("alice", thing({ replicas: 1, labels: { a: "1" } }, { labels: { x: "y" } }), { now: 90 * second + 5 });
  assertEquals(store.owners, [
    'alice Apply 1970-01-01T00:01:30Z {"f:metadata":{"f:labels":{"f:x":{}}},"f:spec":{"f:labels":{"f:a":{}},"f:replicas":{}}}',
  ]);
});

test("a field of another manager with another value is a conflict with field, manager and version", () => {
  const store = new ThingStore();
  store.update("kubectl-client-side-apply", thing({ replicas: 1 }));
  const { status } = statusErrorOf(() => store.apply("alice", thing({ replicas: 2 })));
  assertEquals([status.code, status.reason], [409, "Conflict"]);
  assertEquals(
    status.message,
    'Apply failed with 1 conflict: conflict with "kubectl-client-side-apply" using example.dev/v1: .spec.replicas',
  );
  assertEquals(status.details, {
    causes: [{
      reason: "FieldManagerConflict",
      message: 'conflict with "kubectl-client-side-apply" using example.dev/v1',
      field: ".spec.replicas",
    }],
  });
});

test("several conflicts are grouped by manager, with subresources", () => {
  const store = new ThingStore();
  store.apply("zoe", thing({ items: [{ name: "a", value: "1" }], tags: ["x"] }));
  store.update("bob", {
    ...thing({ items: [{ name: "a", value: "1" }], tags: ["x"], args: ["1"] }),
    status: { ready: 1 },
  });
  store.update("bob", {
    ...thing({ items: [{ name: "a", value: "1" }], tags: ["x"], args: ["1"] }),
    status: { ready: 2 },
  }, {
    subresource: "status",
  });
  const statusError = statusErrorOf(() => {
    const applied = {
      ...thing({ items: [{ name: "a", value: "2" }], args: ["2"], tags: ["x"] }),
      status: { ready: 3 },
    };
    store.apply("alice", applied);
  });
  assertEquals(
    statusError.message,
    'Apply failed with 2 conflicts: conflicts with "bob" using example.dev/v1:\n- .spec.args\n' +
      'conflicts with "zoe":\n- .spec.items[name="a"].value',
  );
  const { message } = statusErrorOf(() =>
    store.apply("alice", { ...thing({}), status: { ready: 3 } }, { subresource: "status" })
  );
  assertEquals(
    message,
    'Apply failed with 1 conflict: conflict with "bob" with subresource "status" using example.dev/v1: .status.ready',
  );
});

test("a conflict changes nothing, and a forced apply takes the field", () => {
  const store = new ThingStore();
  store.apply("alice", thing({ replicas: 1, paused: true }));
  const before = store.live;
  assertEquals(store.try("bob", thing({ replicas: 2 })).kind, "conflicts");
  assert(store.live === before);
  store.apply("bob", thing({ replicas: 2 }), { isForced: true });
  assertEquals(store.spec, { replicas: 2, paused: true });
  assertEquals(store.owners, [
    'alice Apply 1970-01-01T00:00:00Z {"f:spec":{"f:paused":{}}}',
    'bob Apply 1970-01-01T00:00:00Z {"f:spec":{"f:replicas":{}}}',
  ]);
});

test("an apply of the live value shares the field, which stays until both managers leave it out", () => {
  const store = new ThingStore();
  store.apply("alice", thing({ replicas: 1, tags: ["a", "b"] }));
  store.apply("bob", thing({ replicas: 1, tags: ["b", "c"] }));
  assertEquals(store.spec, { replicas: 1, tags: ["a", "b", "c"] });
  store.apply("alice", thing({}));
  assertEquals(store.spec, { replicas: 1, tags: ["b", "c"] });
  store.apply("bob", thing({ tags: ["c"] }));
  assertEquals(store.spec, { tags: ["c"] });
});

test("a field that an applier leaves out is removed, but not the fields that others added to it", () => {
  const store = new ThingStore();
  store.apply(
    "alice",
    thing({ items: [{ name: "a", value: "1", options: { x: "1" } }, { name: "b" }], free: { p: { q: 1 } } }),
  );
  store.apply("bob", thing({ items: [{ name: "a", tags: ["t"] }] }));
  store.apply("alice", thing({ items: [{ name: "b" }] }));
  assertEquals(store.spec, { items: [{ name: "a", tags: ["t"] }, { name: "b" }] });
});

test("fields that were never applied stay: a default, and a field of an update", () => {
  const store = new ThingStore();
  store.apply("alice", thing({ replicas: 1 }));
  store.update("editor", { ...store.live, ...thing({ replicas: 1, paused: true }) });
  store.apply("alice", thing({}));
  assertEquals(store.spec, { paused: true });
});

test("a manager without fields has no entry", () => {
  const store = new ThingStore();
  store.apply("alice", thing({ replicas: 1 }));
  store.update("bob", thing({ replicas: 2 }));
  assertEquals(store.owners, ['bob Update 1970-01-01T00:00:00Z {"f:spec":{"f:replicas":{}}}']);
});

test("a list has the order of the configuration where it has the items", () => {
  const names = (list: string[]) => list.map((name) => ({ name }));
  const store = new ThingStore();
  store.apply("alice", thing({ items: names(["a", "b", "c", "d"]) }));
  store.apply("bob", thing({ items: names(["c", "x", "b"]) }));
  assertEquals(store.spec, { items: names(["a", "c", "d", "x", "b"]) });
});

test("a list with a duplicate item accepts other items, and loses the duplicate when the item is applied", () => {
  const store = new ThingStore();
  store.update("old", thing({ tags: ["a", "b", "a"] }));
  store.apply("alice", thing({ tags: ["c"] }));
  assertEquals(store.spec, { tags: ["a", "b", "a", "c"] });
  store.apply("bob", thing({ tags: ["a"] }), { isForced: true });
  assertEquals(store.spec, { tags: ["a", "b", "c"] });
});

test("an atomic list or map has one owner", () => {
  const store = new ThingStore();
  store.apply("alice", thing({ args: ["a"], wholeMap: { a: "1" }, selector: { name: "s" } }));
  const outcome = store.try("bob", thing({ args: ["b"], wholeMap: { b: "1" }, selector: { value: "v" } }));
  assert(outcome.kind === "conflicts");
  assertEquals(outcome.conflicts.map(({ path }) => path.join("")), [
    "f:specf:args",
    "f:specf:selector",
    "f:specf:wholeMap",
  ]);
  store.apply("bob", thing({ args: ["b"], wholeMap: { b: "1" } }), { isForced: true });
  assertEquals(store.spec, { args: ["b"], wholeMap: { b: "1" }, selector: { name: "s" } });
});

test("keys with defaults may be left out", () => {
  const store = new ThingStore();
  store.apply("alice", thing({ ports: [{ port: 80, name: "a" }] }));
  store.apply("bob", thing({ ports: [{ port: 80, protocol: "UDP" }, { port: 80, protocol: "TCP", name: "a" }] }));
  assertEquals(store.spec, { ports: [{ port: 80, protocol: "UDP" }, { port: 80, name: "a", protocol: "TCP" }] });
});

test("null replaces a leaf, and keeps a field with content", () => {
  const store = new ThingStore();
  store.apply("alice", thing({ replicas: 1, labels: { a: "1" }, args: ["a"] }));
  store.apply("alice", thing({ replicas: null, labels: null, args: null }));
  assertEquals(store.spec, { replicas: null, labels: null, args: null });
  store.apply("bob", thing({ labels: { b: "1" } }));
  store.apply("alice", thing({ labels: null }));
  assertEquals(store.spec, { labels: { b: "1" } });
});

test("keys with any name are fields like others", () => {
  const store = new ThingStore();
  store.apply(
    "alice",
    JSON.parse(
      '{"apiVersion":"example.dev/v1","kind":"Thing","metadata":{"name":"t"},"spec":{"labels":{"__proto__":"1","constructor":"2"}}}',
    ),
  );
  store.apply("alice", thing({ labels: { toString: "3" } }));
  assertEquals(JSON.stringify(store.spec), '{"labels":{"toString":"3"}}');
});

const misfits: readonly (readonly [spec: JsonObject, problem: string])[] = [
  [{ nothing: 1 }, ".spec.nothing: field not declared in schema"],
  [{ replicas: "two" }, ".spec.replicas: expected numeric (int or float), got string"],
  [
    { alpha: { a: 1 } },
    '.spec.alpha: expected string, got &value.valueUnstructured{Value:map[string]interface {}{"a":1}}',
  ],
  [{ paused: "yes" }, ".spec.paused: expected boolean, got &{yes}"],
  [{ items: { a: [true, null] } }, ".spec.items: expected list, got &{map[a:[true <nil>]]}"],
  [{ labels: ["a"] }, ".spec.labels: expected map, got &{[a]}"],
  [{ items: [{ name: "a" }, { name: "a" }] }, '.spec.items: duplicate entries for key [name="a"]'],
  [
    { ports: [{ port: 1 }, { port: 1, protocol: "TCP" }] },
    '.spec.ports: duplicate entries for key [port=1,protocol="TCP"]',
  ],
  [
    { tags: ["a", null] },
    ".spec.tags: element 1: associative list without keys has an element that's an explicit null",
  ],
  [
    { volumes: [{ tags: [[]] }] },
    ".spec.volumes[0].tags: element 0: not supported: associative list with lists as elements",
  ],
  [
    { tags: ["a", "a"], numbers: [1, 1] },
    'errors:\n  .spec.tags: duplicate entries for key [="a"]\n  .spec.numbers: duplicate entries for key [=1]',
  ],
];

for (const [spec, problem] of misfits) {
  test(`a configuration that does not fit its type is rejected: ${problem}`, () => {
    const { status } = statusErrorOf(() => new ThingStore().apply("alice", thing(spec)));
    assertEquals(status.code, 500);
    assertEquals(status.message, `failed to create typed patch object (d/t; example.dev/v1, Kind=Thing): ${problem}`);
  });
}

test("a configuration with another kind or version, or with managed fields, is a bad request", () => {
  const store = new ThingStore();
  const { status } = statusErrorOf(() => store.apply("alice", { ...thing({}), kind: "Other" }));
  assertEquals([status.code, status.message], [400, "invalid object type: example.dev/v1, Kind=Other"]);
  assertEquals(
    statusErrorOf(() => store.apply("alice", { ...thing({}), apiVersion: "v1" })).message,
    "invalid object type: /v1, Kind=Thing",
  );
  assertEquals(
    statusErrorOf(() => store.apply("alice", thing({}, { managedFields: [] }))).message,
    "metadata.managedFields must be nil",
  );
});

test("an apply that changes nothing keeps the times", () => {
  const store = new ThingStore();
  store.apply("alice", thing({ replicas: 1 }), { now: second });
  store.apply("alice", thing({ replicas: 1 }), { now: 100 * second });
  assertEquals(store.owners, ['alice Apply 1970-01-01T00:00:01Z {"f:spec":{"f:replicas":{}}}']);
  store.apply("bob", thing({ replicas: 1 }), { now: 200 * second });
  assertEquals(store.owners[0], 'bob Apply undefined {"f:spec":{"f:replicas":{}}}');
});

test("an object without managed fields gets the owner before-first-apply", () => {
  const store = new ThingStore();
  store.live = thing({ replicas: 1, labels: { a: "1" } }, { uid: "u" });
  store.apply("alice", thing({ labels: { a: "1", b: "2" } }), { now: second });
  assertEquals(store.owners, [
    'alice Apply 1970-01-01T00:00:01Z {"f:spec":{"f:labels":{"f:a":{},"f:b":{}}}}',
    'before-first-apply Update 1970-01-01T00:00:01Z {"f:spec":{".":{},"f:labels":{".":{},"f:a":{}},"f:replicas":{}}}',
  ]);
});

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration";

test("kubectl takes fields of its client-side apply, unless they changed since", () => {
  const config = thing({ replicas: 1, alpha: "a" });
  const annotations = { [lastApplied]: JSON.stringify(config), other: "<&>" };
  const store = new ThingStore();
  store.update("kubectl-client-side-apply", thing({ replicas: 1, alpha: "a" }, { annotations }));
  assertEquals(store.try("someone", thing({ replicas: 2 })).kind, "conflicts");
  store.apply("kubectl", thing({ replicas: 2, alpha: "b" }));
  assertEquals(store.spec, { replicas: 2, alpha: "b" });
  assertEquals(
    JSON.parse(JSON.stringify(store.live)).metadata.annotations[lastApplied],
    '{"apiVersion":"example.dev/v1","kind":"Thing","metadata":{"name":"t","namespace":"d"},"spec":{"alpha":"b","replicas":2}}\n',
  );
  store.update("scaler", { ...store.live, spec: { replicas: 9, alpha: "b" } });
  const outcome = store.try("kubectl", thing({ replicas: 3, alpha: "c" }));
  assert(outcome.kind === "conflicts");
  assertEquals(outcome.conflicts.map(({ manager }) => manager.name), ["scaler"]);
});

test("kubectl takes no fields when its annotation has another version or is malformed", () => {
  for (const text of [JSON.stringify(thing({ replicas: 1 }, {}, "example.dev/v2")), "{", "[]", ""]) {
    const store = new ThingStore();
    store.update("kubectl-client-side-apply", thing({ replicas: 1 }, { annotations: { [lastApplied]: text } }));
    assertEquals(store.try("kubectl", thing({ replicas: 2 })).kind, "conflicts");
  }
});

test("the entry of a manager is compared in its own version, and dropped when that is not served", async () => {
  const rename = (object: JsonObject, from: string, to: string, apiVersion: string): JsonObject => {
    const { [from]: value, ...rest } = JSON.parse(JSON.stringify(object["spec"] ?? {}));
    return { ...object, apiVersion, spec: value === undefined ? rest : { ...rest, [to]: value } };
  };
  const convert = (object: JsonObject, apiVersion: string) => {
    const type = thingTypes.get(apiVersion);
    if (type === undefined) return undefined;
    const [from, to] = apiVersion.endsWith("v2") ? ["alpha", "beta"] as const : ["beta", "alpha"] as const;
    return { object: rename(object, from, to, apiVersion), type };
  };
  const store = new ThingStore();
  store.apply("alice", thing({ alpha: "a", replicas: 1 }));
  const live = store.live;
  const type = thingTypes.get("example.dev/v2");
  assert(live !== undefined && type !== undefined);
  const request = {
    live: rename(live, "alpha", "beta", "example.dev/v2"),
    applied: thing({ beta: "b" }, {}, "example.dev/v2"),
    kind: "Thing",
    apiVersion: "example.dev/v2",
    type,
    subresource: "",
    manager: "bob",
    now: 0,
    isForced: false,
  };
  const conflicting = applyConfiguration({ ...request, convert });
  assert(!(conflicting instanceof Promise) && conflicting.kind === "conflicts");
  assertEquals(
    applyConflict(conflicting.conflicts).message,
    'Apply failed with 1 conflict: conflict with "alice": .spec.alpha',
  );
  const later = await applyConfiguration({
    ...request,
    manager: "alice",
    convert: async (object, version) => await convert(object, version),
  });
  assert(later.kind === "merged");
  assertEquals(later.object["spec"], { beta: "b" });
  const alone = applyConfiguration({ ...request });
  assert(!(alone instanceof Promise) && alone.kind === "merged");
  assertEquals(alone.managedFields?.length, 1);
});

test("a set from before its type became atomic is owned as a whole", () => {
  const live = thing({ wholeMap: { a: "1" } }, {
    uid: "u",
    managedFields: [{
      manager: "alice",
      operation: "Apply",
      apiVersion: "example.dev/v1",
      fieldsType: "FieldsV1",
      fieldsV1: { "f:spec": { "f:wholeMap": { "f:a": {} } } },
    }],
  });
  const store = new ThingStore();
  store.live = live;
  const outcome = store.try("bob", thing({ wholeMap: { b: "1" } }));
  assert(outcome.kind === "conflicts" && specField("wholeMap").kind === "map");
  assertEquals(outcome.conflicts.map(({ path }) => path), [["f:spec", "f:wholeMap"]]);
});

test("malformed managed fields in the live object cause a 500", () => {
  const store = new ThingStore();
  store.live = thing({}, { uid: "u", managedFields: [{ manager: "a", operation: "Nothing" }] });
  const { status } = statusErrorOf(() => store.apply("alice", thing({})));
  assertEquals([status.code, status.message], [
    500,
    "failed to decode managed fields: operation must be `Apply` or `Update`",
  ]);
});
