/** Tests of cel(): what compiles, what expressions return, and their limits. */
import { z } from "zod";
import { assert, assertEquals, assertThrows, test } from "../../tests/testing.ts";
import { cel, CelEvaluationError } from "./cel_expression.ts";
import { defineResource } from "./define_resource.ts";
import { int64, quantity } from "./value_schemas.ts";

const Limits = z.object({
  min: z.int32(),
  max: z.int32(),
  big: int64().optional(),
  memory: quantity().optional(),
  names: z.array(z.string().max(63)).max(10),
  labels: z.record(z.string(), z.string()).optional(),
});
const limits = { min: 1, max: 3, names: ["a", "bb"] };

const results: readonly (readonly [expression: string, type: string, value: unknown])[] = [
  ["self.min <= self.max", "bool", true],
  ["self.names.map(name, size(name))", "list(int)", [1, 2]],
  ["self.max - self.min", "int", 2],
  ["9007199254740993 + self.min", "int", 9007199254740994n],
  ["double(self.max) / 2.0", "double", 1.5],
  ["uint(self.max)", "uint", 3],
  ["{'a': self.min}", "map(string, int)", { a: 1 }],
  ["duration('90s')", "duration", "90s"],
  ["timestamp('2026-01-02T03:04:05Z')", "timestamp", "2026-01-02T03:04:05Z"],
  ["self.?labels", "optional_type(map(string, string))", null],
  ["has(self.labels)", "bool", false],
  ["b'ab'", "bytes", new Uint8Array([97, 98])],
];

for (const [expression, type, value] of results) {
  test(`cel("${expression}") returns JSON of the type ${type}`, () => {
    const compiled = cel(expression, Limits);
    assertEquals([compiled.evaluate(limits), compiled.resultType], [value, type]);
  });
}

test("cel() refuses what does not compile, and shows the place", () => {
  assertThrows(() => cel("self.mim > 1", Limits), /^Cannot compile "self\.mim > 1": .*undefined field 'mim'/s);
  assertThrows(
    () => cel("self.max > int('x')", Limits),
    /a constant part fails: type conversion error from .string. to .int./,
  );
  assertThrows(() => cel("self.min >", Limits), /Syntax error/);
  assertThrows(() => cel("self.names > 1", Limits), /found no matching overload/);
  assertThrows(() => cel("oldSelf.min > 1", Limits), /undeclared reference to 'oldSelf'/);
  assertThrows(() => cel("true", Limits, { maxCost: 0 }), /maxCost 0 is not above 0/);
});

test("an evaluation that fails, or whose value is not JSON, is a CelEvaluationError", () => {
  const errorOf = (expression: string, self = limits) => {
    try {
      return cel(expression, Limits).evaluate(self);
    } catch (error) {
      return error instanceof CelEvaluationError ? error.message.replace(/^Cannot evaluate ".*": /, "") : error;
    }
  };
  assertEquals(errorOf("self.max / (self.min - 1)"), "division by zero");
  assertEquals(errorOf("self.names[5]"), "index out of bounds: 5");
  assertEquals(errorOf("quantity('1Mi')"), "its value is not JSON. Let it return a text or a number of the value");
});

test("the cost of an evaluation is limited, and estimated from the limits of the type", () => {
  const loop = "self.names.all(a, self.names.all(b, self.names.all(c, a + b + c != '')))";
  assertThrows(() => cel(loop, Limits, { maxCost: 20 }).evaluate(limits), /it costs more than 20\. Limit the sizes/);
  assertEquals(cel(loop, Limits).evaluate(limits), true);
  const { estimatedCost } = cel(loop, Limits);
  assert(estimatedCost > 1_000 && estimatedCost < 1_000_000, String(estimatedCost));
  const Unlimited = z.object({ names: z.array(z.string()) });
  assert(cel(loop, Unlimited).estimatedCost > 1e12);
});

test("a kind of defineResource() is self with its metadata", () => {
  const Site = defineResource({
    ...{ group: "example.dev", version: "v1", kind: "Site", scope: "Namespaced" },
    spec: z.object({ host: z.string().max(253) }),
  });
  const site = Site.make({ metadata: { name: "a" }, spec: { host: "a.example.dev" } });
  assertEquals(cel("self.spec.host.startsWith(self.metadata.name + '.')", Site).evaluate(site), true);
  assertThrows(() => cel("self.metadata.labels.size() > 0", Site), /undefined field 'labels'/);
});
