import { assertEquals, test } from "../../../tests/testing.ts";
import type { JsonObject } from "../model/mod.ts";
import { compileRuleValidator } from "./rule_validator.ts";
import { readSchema } from "../schema/schema_props.ts";

/** The errors of an object, as `field: detail`. */
function wrong(spec: JsonObject, object: JsonObject, old?: JsonObject): readonly string[] {
  const validate = compileRuleValidator(readSchema({ type: "object", properties: { spec } }));
  const errors = validate?.({ spec: object }, old === undefined ? undefined : { spec: old }) ?? [];
  return errors.map(({ type, field, detail }) => `${type} ${field}: ${detail}`);
}

const range = { min: { type: "integer" }, max: { type: "integer" } };

test("a violated rule gives an error with its message, path and reason", () => {
  const spec: JsonObject = {
    type: "object",
    properties: range,
    "x-kubernetes-validations": [
      { rule: "self.min <= self.max" },
      { rule: "self.min > 0", message: "must be positive", fieldPath: ".min", reason: "FieldValueForbidden" },
      { rule: "self.max < 5", messageExpression: "'not ' + string(self.max)" },
    ],
  };
  assertEquals(wrong(spec, { min: 1, max: 2 }), []);
  assertEquals(wrong(spec, { min: 0, max: -1 }), [
    "Invalid spec: failed rule: self.min <= self.max",
    "Forbidden spec.min: must be positive",
  ]);
  assertEquals(wrong(spec, { min: 1, max: 6 }), ["Invalid spec: not 6"]);
});

test("a transition rule runs only with an old value", () => {
  const spec = {
    type: "object",
    properties: { name: { type: "string", "x-kubernetes-validations": [{ rule: "self == oldSelf" }] } },
  };
  assertEquals(wrong(spec, { name: "a" }), []);
  assertEquals(wrong(spec, { name: "a" }, { name: "a" }), []);
  assertEquals(wrong(spec, { name: "a" }, {}), []);
  assertEquals(wrong(spec, { name: "b" }, { name: "a" }), ["Invalid spec.name: failed rule: self == oldSelf"]);
});

test("an optional oldSelf is empty when there is no old value", () => {
  const spec = {
    type: "object",
    properties: {
      name: {
        type: "string",
        "x-kubernetes-validations": [{ rule: "oldSelf.hasValue() || self == 'new'", optionalOldSelf: true }],
      },
    },
  };
  assertEquals(wrong(spec, { name: "new" }), []);
  assertEquals(wrong(spec, { name: "x" }).length, 1);
  assertEquals(wrong(spec, { name: "x" }, { name: "y" }), []);
});

test("errors of unchanged values are ignored", () => {
  const spec = {
    type: "object",
    properties: { ...range, name: { type: "string", "x-kubernetes-validations": [{ rule: "self != 'bad'" }] } },
  };
  assertEquals(wrong(spec, { name: "bad", min: 2 }, { name: "bad", min: 1 }), []);
  assertEquals(wrong(spec, { name: "bad" }, { name: "good" }).length, 1);
});

test("items of a map list are matched with their old values when they move", () => {
  const spec = {
    type: "object",
    properties: {
      ports: {
        type: "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name"],
        items: {
          type: "object",
          required: ["name"],
          properties: { name: { type: "string" }, port: { type: "integer" } },
          "x-kubernetes-validations": [{ rule: "self.port >= oldSelf.port" }],
        },
      },
    },
  };
  const [a, b] = [{ name: "a", port: 1 }, { name: "b", port: 5 }];
  assertEquals(wrong(spec, { ports: [b, a] }, { ports: [a, b] }), []);
  assertEquals(wrong(spec, { ports: [{ name: "b", port: 4 }, a] }, { ports: [a, b] }).length, 1);
});

test("a rule that costs too much stops itself and the rules after it", () => {
  const spec = {
    type: "object",
    properties: { all: { type: "array", items: { type: "integer" } } },
    "x-kubernetes-validations": [
      { rule: "self.all.all(a, self.all.all(b, self.all.all(c, a + b + c >= 0)))" },
      { rule: "false" },
    ],
  };
  const errors = wrong(spec, { all: Array.from({ length: 200 }, (_, index) => index) });
  assertEquals(errors.length, 1);
  assertEquals(errors[0]?.includes("call cost exceeds limit for rule"), true);
});

test("names that CEL reserves may be escaped, since 1.31 they need not be", () => {
  for (const name of ["self.__namespace__", "self.namespace", "has(self.namespace) ? self.namespace : ''"]) {
    const spec = {
      type: "object",
      properties: { "a-b": { type: "integer" }, namespace: { type: "string" } },
      "x-kubernetes-validations": [{ rule: `self.a__dash__b == 1 && (${name}) == 'x'` }],
    };
    assertEquals(wrong(spec, { "a-b": 1, namespace: "x" }), [], name);
    assertEquals(wrong(spec, { "a-b": 2, namespace: "x" }).length, 1);
    assertEquals(wrong(spec, { "a-b": 1, namespace: "y" }).length, 1);
  }
});
