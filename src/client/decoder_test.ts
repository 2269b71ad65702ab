/**
 * Tests of withoutManagedFields() against a model: parse, then remove. Invariants, for any JSON: the result parses to the
 * object without metadata.managedFields of the objects and without any other change; text without the key is unchanged.
 */
import fc from "fast-check";
import { assert, assertEquals, test } from "../../tests/testing.ts";
import { dropManagedFields, withoutManagedFields } from "./decoder.ts";

/** Strings that look like the keys that the scanner searches. */
const decoy = fc.constantFrom(
  "managedFields",
  '"managedFields":[',
  '"managedFields":[]',
  'x"managedFields',
  "metadata",
  '"metadata":{',
  "object",
  "items",
  '\\"managedFields\\":[',
  "\\",
  '"',
  "]}",
  "[{",
  "__proto__",
  "ä€😀",
  "",
);
/**
 * Keys that end in a backslash are left out: V8 15.0 confuses `"\\"` and `"\""` as keys of objects of one shape, so it
 * may parse the same text differently on each side of the comparison.
 */
const key = fc.oneof(decoy, fc.string({ maxLength: 3 })).filter((text) => !text.endsWith("\\"));
const leaf = fc.oneof(decoy, fc.integer(), fc.boolean(), fc.constant(null), fc.string({ maxLength: 5 }));
const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
  tree: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    leaf,
    fc.array(tie("tree"), { maxLength: 3 }),
    fc.dictionary(key, tie("tree"), { maxKeys: 4 }),
  ),
}));
const managedFields = fc.array(fc.dictionary(key, tree, { maxKeys: 3 }), { maxLength: 3 });

/** Metadata with the key among others, in any order, and sometimes not an array. */
const metadata = fc.tuple(fc.dictionary(key, tree, { maxKeys: 3 }), fc.oneof(managedFields, tree), fc.boolean()).map(
  ([other, fields, isFirst]) => isFirst ? { managedFields: fields, ...other } : { ...other, managedFields: fields },
);
const object = fc.tuple(fc.dictionary(key, tree, { maxKeys: 3 }), fc.oneof(metadata, tree)).map(
  ([other, meta]) => ({ ...other, metadata: meta }),
);

function model(value: unknown): unknown {
  const copy = structuredClone(value);
  if (typeof copy === "object" && copy !== null && "metadata" in copy) {
    const meta = copy.metadata;
    if (typeof meta === "object" && meta !== null && !Array.isArray(meta) && "managedFields" in meta) {
      delete meta.managedFields;
    }
  }
  return copy;
}

/** The second step of the decoder, after parsing. */
function cleaned(value: unknown): unknown {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) dropManagedFields(value);
  return value;
}

test("withoutManagedFields() of an event has the same result as parsing and removing", () => {
  fc.assert(
    fc.property(object, fc.boolean(), fc.constantFrom(undefined, 1), (value, isTypeFirst, indent) => {
      const event = isTypeFirst ? { type: "ADDED", object: value } : { object: value, type: "ADDED" };
      const text = JSON.stringify(event, undefined, indent);
      const parsed = JSON.parse(withoutManagedFields(text, "event"));
      assertEquals(JSON.stringify(cleaned(parsed.object)), JSON.stringify(model(JSON.parse(text).object)));
    }),
    { numRuns: 3000 },
  );
});

test("withoutManagedFields() of a list has the same result as parsing and removing", () => {
  fc.assert(
    fc.property(fc.array(object, { maxLength: 4 }), tree, (items, other) => {
      const text = JSON.stringify({ kind: "FooList", metadata: { managedFields: [other] }, other, items });
      const parsed = JSON.parse(withoutManagedFields(text, "list"));
      const expected = JSON.parse(text);
      assertEquals(JSON.stringify(parsed.items.map(cleaned)), JSON.stringify(expected.items.map(model)));
      assertEquals(JSON.stringify(parsed.other), JSON.stringify(expected.other));
    }),
    { numRuns: 2000 },
  );
});

test("withoutManagedFields() removes only managedFields from text of kube-apiserver", () => {
  const entry = '{"manager":"kubectl","fieldsV1":{"f:spec":{"k:{\\"name\\":\\"]}\\"}":{".":{}}}}}';
  const rest = '"spec":{"template":{"metadata":{"managedFields":[1]}},"managedFields":[2]}}}';
  const event = (meta: string) => `{"type":"ADDED","object":{"kind":"Foo","metadata":{${meta}},${rest}`;
  const cases = [
    [`"labels":{"a":"b"},"managedFields":[${entry}],"name":"x"`, '"labels":{"a":"b"},"name":"x"'],
    [`"name":"x","managedFields":[${entry},${entry}]`, '"name":"x"'],
    [`"managedFields":[${entry}],"name":"x"`, '"name":"x"'],
    [`"managedFields":[]`, ""],
  ] as const;
  for (const [before, after] of cases) assertEquals(withoutManagedFields(event(before), "event"), event(after));
});

test("text that breaks off inside managedFields stays malformed", () => {
  const whole = '{"type":"ADDED","object":{"metadata":{"managedFields":[{"a":"b"}],"name":"x"}}}';
  for (let length = 0; length < whole.length; length++) {
    let isJson = true;
    try {
      JSON.parse(withoutManagedFields(whole.slice(0, length), "event"));
    } catch {
      isJson = false;
    }
    assert(!isJson, `the first ${length} characters are valid JSON`);
  }
});
