import { assert, assertEquals, assertMatch, assertThrows, test } from "../../../tests/testing.ts";
import { type Json, type JsonObject, StatusError } from "../model/mod.ts";
import { type FieldValidation, jsonPatch, PatchApplyError } from "./json_patch.ts";

const object: JsonObject = { a: { b: [1, 2, 3], c: null }, "x/y~z": 1, s: "t" };

/** Operations in short form, and the object after them. */
const applied: readonly (readonly [operations: Json, after: Json])[] = [
  [[{ op: "add", path: "/a/d", value: 1 }], { ...object, a: { b: [1, 2, 3], c: null, d: 1 } }],
  [[{ op: "add", path: "/a/b/-", value: 4 }], { ...object, a: { b: [1, 2, 3, 4], c: null } }],
  [[{ op: "add", path: "/a/b/1", value: 9 }], { ...object, a: { b: [1, 9, 2, 3], c: null } }],
  [[{ op: "add", path: "/a/b/-1", value: 9 }], { ...object, a: { b: [1, 2, 3, 9], c: null } }],
  [[{ op: "add", path: "/s" }], { ...object, s: null }],
  [[{ op: "remove", path: "/a/b/-1" }], { ...object, a: { b: [1, 2], c: null } }],
  [[{ op: "remove", path: "/x~1y~0z" }], { a: { b: [1, 2, 3], c: null }, s: "t" }],
  [[{ op: "replace", path: "/a/b/0", value: { n: 1 } }], { ...object, a: { b: [{ n: 1 }, 2, 3], c: null } }],
  [[{ op: "replace", path: "/nothing", value: 1 }], { ...object, nothing: 1 }],
  [[{ op: "replace", path: "", value: { only: 1 } }], { only: 1 }],
  [[{ op: "move", from: "/a/b", path: "/b" }], { ...object, a: { c: null }, b: [1, 2, 3] }],
  [[{ op: "copy", from: "/a/b", path: "/b" }, { op: "remove", path: "/b/0" }], { ...object, b: [2, 3] }],
  [[{ op: "copy", from: "/nothing", path: "/b" }], { ...object, b: null }],
  [[{ op: "test", path: "/a", value: { c: null, b: [1, 2, 3] } }], object],
  [[{ op: "test", path: "/nothing", value: null }, { op: "test", path: "/a/c" }], object],
  [[{ op: "test", path: "", value: object }], object],
  [[], object],
  [[{ op: "add", path: "any/s", value: 2 }], { ...object, s: 2 }],
];

for (const [operations, after] of applied) {
  test(`JSON patch ${JSON.stringify(operations)}`, () => {
    assertEquals(jsonPatch(object, operations).object, after);
  });
}

const rejected: readonly Json[] = [
  [{ op: "add", path: "/no/where", value: 1 }],
  [{ op: "add", path: "", value: {} }],
  [{ op: "add", path: "/a/b/9", value: 1 }],
  [{ op: "add", path: "/a/b/x", value: 1 }],
  [{ op: "add", path: "/s/x", value: 1 }],
  [{ op: "add", path: "/a/c/x", value: 1 }],
  [{ op: "add" }],
  [{ op: "add", path: "s", value: 1 }],
  [{ op: "remove", path: "/nothing" }],
  [{ op: "remove", path: "/a/b/3" }],
  [{ op: "remove", path: "/a/b/-4" }],
  [{ op: "replace", path: "/a/b/3", value: 1 }],
  [{ op: "replace", path: "", value: 1 }],
  [{ op: "replace", path: "", value: [] }],
  [{ op: "move", from: "/nothing", path: "/s" }],
  [{ op: "move", from: "/a", path: "/a/b" }],
  [{ op: "move", path: "/a" }],
  [{ op: "copy", from: "/no/where", path: "/s" }],
  [{ op: "test", path: "/s", value: "u" }],
  [{ op: "test", path: "/s" }],
  [{ op: "test", path: "/nothing", value: 1 }],
  [{ op: "other", path: "/s" }],
  [{}],
  [null],
];

for (const operations of rejected) {
  test(`JSON patch ${JSON.stringify(operations)} cannot be applied`, () => {
    assertEquals(statusErrorOf(operations), [
      422,
      "Invalid",
      "the server rejected our request due to an error in our request",
    ]);
  });
}

function statusErrorOf(patch: Json, validation?: FieldValidation): unknown {
  try {
    return jsonPatch(object, patch, validation);
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    return [error.status.code, error.status.reason, error.status.message];
  }
}

/** A patch that doubles the size of `/a` with each operation. */
function doublings(count: number): Json {
  return Array.from({ length: count }, (_, index) => ({ op: "copy", from: "/a", path: `/a/copy${index}` }));
}

test("copies of a JSON patch add 3 MiB in total at most, so a small patch cannot create a large object", () => {
  assert(JSON.stringify(jsonPatch(object, doublings(10)).object).length > 10_000);
  const error = assertThrows(() => jsonPatch(object, doublings(40)), /error in our request/);
  assert(error instanceof PatchApplyError);
  assertMatch(error.why, /^Unable to complete the copy, the accumulated size .* exceeding the limit 3145728$/);
});

test("a malformed JSON patch is a bad request, with the message of its decoder", () => {
  assertEquals(
    statusErrorOf({}),
    [
      400,
      "BadRequest",
      "error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp",
    ],
  );
  assertEquals(
    statusErrorOf({}, "Ignore"),
    [400, "BadRequest", "json: cannot unmarshal object into Go value of type jsonpatch.Patch"],
  );
  assertEquals(
    statusErrorOf(["x"], "Ignore"),
    [400, "BadRequest", "json: cannot unmarshal string into Go value of type jsonpatch.Operation"],
  );
  assertEquals(
    statusErrorOf([{ op: 1, path: "/s" }]),
    [
      400,
      "BadRequest",
      "error decoding patch: json: cannot unmarshal number into Go struct field jsonPatchOp.op of type string",
    ],
  );
});

test("unknown fields of a JSON patch are reported, unless validation is Ignore", () => {
  const patch = [{ op: "add", path: "/s", value: 1, extra: 2 }];
  assertEquals(jsonPatch(object, patch, "Strict").problems, ['json patch unknown field "[0].extra"']);
  assertEquals(jsonPatch(object, patch, "Ignore").problems, []);
});

test("a JSON patch may have up to 10,000 operations", () => {
  const operations = Array.from({ length: 10_001 }, () => ({ op: "test", path: "/s", value: "t" }));
  assertEquals(jsonPatch(object, operations.slice(1)).object, object);
  assertEquals(statusErrorOf(operations), [
    413,
    "RequestEntityTooLarge",
    "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001",
  ]);
});

test("a JSON patch writes keys with any name, but no prototype", () => {
  const patch: Json = JSON.parse(
    '[{"op":"add","path":"/__proto__","value":{"polluted":1}},{"op":"add","path":"/constructor","value":2}]',
  );
  const { object: after } = jsonPatch({}, patch);
  assertEquals(JSON.stringify(after), '{"__proto__":{"polluted":1},"constructor":2}');
  assertEquals(Object.hasOwn(Object.prototype, "polluted"), false);
  assertThrows(() => jsonPatch({}, [{ op: "add", path: "/__proto__/polluted", value: 1 }]));
  assertThrows(() => jsonPatch({}, [{ op: "remove", path: "/toString" }]));
});

test("a JSON patch changes neither the object nor the patch, and shares nothing with them", () => {
  const value = { deep: [1] };
  const patch: Json = [{ op: "add", path: "/n", value }, { op: "add", path: "/n/deep/-", value: 2 }, {
    op: "remove",
    path: "/a/b/0",
  }];
  const before = JSON.stringify([object, patch]);
  jsonPatch(object, patch);
  assertEquals(JSON.stringify([object, patch]), before);
});
