import { assert, assertEquals, test } from "../../../tests/testing.ts";
import type { JsonObject } from "../model/mod.ts";
import { fieldSetOf } from "./field_set.ts";
import { managedFieldsOf, withManagedFields } from "./managed_fields.ts";
import { thing, ThingStore, thingType, thingTypes } from "./testing/things.ts";
import { unchangedButTimes, updateManagedFields } from "./update.ts";

const second = 1000;
const context = { type: thingType, apiVersion: "example.dev/v1", subresource: "", manager: "m", now: 0 };

test("the creator of an object owns its fields, but not identity and the fields of the server", () => {
  const store = new ThingStore();
  const metadata = {
    labels: { x: "y" },
    uid: "u",
    resourceVersion: "1",
    generation: 1,
    creationTimestamp: "now",
    selfLink: "",
  };
  store.update("alice", thing({ replicas: 1 }, metadata), { now: second });
  assertEquals(store.owners, [
    'alice Update 1970-01-01T00:00:01Z {"f:metadata":{"f:labels":{".":{},"f:x":{}}},"f:spec":{".":{},"f:replicas":{}}}',
  ]);
});

test("the fields of an empty object have no owner", () => {
  const fields = updateManagedFields({
    ...context,
    live: undefined,
    updated: thing({ replicas: 1, template: {} }),
    empty: { spec: { template: {} } },
  });
  assertEquals(
    JSON.stringify(fields),
    JSON.stringify([{
      manager: "m",
      operation: "Update",
      apiVersion: "example.dev/v1",
      time: "1970-01-01T00:00:00Z",
      fieldsType: "FieldsV1",
      fieldsV1: { "f:spec": { "f:replicas": {} } },
    }]),
  );
});

test("a write without a manager has the manager unknown", () => {
  const store = new ThingStore();
  store.update("", thing({ replicas: 1 }));
  assert(store.owners[0]?.startsWith("unknown Update "));
});

test("an update takes the changed fields, and no others", () => {
  const store = new ThingStore();
  store.update("alice", thing({ replicas: 1, paused: true, tags: ["a"] }));
  store.update("bob", { ...store.live, spec: { replicas: 2, paused: true, tags: ["a", "b"] } }, { now: second });
  assertEquals(store.owners, [
    'alice Update 1970-01-01T00:00:00Z {"f:spec":{".":{},"f:paused":{},"f:tags":{".":{},"v:\\"a\\"":{}}}}',
    'bob Update 1970-01-01T00:00:01Z {"f:spec":{"f:replicas":{},"f:tags":{"v:\\"b\\"":{}}}}',
  ]);
});

test("a removed field has no owner, and no time changes", () => {
  const store = new ThingStore();
  store.update("alice", thing({ replicas: 1, paused: true }));
  store.update("bob", { ...store.live, spec: { paused: true } }, { now: second });
  assertEquals(store.owners, ['alice Update 1970-01-01T00:00:00Z {"f:spec":{".":{},"f:paused":{}}}']);
});

test("a writer that changes, adds and removes its own fields owns what is left", () => {
  const store = new ThingStore();
  store.update("alice", thing({ replicas: 1, paused: true }));
  store.update("alice", { ...store.live, spec: { replicas: 3, tags: ["a"] } }, { now: second });
  assertEquals(store.owners, [
    'alice Update 1970-01-01T00:00:01Z {"f:spec":{".":{},"f:replicas":{},"f:tags":{".":{},"v:\\"a\\"":{}}}}',
  ]);
});

test("a write that changes nothing returns the same list", () => {
  const store = new ThingStore();
  store.update("alice", thing({ replicas: 1 }));
  const { live } = store;
  assert(live !== undefined);
  const copy: JsonObject = JSON.parse(JSON.stringify(live));
  assert(updateManagedFields({ ...context, live, updated: copy, now: 9 * second }) === managedFieldsOf(live));
  assert(
    updateManagedFields({ ...context, live, updated: thing({ replicas: 1 }), now: 9 * second }) ===
      managedFieldsOf(live),
  );
});

test("create, status and apply have separate entries", () => {
  const store = new ThingStore();
  store.update("c", thing({ replicas: 1 }));
  store.update("c", { ...store.live, status: { ready: 1 } }, { subresource: "status" });
  store.apply("c", thing({ paused: true }));
  assertEquals(store.owners.map((owner) => owner.split(" ").slice(0, 2).join(" ")), [
    "c Apply",
    "c Update",
    "c Update/status",
  ]);
});

test("a write does not take fields that its subresource never changes", () => {
  const store = new ThingStore();
  store.update("c", { ...thing({ replicas: 1 }), status: { ready: 1 } });
  assertEquals(store.owners, ['c Update 1970-01-01T00:00:00Z {"f:spec":{".":{},"f:replicas":{}}}']);
  store.update("s", { ...store.live, spec: { replicas: 2 }, status: { ready: 2 } }, { subresource: "status" });
  assertEquals(store.owners[1], 's Update/status 1970-01-01T00:00:00Z {"f:status":{"f:ready":{}}}');
});

test("an update with an empty list stops tracking until the next apply", () => {
  for (const managedFields of [[], [{}]]) {
    const store = new ThingStore();
    store.update("alice", thing({ replicas: 1 }));
    store.update("bob", thing({ replicas: 1 }, { managedFields }));
    assertEquals(store.owners, []);
    store.update("bob", thing({ replicas: 2 }));
    assertEquals(store.owners, []);
    store.apply("carol", thing({ replicas: 2 }));
    assertEquals(store.owners.map((owner) => owner.split(" ")[0]), ["carol", "before-first-apply"]);
  }
});

test("an update may change managed fields, but not through a subresource, and not to a malformed list", () => {
  const entry = {
    manager: "x",
    operation: "Update",
    apiVersion: "example.dev/v1",
    fieldsType: "FieldsV1",
    fieldsV1: { "f:spec": { "f:replicas": {} } },
  };
  const written = (managedFields: JsonObject[], subresource = "") => {
    const store = new ThingStore();
    store.update("alice", thing({ replicas: 1 }));
    store.update("bob", thing({ replicas: 1 }, { managedFields }), { subresource });
    return store.owners.map((owner) => owner.split(" ")[0]);
  };
  assertEquals(written([entry]), ["x"]);
  assertEquals(written([entry], "status"), ["alice"]);
  assertEquals(written([{ ...entry, operation: "Other" }]), ["alice"]);
  assertEquals(written([{ ...entry, fieldsV1: { bad: {} } }]), ["alice"]);
});

test("an object with ambiguous items is not tracked any more", () => {
  const store = new ThingStore();
  store.update("alice", thing({ replicas: 1 }));
  store.update("bob", { ...store.live, ...thing({ items: [{ value: "1" }] }, { uid: "u" }) });
  assertEquals(store.owners, []);
});

test("entries of another version are updated in that version", async () => {
  const type = thingTypes.get("example.dev/v2");
  assert(type !== undefined);
  const live = withManagedFields(thing({ alpha: "a", replicas: 1 }), [{
    manager: "old",
    operation: "Update",
    apiVersion: "example.dev/v2",
    fieldsType: "FieldsV1",
    fieldsV1: fieldSetOf([["f:spec", "f:beta"], ["f:spec", "f:replicas"]]),
  }, {
    manager: "gone",
    operation: "Update",
    apiVersion: "example.dev/v0",
    fieldsType: "FieldsV1",
    fieldsV1: fieldSetOf([["f:spec", "f:paused"]]),
  }]);
  const convert = (object: JsonObject, apiVersion: string) => {
    if (apiVersion === "example.dev/v0") return undefined;
    const { alpha, ...rest } = JSON.parse(JSON.stringify(object["spec"]));
    return Promise.resolve({ object: { ...object, apiVersion, spec: { ...rest, beta: alpha } }, type });
  };
  const fields = await updateManagedFields({ ...context, live, updated: thing({ alpha: "b", replicas: 1 }), convert });
  assertEquals(
    fields?.map((entry) => JSON.stringify(entry)),
    [
      '{"manager":"m","operation":"Update","apiVersion":"example.dev/v1","time":"1970-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:alpha":{}}}}',
      '{"manager":"old","operation":"Update","apiVersion":"example.dev/v2","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:replicas":{}}}}',
    ],
  );
});

test("a failing conversion fails the write", async () => {
  const entry = {
    manager: "old",
    operation: "Update",
    apiVersion: "example.dev/v2",
    fieldsType: "FieldsV1",
    fieldsV1: { "f:kind": {} },
  };
  const live = withManagedFields(thing({}), [entry]);
  let failure: unknown;
  try {
    await updateManagedFields({
      ...context,
      live,
      updated: thing({}),
      convert: () => Promise.reject(new Error("down")),
    });
  } catch (error) {
    failure = error;
  }
  assert(failure instanceof Error && failure.message === "down");
});

test("a write that changes only times returns the stored list", () => {
  const entry = {
    manager: "m",
    operation: "Apply",
    apiVersion: "v1",
    fieldsType: "FieldsV1",
    fieldsV1: { "f:spec": {} },
  };
  const at = (time: string, spec: JsonObject = {}) => thing(spec, { managedFields: [{ ...entry, time }] });
  const live = at("1970-01-01T00:00:00Z");
  assert(unchangedButTimes(live, at("1970-01-01T00:00:09Z")) === managedFieldsOf(live));
  assert(unchangedButTimes(live, at("1970-01-01T00:00:09Z", { a: 1 })) === undefined);
  assert(unchangedButTimes(live, thing({})) === undefined);
  assert(unchangedButTimes(thing({}), thing({})) === undefined);
});
