import fc from "fast-check";
import { assert, assertEquals, test } from "../../tests/testing.ts";
import { review } from "./testing/reviews.ts";
import { decodeAdmissionReview, encodeAdmissionReview } from "./admission_review.ts";

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
});

test("[67] a response is an AdmissionReview in the version of the request", () => {
  assertEquals(JSON.parse(encodeAdmissionReview("v1beta1", "u", { allowed: true })), {
    apiVersion: "admission.k8s.io/v1beta1",
    kind: "AdmissionReview",
    response: { uid: "u", allowed: true },
  });
});
