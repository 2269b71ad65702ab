/**
 * Patches of users: JSON patch, merge patch and strategic merge patch. An input has an object and a patch.
 *
 * Promises: a patch gives an object or a StatusError; JSON patch and merge patch agree with other code where that accepts the
 * same patch; the patch that a webhook computes between two values makes the second of the first.
 */
import fc from "fast-check";
import fastJsonPatch from "fast-json-patch";
import { isDeepEqual, parseExactJson, printExactJson } from "../../../src/api/mod.ts";
import { isJsonObject, type Json, type JsonObject, StatusError } from "../../../src/apiserver/model/mod.ts";
import { jsonPatch, mergePatch, strategicMergePatch } from "../../../src/apiserver/patch/mod.ts";
import { thing, thingType } from "../../../src/apiserver/patch/testing/things.ts";
import { jsonPatch as patchBetween } from "../../../src/webhook/json_patch.ts";
import { Finding, type FuzzTarget, isSameJson, joinParts, orRefused, partsOf, promise } from "../target.ts";

function parsed(text: string): Json | undefined {
  // Every value of JSON text is Json.
  const value = orRefused(() => parseExactJson(text), SyntaxError);
  return value as Json | undefined;
}

function asJson(value: unknown): JsonObject {
  return JSON.parse(printExactJson(value));
}

/** RFC 7386, in its own words. */
function mergedAsRfc(target: unknown, patch: unknown): unknown {
  if (typeof patch !== "object" || patch === null || Array.isArray(patch)) return patch;
  const isObject = typeof target === "object" && target !== null && !Array.isArray(target);
  const result = new Map<string, unknown>(isObject ? Object.entries(target) : []);
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) result.delete(key);
    else result.set(key, mergedAsRfc(result.get(key), value));
  }
  return Object.fromEntries(result);
}

/** The API server drops nulls in lists of objects, and the RFC keeps them. */
function hasNull(value: unknown): boolean {
  return value === null || (typeof value === "object" && Object.values(value).some(hasNull));
}

const plainOperations = new Set(["add", "remove", "replace", "move", "test"]);

/** Compares with fast-json-patch, which knows no negative indices and no integers above 2^53. */
function checkAgainstLibrary(object: JsonObject, patch: Json, ours: unknown): void {
  if (!Array.isArray(patch) || !patch.every((one) => isJsonObject(one) && plainOperations.has(String(one.op)))) return;
  const text = JSON.stringify(patch.map((one: JsonObject) => [one.path, one.from])) ?? "";
  if (/__proto__|constructor|prototype|\/-\d/.test(text)) return;
  let theirs: unknown;
  try {
    theirs = fastJsonPatch.applyPatch(asJson(object), JSON.parse(printExactJson(patch)), true, true).newDocument;
  } catch {
    return;
  }
  if (!isDeepEqual(asJson(ours), theirs)) {
    throw new Finding("A JSON patch has another result than with fast-json-patch");
  }
}

const operation = fc.record({
  op: fc.constantFrom("add", "remove", "replace", "move", "copy", "test"),
  path: fc.constantFrom(
    "/spec/items/0",
    "/spec/items/-",
    "/metadata/labels/a~1b",
    "/spec",
    "",
    "/spec/tags/-1",
    "/spec/free/a",
    "/a",
  ),
  from: fc.constantFrom("/spec/items", "/spec", "/metadata/name", "/spec/items/0/name"),
  value: fc.jsonValue({ maxDepth: 2 }),
}, { requiredKeys: ["op", "path"] });

const spec: JsonObject = {
  alpha: "x",
  items: [{ name: "a", value: "1", tags: ["t"] }, { name: "b" }],
  ports: [{ port: 80, protocol: "TCP" }, { port: 80, protocol: "UDP" }],
  tags: ["a", "b"],
  free: { a: [1, null, { b: 2 }] },
};
const object = JSON.stringify(thing(spec));
const listPatch = fc.record({
  items: fc.array(
    fc.record({
      name: fc.constantFrom("a", "b", "c"),
      "$patch": fc.constantFrom("delete", "replace", "merge", "x"),
      value: fc.string(),
    }, { requiredKeys: [] }),
  ),
  "$setElementOrder/items": fc.array(fc.record({ name: fc.constantFrom("a", "b", "c") })),
  "$deleteFromPrimitiveList/tags": fc.array(fc.constantFrom("a", "b", 1)),
  "$setElementOrder/tags": fc.array(fc.constantFrom("a", "b", "c")),
  "$retainKeys": fc.array(fc.constantFrom("items", "tags")),
  tags: fc.array(fc.constantFrom("a", "b", "d")),
  ports: fc.array(fc.record({ port: fc.constantFrom(80, 81, "80"), protocol: fc.string() }, { requiredKeys: [] })),
}, { requiredKeys: [] });

/** The target. */
export const target: FuzzTarget = {
  seeds: [
    joinParts(
      object,
      '[{"op":"add","path":"/spec/items/-","value":{"name":"c"}},{"op":"copy","from":"/spec","path":"/spec/free/b"}]',
    ),
    joinParts(
      object,
      '{"spec":{"items":[{"$patch":"delete","name":"a"}],"$setElementOrder/items":[{"name":"b"}],"alpha":null}}',
    ),
    joinParts(object, '{"spec":{"$patch":"replace","tags":["x"]},"metadata":{"$retainKeys":["name"]}}'),
    joinParts(object, JSON.stringify(thing({ tags: ["c"] }))),
  ],
  arbitrary: fc.oneof(
    fc.array(operation, { maxLength: 5 }),
    listPatch.map((spec) => ({ spec })),
    fc.jsonValue().map((spec) => ({ spec })),
  ).map((patch) => joinParts(object, JSON.stringify(patch))),
  words: [
    "$patch",
    "$retainKeys",
    "$setElementOrder/items",
    "$deleteFromPrimitiveList/tags",
    "/spec/items/0",
    "/-",
    "~1",
    "~0",
    "~2",
    '"op":',
    "copy",
    "test",
    "null",
    "finalizers",
    "replace",
  ],
  check(input) {
    const [object, patch] = partsOf(input, 2).map(parsed);
    if (!isJsonObject(object) || patch === undefined) return;
    const before = printExactJson(object);
    const byJson = orRefused(() => jsonPatch(object, patch), StatusError);
    if (byJson !== undefined) checkAgainstLibrary(object, patch, byJson.object);
    const byMerge = orRefused(() => mergePatch(object, patch), StatusError);
    if (byMerge !== undefined && !hasNull(object) && !(/\[[^]*null/.test(printExactJson(patch)))) {
      promise(
        isDeepEqual(asJson(byMerge), mergedAsRfc(asJson(object), asJson(patch))),
        "A merge patch is not that of RFC 7386",
      );
    }
    const byStrategy = orRefused(() => strategicMergePatch(object, patch, thingType), StatusError);
    for (const after of [byJson?.object, byMerge, byStrategy]) {
      if (after === undefined) continue;
      printExactJson(after);
      // Every value of our own patches is Json.
      const operations = patchBetween(object, after) as unknown as Json;
      const again = jsonPatch(object, operations, "Ignore").object;
      promise(isSameJson(again, after), "The patch of a webhook does not give the value");
    }
    promise(printExactJson(object) === before, "A patch changes its object");
  },
};
