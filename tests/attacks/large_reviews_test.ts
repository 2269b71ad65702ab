/**
 * Attacks by size on webhooks: anyone who reaches the port may send 7 MiB. A generator writes reviews whose objects, lists,
 * maps and fields are wrong thousands of times, at every place of a schema.
 *
 * The rules: the answer is small and names at most 20 problems, and no more messages are created than that; a body that
 * would need much more memory than its own size is refused before it is parsed.
 */
import { seededRandom } from "../../src/async/mod.ts";
import { defineResource, z } from "../../src/schema/mod.ts";
import { allow, converting, validating, webhookHandler } from "../../src/webhook/mod.ts";
import { assert, assertEquals, assertStringIncludes, test } from "../testing.ts";

const Thing = defineResource({
  group: "example.dev",
  version: "v1",
  kind: "Thing",
  scope: "Cluster",
  spec: z.object({
    texts: z.array(z.string()).optional(),
    lists: z.array(z.array(z.int32())).optional(),
    objects: z.array(z.object({ name: z.string(), size: z.int32() })).optional(),
    labels: z.record(z.string(), z.string()).optional(),
    groups: z.record(z.string(), z.array(z.object({ a: z.boolean() }))).optional(),
    few: z.array(z.string()).max(3).optional(),
  }),
});
const handler = webhookHandler([validating(Thing, { create: () => allow() }), converting(Thing, [])]);
const path = "/validate-example-dev-v1-thing";

const random = seededRandom(14);
const wrong = ["1", "null", "{}", "[]", "true", "-0.5", '"text"'];

/** Values that fit no schema of this place; `right` is the one that would. */
function wrongValues(count: number, right: string): readonly string[] {
  const allowed = wrong.filter((value) => value !== right);
  return Array.from({ length: count }, () => allowed[Math.floor(random.next() * allowed.length)] ?? "1");
}

const list = (values: readonly string[]) => `[${values.join(",")}]`;
const record = (values: readonly string[]) => `{${values.map((value, at) => `"k${at}":${value}`).join(",")}}`;

const count = 50_000;

/** The parts of a review that are wrong in many places. */
const parts: readonly (readonly [name: string, spec: string, groups?: string])[] = [
  ["a list of wrong texts", `{"texts":${list(wrongValues(count, '"text"'))}}`],
  ["a list of wrong lists", `{"lists":${list(wrongValues(count, "[]"))}}`],
  ["a list of lists with wrong items", `{"lists":${list(Array(5).fill(list(wrongValues(count / 5, "1"))))}}`],
  ["a list of wrong objects", `{"objects":${list(wrongValues(count, "none"))}}`],
  ["right items before wrong ones", `{"texts":${list([...Array(count).fill('""'), ...wrongValues(count, '"text"')])}}`],
  ["a map of wrong values", `{"labels":${record(wrongValues(count, '"text"'))}}`],
  ["a map of wrong lists", `{"groups":${record(Array(count).fill("[1]"))}}`],
  ["a list that is too long", `{"few":${list(wrongValues(count, "none"))}}`],
  ["a spec that is a list", list(wrongValues(count, "none"))],
  ["the groups of the user", "{}", list(wrongValues(count, '"text"'))],
];

function reviewOf(spec: string, groups = "[]"): string {
  const object = `{"apiVersion":"example.dev/v1","kind":"Thing","metadata":{"name":"a"},"spec":${spec}}`;
  const kind = '{"group":"example.dev","version":"v1","kind":"Thing"}';
  const user = `{"username":"a","groups":${groups}}`;
  return `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"1","kind":${kind},` +
    `"operation":"CREATE","userInfo":${user},"object":${object}}}`;
}

/** Sends a body. @returns the answer, and the number of messages that were created for it */
async function send(body: string, to = path): Promise<{ readonly text: string; readonly messages: number }> {
  const before = z.config().customError;
  let messages = 0;
  z.config({ customError: () => void messages++ });
  try {
    const headers = { "content-type": "application/json" };
    const response = await handler(new Request(`https://webhook.test${to}`, { method: "POST", headers, body }));
    return { text: await response.text(), messages };
  } finally {
    z.config({ customError: before });
  }
}

for (const [name, spec, groups] of parts) {
  test(`[66] a review with ${name} gets a small answer with at most 20 problems`, async () => {
    const { text, messages } = await send(reviewOf(spec, groups));
    const { response } = JSON.parse(text);
    assertEquals(response.allowed, false);
    const { causes = [] } = response.status.details ?? {};
    assert(causes.length <= 20, `${causes.length} causes`);
    assert(text.length < 16_384, `the answer has ${text.length} characters`);
    assert(messages >= 1 && messages <= 20, `${messages} messages`);
  });
}

test("all problems of a small object are reported together", async () => {
  const { text } = await send(reviewOf('{"texts":[1,2],"labels":{"a":1},"objects":[{}]}'));
  const fields = JSON.parse(text).response.status.details.causes.map(({ field }: { field: string }) => field);
  assertEquals(fields, [
    "spec.texts[0]",
    "spec.texts[1]",
    "spec.objects[0].name",
    "spec.objects[0].size",
    "spec.labels.a",
  ]);
});

/** Of what together may need 24 MiB of memory in an AdmissionReview, and 40 MiB in a ConversionReview. */
const tooMuch = "more objects, fields and values than";

const excesses: readonly (readonly [body: string, message: string])[] = [
  [reviewOf(list(Array(420_000).fill("{}"))), tooMuch],
  [reviewOf(list(Array(280_000).fill("[[]]"))), tooMuch],
  [reviewOf(list(Array(440_000).fill('""'))), tooMuch],
  [reviewOf(list(Array(1_800_000).fill("1"))), tooMuch],
  [reviewOf(list(Array.from({ length: 80_000 }, (_, at) => `{"k${at}":1}`))), tooMuch],
  [
    reviewOf(list(Array.from({ length: 80_000 }, (_, at) => `{"a${at % 300}":1,"b${Math.floor(at / 300)}":1}`))),
    tooMuch,
  ],
  [reviewOf(list(Array(5).fill(record(Array(90_000).fill("1"))))), tooMuch],
  [reviewOf(list(Array(10_001).fill("9007199254740993"))), "more than 10000 integers beyond 2^53"],
  [reviewOf(list(Array(10_001).fill("-9223372036854775808"))), "more than 10000 integers beyond 2^53"],
  [reviewOf(record(Array(100_001).fill("1"))), "more than 100000 fields"],
  [reviewOf(`{"a":${record(Array(100_001).fill("1"))}}`), "more than 100000 fields"],
  [reviewOf(`${"[".repeat(300)}${"]".repeat(300)}`), "nested deeper than 200"],
];

for (const [index, [body, message]] of excesses.entries()) {
  test(`[95] a review with ${message} is refused before it is parsed (${index})`, async () => {
    const { text, messages } = await send(body);
    assertStringIncludes(JSON.parse(text).response.status.message, message);
    assertEquals(messages, 0);
    assertStringIncludes((await send(body, "/convert")).text, message);
  });
}

test("many fields in many objects are no excess, and text that looks like JSON is not counted", async () => {
  const objects = list(Array(50_000).fill('{"name":"a:{[","size":1}'));
  const { text } = await send(reviewOf(`{"objects":${objects},"texts":["${"{[:".repeat(500_000)}"]}`));
  assertEquals(JSON.parse(text).response.allowed, true);
});

test("[95] dense objects of the size that etcd can hold are within the limits", async () => {
  const size = 3 * 1024 * 1024;
  const filled = (part: (at: number) => string) =>
    list(Array.from({ length: Math.floor(size / (part(0).length + 1)) }, (_, at) => part(at)));
  const parts = [
    // A managedFields entry, a small object, an address, a floating point number, microseconds since 1970.
    (at: number) => `{"k:${at % 1000 + 1000}":{"f:terminationMessagePath":{},"f:imagePullPolicy":{},"f:image":{}}}`,
    () => '{"name":"a","value":"b","size":1,"ready":true}',
    () => '"10.20.30.40"',
    () => "0.30000000000000004",
    () => "1700000000000000",
  ];
  for (const part of parts) {
    const { text } = await send(reviewOf(`{"few":${filled(part)}}`));
    // Its schema refuses it, so it was parsed.
    assertStringIncludes(JSON.parse(text).response.status.message, "Thing is invalid");
  }
});

test("a conversion with wrong objects gets a small answer", async () => {
  const objects = list(wrongValues(count, "none"));
  const request = `{"uid":"1","desiredAPIVersion":"example.dev/v1","objects":${objects}}`;
  const body = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":${request}}`;
  const { text } = await send(body, "/convert");
  assert(text.length < 1024, `the answer has ${text.length} characters`);
});
