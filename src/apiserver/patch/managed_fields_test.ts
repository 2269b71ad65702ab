import { assert, assertEquals, test } from "../../../tests/testing.ts";
import type { Json, JsonObject } from "../model/mod.ts";
import { fieldSetOf } from "./field_set.ts";
import {
  identityText,
  managedFieldsProblem,
  readManagers,
  withManagedFields,
  writeManagers,
} from "./managed_fields.ts";
import { thing, ThingStore } from "./testing/things.ts";

const entry: JsonObject = {
  manager: "m",
  operation: "Update",
  apiVersion: "v1",
  time: "2020-01-01T00:00:00Z",
  fieldsType: "FieldsV1",
  fieldsV1: { "f:a": {} },
};

/** Reads and writes a list. */
function rewritten(...list: JsonObject[]): Json {
  const written: Json = JSON.parse(JSON.stringify(writeManagers(readManagers(list)) ?? null));
  return written;
}

test("an entry is the same after reading and writing, with its time in UTC and whole seconds", () => {
  const full = { ...entry, subresource: "status" };
  assertEquals(rewritten(full), [full]);
  assertEquals(rewritten({ ...entry, time: "2020-01-01T01:00:00.5+01:00" }), [entry]);
  assertEquals(
    rewritten({ ...entry, time: "never" }),
    [{ ...entry, time: undefined }].map((one) => JSON.parse(JSON.stringify(one))),
  );
  assertEquals(rewritten(), null);
});

test("entries are sorted by operation, time, manager, version and subresource", () => {
  const list: JsonObject[] = [
    { ...entry, operation: "Apply", manager: "z", time: "2030-01-01T00:00:00Z" },
    { ...entry, manager: "z", time: "2010-01-01T00:00:00Z" },
    { ...entry, manager: "a" },
    { ...entry, manager: "b" },
    { ...entry, manager: "b", subresource: "status" },
    { ...entry, manager: "b", apiVersion: "v2" },
  ];
  assertEquals(rewritten(...list.toReversed()), list);
});

test("the later of two entries of a manager counts; an Apply has one entry for all versions", () => {
  assertEquals(rewritten(entry, { ...entry, fieldsV1: { "f:b": {} } }), [{ ...entry, fieldsV1: { "f:b": {} } }]);
  const applied = { ...entry, operation: "Apply" };
  assertEquals(rewritten(applied, { ...applied, apiVersion: "v2" }), [{ ...applied, apiVersion: "v2" }]);
});

const problems: readonly (readonly [change: JsonObject, problem: string])[] = [
  [{ operation: "" }, "operation must be `Apply` or `Update`"],
  [{ apiVersion: "" }, "apiVersion must not be empty"],
  [{ fieldsType: "" }, "missing fieldsType in managed fields entry 0"],
  [{ fieldsType: "V2" }, 'invalid fieldsType "V2" in managed fields entry 0'],
  [{ fieldsV1: { a: {} } }, "key must be 2 characters long:"],
  [{ fieldsV1: { abc: {} } }, "missing colon: abc"],
];

for (const [change, problem] of problems) {
  test(`a list with ${JSON.stringify(change)} has a problem`, () => {
    assertEquals(managedFieldsProblem([{ ...entry, ...change }]), problem);
  });
}

test("a valid list, and no list, have no problem", () => {
  assertEquals([[entry], [], undefined].map(managedFieldsProblem), [undefined, undefined, undefined]);
});

test("the oldest of more than ten Update entries are merged, Apply entries are not", () => {
  const store = new ThingStore();
  store.apply("applier", thing({ paused: true }));
  for (let index = 0; index < 14; index++) {
    const labels = { ...JSON.parse(JSON.stringify(store.spec)).labels, [`k${String(index).padStart(2, "0")}`]: "v" };
    store.update(`m${index}`, { ...store.live, spec: { paused: true, labels } }, { now: index * 1000 });
  }
  const names = store.owners.map((owner) => owner.split(" ")[0]);
  assertEquals(names, ["applier", "ancient-changes", "m5", "m6", "m7", "m8", "m9", "m10", "m11", "m12", "m13"]);
  assertEquals(
    store.owners[1],
    'ancient-changes Update 1970-01-01T00:00:04Z {"f:spec":{"f:labels":{".":{},"f:k00":{},"f:k01":{},"f:k02":{},"f:k03":{},"f:k04":{}}}}',
  );
});

test("identityText() has the format of kube-apiserver", () => {
  const manager = { name: "a<b", operation: "Update", apiVersion: "v1", subresource: "" } as const;
  assertEquals(identityText(manager), '{"manager":"a\\u003cb","operation":"Update","apiVersion":"v1"}');
  assertEquals(
    identityText({ ...manager, operation: "Apply", subresource: "status" }),
    '{"manager":"a\\u003cb","operation":"Apply","subresource":"status"}',
  );
});

test("withManagedFields() shares all other parts of the object", () => {
  const object = thing({ a: 1 }, JSON.parse('{"__proto__":"kept"}'));
  const list = [{ fieldsV1: fieldSetOf([["f:a"]]) }];
  const written = withManagedFields(object, list);
  assert(written["spec"] === object["spec"]);
  assertEquals(
    JSON.stringify(written["metadata"]),
    '{"name":"t","namespace":"d","__proto__":"kept","managedFields":[{"fieldsV1":{"f:a":{}}}]}',
  );
  assert(withManagedFields(object, undefined) === object);
});
