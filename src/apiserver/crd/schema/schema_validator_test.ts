import { assertEquals, test } from "../../../../tests/testing.ts";
import { printExactJson } from "../../../api/mod.ts";
import type { Json, JsonObject } from "../../model/mod.ts";
import { readSchema } from "../../../cel/mod.ts";
import { compileValidator } from "./schema_validator.ts";

const cases: readonly (readonly [schema: JsonObject, value: Json, messages: readonly string[]])[] = [
  [{ type: "integer" }, 1, []],
  [{ type: "integer" }, 1.5, [
    'v in body must be of type integer: "number"',
    "Checked value must be of type integer (default format) in v",
  ]],
  [{ type: "string" }, 1, ['v in body must be of type string: "integer"']],
  [{ type: "object" }, [], ['v in body must be of type object: "array"']],
  [{ type: "integer", minimum: 2, maximum: 4 }, 1, ["v in body should be greater than or equal to 2"]],
  [{ type: "number", minimum: 2, exclusiveMinimum: true }, 2, ["v in body should be greater than 2"]],
  [{ type: "integer", multipleOf: 3 }, 4, ["v in body should be a multiple of 3"]],
  [{ type: "integer", maximum: 9007199254740991 }, 9007199254740993n, [
    "v in body should be less than or equal to 9007199254740991",
  ]],
  [{ type: "integer", format: "int32" }, -9007199254740993n, [
    "Checked value must be of type integer with format int32 in v",
  ]],
  [{ type: "integer", multipleOf: 3 }, 9007199254740993n, []],
  [{ type: "integer", multipleOf: 2 }, 9007199254740993n, ["v in body should be a multiple of 2"]],
  [{ type: "string", format: "cidr" }, "1.2.3.4/08", []],
  [{ type: "string", format: "cidr" }, "1.2.3.4/33", ['v in body must be of type cidr: "1.2.3.4/33"']],
  [{ type: "string", minLength: 2 }, "é", ["v in body should be at least 2 chars long"]],
  [{ type: "string", pattern: "^(?i)a+$" }, "AA", []],
  [{ type: "string", pattern: "^a+$" }, "ab", ["v in body should match '^a+$'"]],
  [{ type: "string", format: "date-time" }, "today", ['v in body must be of type date-time: "today"']],
  [{ type: "string", format: "unheard-of" }, "today", []],
  [{ type: "string", enum: ["x", "y"] }, "y", []],
  [{ type: "array", minItems: 2 }, [1], ["v in body should have at least 2 items"]],
  [{ type: "object", maxProperties: 0 }, { a: 1 }, ["v in body should have at most 0 properties"]],
  [{ type: "object", required: ["a"] }, {}, ["v.a in body is required"]],
  [{ type: "string", nullable: true }, null, []],
  [{ "x-kubernetes-int-or-string": true }, "50%", []],
];

for (const [schema, value, messages] of cases) {
  const title = messages.length === 0 ? "is valid for" : "is invalid for";
  test(`${printExactJson(value)} ${title} ${JSON.stringify(schema)}`, () => {
    const validate = compileValidator(readSchema({ type: "object", properties: { v: schema } }));
    assertEquals(validate({ v: value }).errors.map((error) => error.message), messages);
  });
}

test("anyOf needs one valid schema, oneOf exactly one, allOf all of them, not none", () => {
  const small = { properties: { v: { maximum: 5 } } };
  const even = { properties: { v: { multipleOf: 2 } } };
  const base = { type: "object", properties: { v: { type: "integer" } } };
  const isValid = (schema: JsonObject, v: number) => compileValidator(readSchema(schema))({ v }).errors.length === 0;
  const table = [4, 3, 8, 9].map((v) => [
    isValid({ ...base, anyOf: [small, even] }, v),
    isValid({ ...base, oneOf: [small, even] }, v),
    isValid({ ...base, allOf: [small, even] }, v),
    isValid({ ...base, not: small }, v),
  ]);
  assertEquals(table, [
    [true, false, true, false],
    [true, true, false, false],
    [true, true, false, true],
    [false, false, false, true],
  ]);
});

test("a pattern that makes backtracking engines hang is matched at once", () => {
  const validate = compileValidator(readSchema({ type: "string", pattern: "^(a+)+$" }));
  assertEquals(validate(`${"a".repeat(5_000)}b`).errors.length, 1);
});
