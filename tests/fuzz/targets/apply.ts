/**
 * Server-side apply and managedFields of users. An input is a list of writes to one Thing: `{ by, apply | update, force }`.
 *
 * Promises: a write is stored, conflicts, or is a StatusError; a repeated apply changes nothing; the stored managedFields are
 * valid; a set of fields is read as it was written.
 */
import fc from "fast-check";
import { isDeepEqual, parseFiniteJson, printExactJson } from "../../../src/api/mod.ts";
import { isJsonObject, type Json, type JsonObject, StatusError } from "../../../src/apiserver/model/mod.ts";
import { FieldsError } from "../../../src/apiserver/patch/_element.ts";
import { managedFieldsOf, managedFieldsProblem, readFieldSet } from "../../../src/apiserver/patch/mod.ts";
import { thing, ThingStore } from "../../../src/apiserver/patch/testing/things.ts";
import { type FuzzTarget, orRefused, promise, textOf } from "../target.ts";

function checkWrite(store: ThingStore, write: JsonObject, now: number): void {
  const manager = typeof write.by === "string" ? write.by : "m";
  const options = { isForced: write.force === true, now, subresource: write.status === true ? "status" : "" };
  const { apply, update } = write;
  if (isJsonObject(update)) orRefused(() => store.update(manager, update, options), StatusError);
  if (!isJsonObject(apply)) return;
  const outcome = orRefused(() => store.try(manager, apply, options), StatusError);
  if (outcome?.kind !== "merged") return;
  const stored = printExactJson(store.live);
  const again = store.try(manager, apply, { ...options, now: now + 1000 });
  promise(again.kind === "merged", "A repeated apply is refused");
  promise(
    isDeepEqual(withoutTimes(stored), withoutTimes(printExactJson(store.live))),
    "A repeated apply changes the object",
  );
}

function withoutTimes(text: string): unknown {
  return JSON.parse(text.replace(/"time":"[^"]*"/g, '"time":""'));
}

function checkFieldSet(value: Json): void {
  const set = orRefused(() => readFieldSet(value), FieldsError);
  if (set === undefined) return;
  promise(isDeepEqual(readFieldSet(set), set), "A set of fields is read as another set");
}

const item = fc.record({
  name: fc.constantFrom("a", "b"),
  value: fc.string({ maxLength: 3 }),
  tags: fc.array(fc.constantFrom("x", "y")),
}, { requiredKeys: ["name"] });
const spec = fc.record({
  alpha: fc.string({ maxLength: 3 }),
  items: fc.uniqueArray(item, { selector: ({ name }) => name }),
  ports: fc.uniqueArray(
    fc.record({ port: fc.constantFrom(80, 81), protocol: fc.constantFrom("TCP", "UDP") }, { requiredKeys: ["port"] }),
  ),
  tags: fc.uniqueArray(fc.constantFrom("a", "b", "c")),
  numbers: fc.uniqueArray(fc.integer()),
  labels: fc.dictionary(fc.constantFrom("a", "b", "__proto__"), fc.string({ maxLength: 2 })),
  selector: item,
  free: fc.jsonValue({ maxDepth: 2 }),
  open: fc.dictionary(fc.constantFrom("known", "other"), fc.jsonValue({ maxDepth: 1 })),
  anything: fc.jsonValue({ maxDepth: 2 }),
}, { requiredKeys: [] });
const write = fc.record({ by: fc.constantFrom("a", "b"), force: fc.boolean(), spec, isUpdate: fc.boolean() })
  .map(({ by, force, spec, isUpdate }) => {
    const object = { apiVersion: "example.dev/v1", kind: "Thing", metadata: { name: "t", namespace: "d" }, spec };
    return { by, force, ...(isUpdate ? { update: object } : { apply: object }) };
  });

const managed = [{
  manager: "a",
  operation: "Apply",
  apiVersion: "example.dev/v1",
  time: "1970-01-01T00:00:00Z",
  fieldsType: "FieldsV1",
  fieldsV1: { "f:spec": { "f:items": { 'k:{"name":"a"}': { ".": {}, "f:value": {} } } } },
}];

/** The target. */
export const target: FuzzTarget = {
  seeds: [
    JSON.stringify([{ by: "a", apply: thing({ items: [{ name: "a" }], tags: ["x"] }) }, {
      by: "b",
      apply: thing({ items: [{ name: "a", value: "2" }] }),
      force: true,
    }]),
    JSON.stringify([{ by: "a", update: thing({ alpha: "1" }, { managedFields: managed }) }, {
      by: "a",
      apply: thing({ alpha: "2" }),
    }]),
    JSON.stringify([{ fields: managed[0]?.fieldsV1 ?? {} }]),
  ],
  arbitrary: fc.array(write, { maxLength: 4 }).map((writes) => JSON.stringify(writes)),
  words: [
    'k:{\\"name\\":\\"a\\"}',
    'v:\\"x\\"',
    "v:1e5",
    "i:0",
    "f:spec",
    '"."',
    "managedFields",
    '"apply":',
    '"update":',
    '"force":true',
    '"fields":',
    "example.dev/v2",
  ],
  check(input) {
    // As the server reads bodies. Every value of JSON text is Json.
    const writes = orRefused(() => parseFiniteJson(textOf(input)), SyntaxError) as Json | undefined;
    if (!Array.isArray(writes)) return;
    const store = new ThingStore();
    let now = 0;
    for (const write of writes.slice(0, 8)) {
      if (!isJsonObject(write)) continue;
      checkWrite(store, write, now += 10_000);
      if (write.fields !== undefined) checkFieldSet(write.fields);
      if (store.live !== undefined) {
        promise(
          managedFieldsProblem(managedFieldsOf(store.live)) === undefined,
          "The stored managedFields are not valid",
        );
      }
    }
  },
};
