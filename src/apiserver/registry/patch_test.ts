import { assertEquals, test } from "../../../tests/testing.ts";
import { patchedText, restoringText } from "./patch.ts";

/** Errors of the JSON decoder of Go, and those of its decoder for maps. */
const messages: readonly (readonly [json: string, map: string])[] = [
  ["json: cannot unmarshal string into Go struct field A.b of type []v1.C", "cannot restore slice from string"],
  ["json: cannot unmarshal array into Go struct field A.b of type map[string]string", "cannot restore map from slice"],
  ["json: cannot unmarshal bool into Go struct field A.b of type v1.D", "cannot restore struct from: bool"],
  ["json: cannot unmarshal number into Go struct field A.b of type string", "cannot convert int64 to string"],
  ["json: cannot unmarshal number 1.5 into Go struct field A.b of type int32", "cannot convert float64 to int32"],
  ["json: cannot unmarshal object into Go struct field A.b of type bool", "unrecognized type: bool"],
  ["something else", "something else"],
];

test("restoringText() returns the message of the decoder for maps", () => {
  for (const [json, map] of messages) assertEquals(restoringText(json), map);
});

test("patchedText() sorts changed fields, and writes the others in the order of Go", () => {
  const metadata = { labels: { b: "2", a: "1" }, uid: "u", name: "n" };
  const old = { metadata, kind: "K", data: { b: "2" } };
  const fields = new Map([["data", { kind: "map", values: { kind: "any" }, isAtomic: false } as const]]);
  const type = { kind: "struct", fields, patch: new Map(), isAtomic: false, keepsUnknown: false } as const;
  assertEquals(
    patchedText({ ...old, data: { b: "<", a: 1 } }, old, type),
    '{"data":{"a":1,"b":"\\u003c"},"kind":"K","metadata":{"name":"n","uid":"u","labels":{"a":"1","b":"2"}}}',
  );
});
