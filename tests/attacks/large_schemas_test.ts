/**
 * Attacks by product: a CustomResourceDefinition and an object are each below the limit of a request, and validating one with
 * the other is hours of work or gigabytes of messages and defaults. A generator writes schemas of hostile nodes and objects
 * for them; expressions are made of functions whose result is larger than their arguments.
 *
 * The rules: definitions that cannot be compiled quickly are refused before; every object gets an answer of bounded size, and
 * the server reports no internal error; the cost of an expression follows its work. There is no clock here: without the
 * budgets these requests take many minutes, or end with the memory.
 */
import { KubernetesTestServer } from "../../src/apiserver/testing/kubernetes_test_server.ts";
import { CelEnvironment, stringType } from "../../src/cel/mod.ts";
import { compileValidator, readSchema, WorkBudget, WorkExceededError } from "../../src/apiserver/crd/schema/mod.ts";
import { type Json, type JsonObject, patternSize } from "../../src/apiserver/model/mod.ts";
import { seededRandom } from "../../src/async/mod.ts";
import { assert, assertEquals, assertStringIncludes, assertThrows, test } from "../testing.ts";

const random = seededRandom(14);
const below = (count: number) => Math.floor(random.next() * count);
const pick = <T>(values: readonly T[]): T => values[below(values.length)] as T;
const many = <T>(count: number, make: (index: number) => T) => Array.from({ length: count }, (_, index) => make(index));
const fields = (count: number, make: (index: number) => Json) =>
  Object.fromEntries(many(count, (index) => [`f${index}`, make(index)]));

const crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const things = "/apis/example.com/v1/namespaces/default/things";

function definition(...specs: readonly JsonObject[]): JsonObject {
  const names = { plural: "things", kind: "Thing" };
  const versions = specs.map((spec, index) => ({
    name: `v${index + 1}`,
    served: true,
    storage: index === 0,
    schema: { openAPIV3Schema: { type: "object", properties: { spec } } },
  }));
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "things.example.com" },
    spec: { group: "example.com", names, scope: "Namespaced", versions },
  };
}

const thing = (spec: Json) => ({ apiVersion: "example.com/v1", kind: "Thing", metadata: { name: "a" }, spec });

const text = { type: "string" };
const refused: Readonly<Record<string, readonly [problem: string, definition: JsonObject]>> = {
  "many properties": [
    "more than 100000 objects",
    definition({ type: "object", properties: fields(110_000, () => text) }),
  ],
  "many versions": [
    "more than 100000 objects",
    definition(...many(100, () => ({ type: "object", properties: fields(1_100, () => text) }))),
  ],
  "many alternatives": ["more than 100000 objects", definition({ type: "object", oneOf: many(100_001, () => ({})) })],
  "many patterns": [
    "more than 200000 instructions",
    definition({
      type: "object",
      properties: fields(5_000, (index) => ({ type: "string", pattern: `^[a-z]{1,100}x${index}$` })),
    }),
  ],
  "counted repetitions in repetitions": [
    "more than 200000 instructions",
    definition({
      type: "object",
      properties: fields(6, (index) => ({ type: "string", pattern: `((a{30}){30}){39}${index}` })),
    }),
  ],
};

for (const [name, [problem, body]] of Object.entries(refused)) {
  test(`[security 20] a definition with ${name} is refused before it is compiled`, async () => {
    using server = new KubernetesTestServer();
    const answer = await server.send("POST", crds, body);
    assertEquals(answer.code, 422);
    assertStringIncludes(answer.body.message, problem);
    assert(JSON.stringify(answer.body).length < 2_000);
    assertEquals(server.errors, []);
  });
}

test("[security 20] a pattern that occurs many times counts once", async () => {
  using server = new KubernetesTestServer();
  const pattern = "^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$";
  const properties = fields(5_000, () => ({ type: "string", pattern }));
  await server.create(crds, definition({ type: "object", properties }));
});

/** A schema of a list, and a list of items that are wrong or expensive for it. */
const pairs: readonly (() => readonly [items: JsonObject, items: Json])[] = [
  () => [
    { type: "string", enum: many(below(40_000) + 1, (index) => `e${index}`) },
    many(100_000, (index) => `w${index}`),
  ],
  () => [
    { "type": "object", "x-kubernetes-preserve-unknown-fields": true, "enum": many(20_000, (index) => ({ a: index })) },
    many(100_000, (index) => ({ a: index })),
  ],
  () => [
    { type: "integer", [pick(["anyOf", "oneOf"])]: many(20_000, (index) => ({ maximum: index })) },
    many(100_000, () => 10 ** 6),
  ],
  () => [{ type: "string", allOf: many(20_000, (index) => ({ minLength: index + 5 })) }, many(100_000, () => "a")],
  () => [
    { type: "string", pattern: pick(["(a|b)*a(a|b){1000}[cd]$", "((a?){30}){30}[cd]$", "(.*){500}[^ab]$"]) },
    many(20, () => pick(["a", "ab", "aab", "b"]).repeat(10_000)),
  ],
  () => [
    { type: "object", properties: { a: { type: "string", default: "x".repeat(1_000_000) } } },
    many(100_000, () => ({})),
  ],
  () => [
    { type: "object", properties: fields(5_000, () => ({ type: "string", default: "" })) },
    many(100_000, () => ({})),
  ],
  () => [{ type: "object", required: many(20_000, (index) => `r${index}`) }, many(100_000, () => ({}))],
  () => [{ type: "object", additionalProperties: { type: "integer" } }, [
    { ["k".repeat(500_000)]: "" },
    ...many(100_000, () => ({ a: "" })),
  ]],
  () => [{ type: "object", properties: { a: text } }, many(30_000, (index) => ({ [`u${index}`]: 1 }))],
  () => [
    { type: "object", additionalProperties: { type: "object", properties: {} } },
    [{ ["k".repeat(500_000)]: fields(100_000, () => 1) }],
  ],
];

pairs.forEach((pair, index) => {
  test(`[95] an object whose validation is the product of two large texts gets a bounded answer: ${index}`, async () => {
    using server = new KubernetesTestServer();
    const [items, list] = pair();
    await server.create(crds, definition({ type: "array", items }));
    const body = JSON.stringify(thing(list));
    const answer = await server.send("POST", `${things}?fieldValidation=${pick(["Strict", "Warn", "Ignore"])}`, body);
    assert([201, 400, 413, 422, 500].includes(answer.code), `${answer.code}`);
    // 500 is for objects above the limit of etcd only.
    if (answer.code === 500) assertEquals(answer.body.message, "etcdserver: request is too large");
    if (answer.code !== 201) assert(JSON.stringify(answer.body).length < 4 * 1024 * 1024);
    assertEquals(server.errors, []);
  });
});

/** A schema of random hostile parts; `depth` bounds its nesting, and `width` its alternatives. */
function hostileSchema(depth: number, width: number): JsonObject {
  if (depth === 0) {
    return pick<JsonObject>([{ type: "integer" }, { type: "string", maxLength: 1 }, { enum: ["a"] }, {
      pattern: "^(a|b){50}$",
    }]);
  }
  const part = () => hostileSchema(depth - 1, width);
  return pick<() => JsonObject>([
    () => ({ type: "array", items: part() }),
    () => ({ type: "object", additionalProperties: part() }),
    () => ({ type: "object", properties: fields(width, part) }),
    () => ({ [pick(["anyOf", "oneOf", "allOf"])]: many(width, part) }),
  ])();
}

function hostileValue(depth: number, width: number): Json {
  if (depth === 0) return pick<Json>([1, "aa", "ab".repeat(25), null, {}, []]);
  return below(2) === 0
    ? many(width, () => hostileValue(depth - 1, width))
    : fields(width, () => hostileValue(depth - 1, width));
}

test("[95] the validation of any value by any schema ends within its work, with at most 10,001 errors", () => {
  let stopped = 0;
  for (let round = 0; round < 40; round++) {
    const validate = compileValidator(readSchema(hostileSchema(1 + below(4), 1 + below(8))));
    const { errors } = validate(hostileValue(1 + below(4), 1 + below(30)));
    assert(errors.length <= 10_001, `${errors.length} errors`);
    if (errors.some(({ message }) => message.includes("the rest is not validated"))) stopped++;
  }
  const wide = readSchema({ type: "array", items: { oneOf: many(1_000, () => ({ maximum: 1 })) } });
  if (compileValidator(wide)(many(100_000, () => 2)).errors.at(-1)?.message.includes("not validated")) stopped++;
  assert(stopped > 0, "no validation reached its limit");
});

test("a budget ends when it is used up, and errors cost more than visits", () => {
  const budget = new WorkBudget(2_000);
  budget.spend(1_000);
  budget.spendOnError("x".repeat(100));
  assertEquals(budget.left, 400);
  assert(assertThrows(() => budget.spendOnError("")) instanceof WorkExceededError);
});

const environment = new CelEnvironment(new Map([["s", stringType]]));

/** The cost of an expression about a text. */
function costOf(source: string, s: string): number {
  const compiled = environment.compile(source);
  if (compiled.kind === "failed") throw new Error(compiled.issues[0]?.message);
  const outcome = compiled.program.run([s]);
  return outcome.kind === "exceeded" ? Infinity : outcome.cost;
}

test("[security 20] the cost of an expression follows the size of its results, its patterns and its zones", () => {
  for (let round = 0; round < 40; round++) {
    const size = 100 * (1 + below(50));
    const s = "ab".repeat(size);
    assert(costOf(`s.replace('a', '${"x".repeat(100)}').size() > 0`, s) >= size * 100 / 10);
    assert(costOf("'%s%s%s'.format([s, s, s]).size() > 0", s) >= 6 * size / 10);
    const source = `((a|b){${1 + below(30)}}){${1 + below(30)}}[cd]$`;
    assert(costOf(`s.matches('${source}')`, s) >= (patternSize(source) - source.length) * 2 * size / 8);
    // A pattern that the expression computes is compiled, and costs the same in each run.
    const fresh = `x{${500 + below(400)}}${round}`;
    const computed = `s.find('${fresh.slice(0, 5)}' + '${fresh.slice(5)}') == ''`;
    const cost = costOf(computed, "");
    assert(cost >= 4 * patternSize(fresh));
    assertEquals(costOf(computed, ""), cost);
    assert(costOf(`s.find('${fresh}') == ''`, "") < 4 * patternSize(fresh));
  }
  assert(costOf("timestamp('2024-01-01T00:00:00Z').getHours('Asia/Tokyo') > 0", "") > 50);
  assert(costOf("timestamp('2024-01-01T00:00:00Z').getHours() > 0", "") < 20);
});
