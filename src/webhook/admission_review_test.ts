import fc from "fast-check";
import { assert, assertEquals, test } from "../../tests/testing.ts";
import { review } from "./testing/reviews.ts";
import { decodeAdmissionReview, encodeAdmissionReview, reviewSchema, usualReview } from "./admission_review.ts";

test("[66] decoding never throws or changes a prototype", () => {
  // Invariant: a result for every text. The texts are random, random JSON, and reviews with a random part.
  const hostile = fc.constantFrom("__proto__", "constructor", "toString", "", "\u0000", "a".repeat(300));
  const text = fc.oneof(
    fc.string(),
    fc.json(),
    fc.tuple(hostile, fc.jsonValue()).map(([key, value]) =>
      `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"1",${JSON.stringify(key)}:${
        JSON.stringify(value)
      },"operation":"CREATE","kind":{"version":"v1","kind":"A"},"object":{${JSON.stringify(key)}:1}}}`
    ),
    fc.nat({ max: 2_000 }).map((cut) => JSON.stringify(review()).slice(0, cut)),
  );
  const before = Object.getOwnPropertyNames(Object.prototype).length;
  fc.assert(
    fc.property(text, (body) => {
      const decoded = decodeAdmissionReview(body);
      assert(decoded.kind === "review" || decoded.message !== "");
    }),
    { numRuns: 3_000 },
  );
  assertEquals(Object.getOwnPropertyNames(Object.prototype).length, before);
});

test("a review in its usual form is what the schema reads, and every other one is left to the schema", () => {
  const withoutAbsent = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
  for (const operation of ["CREATE", "UPDATE", "DELETE", "CONNECT"]) {
    assert(usualReview(review({ operation, subResource: "scale", namespace: "default" })) !== undefined);
  }
  assert(usualReview(review({}, "v1beta1")) !== undefined);
  // Invariant: whatever stands in place of a part of a review, it is accepted with the schema's result or not at all.
  const parts = [
    [],
    ["apiVersion"],
    ["kind"],
    ["request"],
    ...Object.keys(review().request).map((key) => ["request", key]),
  ];
  const deeper = ["group", "version", "kind"].map((key) => ["request", "kind", key]);
  const user = ["username", "uid", "groups"].map((key) => ["request", "userInfo", key]);
  const odd = fc.oneof(
    fc.jsonValue(),
    fc.constantFrom("", "CREATE", "create", "v1", [""], ["a", 1], { version: "v1", kind: "A" }, true, null, undefined),
  );
  fc.assert(
    fc.property(fc.constantFrom(...parts, ...deeper, ...user, ["request", "extra"]), odd, (path, value) => {
      const changed = replacedAt(review(), path, value);
      const usual = usualReview(changed);
      if (usual === undefined) return;
      const read = reviewSchema.safeParse(changed);
      assert(read.success);
      assertEquals(withoutAbsent(usual), withoutAbsent(read.data));
    }),
    { numRuns: 3_000 },
  );
});

/** A copy of `root` with `value` in one place. */
function replacedAt(root: unknown, [key, ...rest]: readonly string[], value: unknown): unknown {
  if (key === undefined) return value;
  const object = typeof root === "object" && root !== null ? root : {};
  return { ...object, [key]: replacedAt(Reflect.get(object, key), rest, value) };
}

test("[94] a key __proto__ in the object stays a key", () => {
  const body = JSON.stringify(review()).replace('"spec":{}', '"spec":{"labels":{"__proto__":"x","constructor":"y"}}');
  const decoded = decodeAdmissionReview(body);
  assert(decoded.kind === "review");
  assertEquals(JSON.stringify(decoded.request.object).includes('"__proto__":"x"'), true);
});

test("[95] decoding accepts 200 levels of nesting and rejects 201; brackets in strings do not count", () => {
  const nested = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`;
  const messageOf = (text: string) => {
    const decoded = decodeAdmissionReview(text);
    return decoded.kind === "malformed" ? decoded.message : "";
  };
  assertEquals(messageOf(nested(201)), "JSON is nested deeper than 200");
  assertEquals(messageOf("[".repeat(1_000_000)), "JSON is nested deeper than 200");
  assert(!messageOf(nested(200)).includes("nested"));
  assert(!messageOf(JSON.stringify(`\\"${"[".repeat(500)}`)).includes("nested"));
  // Side by side, behind a text that ends in a backslash, and in a body that is long enough to be weighed.
  const padding = " ".repeat(60_000);
  for (const space of ["", padding]) {
    assert(!messageOf(`${space}[${nested(199)},${"[],{},".repeat(300)}0]`).includes("nested"));
    assertEquals(messageOf(`${space}["\\\\",${nested(200)}]`), "JSON is nested deeper than 200");
    assertEquals(messageOf(`${space}${'{"a":'.repeat(201)}`), "JSON is nested deeper than 200");
    assertEquals(messageOf(`${space}${'[{"a":'.repeat(101)}`), "JSON is nested deeper than 200");
  }
});

test("[67] a response is an AdmissionReview in the version of the request", () => {
  assertEquals(JSON.parse(encodeAdmissionReview("v1beta1", "u", { allowed: true })), {
    apiVersion: "admission.k8s.io/v1beta1",
    kind: "AdmissionReview",
    response: { uid: "u", allowed: true },
  });
});
