/**
 * CustomResourceDefinitions of users and objects of their kinds, on the embedded API server. An input has a schema and an
 * object.
 *
 * Promises: the definition and the object get a response, and the server reports no error of its own; what it stores is read
 * as it was written; the comparison of a definition with itself finds no change.
 */
import fc from "fast-check";
import { parseExactJson } from "../../../src/api/mod.ts";
import { KubernetesTestServer } from "../../../src/apiserver/testing/kubernetes_test_server.ts";
import { compareSchemas } from "../../../src/schema/mod.ts";
import { type FuzzTarget, joinParts, orRefused, partsOf, promise } from "../target.ts";

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const things = "/apis/fuzz.example.dev/v1/namespaces/default/things";

function definition(schema: string): string {
  const version =
    `{"name":"v1","served":true,"storage":true,"subresources":{"status":{}},"schema":{"openAPIV3Schema":${schema}}}`;
  const names = '{"plural":"things","singular":"thing","kind":"Thing","listKind":"ThingList"}';
  return `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"things.fuzz.example.dev"},` +
    `"spec":{"group":"fuzz.example.dev","scope":"Namespaced","names":${names},"versions":[${version}]}}`;
}

const leaf = fc.constantFrom<object>(
  ...[{ type: "string" }, { type: "string", pattern: "^a+$", maxLength: 9 }, { type: "string", format: "date-time" }, {
    type: "string",
    enum: ["a", "b"],
    default: "a",
  }],
  ...[{ type: "integer", format: "int32", minimum: 1, exclusiveMinimum: true }, { type: "number", multipleOf: 0.1 }, {
    type: "boolean",
    nullable: true,
  }, { "x-kubernetes-int-or-string": true }],
  ...[{ type: "object", "x-kubernetes-preserve-unknown-fields": true }, {
    type: "object",
    "x-kubernetes-embedded-resource": true,
    "x-kubernetes-preserve-unknown-fields": true,
  }, {}],
);
const { schema } = fc.letrec<{ schema: object }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 4 },
    leaf,
    fc.record({
      type: fc.constant("object"),
      properties: fc.dictionary(fc.constantFrom("a", "b", "__proto__", "items"), tie("schema")),
      required: fc.array(fc.constantFrom("a", "b", "c")),
      "x-kubernetes-validations": fc.array(fc.record({
        rule: fc.constantFrom(
          "has(self.a)",
          "self == oldSelf",
          "self.a > 1",
          "size(self) < 3",
          "true",
          "self.a.all(x, x == self.b)",
          "(",
        ),
        message: fc.string(),
      }, { requiredKeys: ["rule"] })),
    }, { requiredKeys: ["type"] }),
    fc.record({
      type: fc.constant("array"),
      items: tie("schema"),
      "x-kubernetes-list-type": fc.constantFrom("set", "map", "atomic"),
      "x-kubernetes-list-map-keys": fc.array(fc.constantFrom("a", "b")),
      maxItems: fc.integer({ min: -1, max: 9 }),
      uniqueItems: fc.boolean(),
      default: fc.jsonValue({ maxDepth: 1 }),
    }, { requiredKeys: ["type"] }),
    fc.tuple(tie("schema")).map(([additionalProperties]) => ({ type: "object", additionalProperties })),
    fc.tuple(tie("schema"), tie("schema")).map((anyOf) => ({ type: "object", anyOf, not: { required: ["a"] } })),
  ),
}));
const whole = schema.map((spec) => ({ type: "object", properties: { spec, status: { type: "object" } } }));
const map = {
  type: "object",
  properties: {
    spec: {
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["a"],
      items: { type: "object", required: ["a"], properties: { a: { type: "string" } } },
    },
  },
};

/** The target. */
export const target: FuzzTarget = {
  seeds: [
    joinParts(JSON.stringify(map), '{"spec":[{"a":"x"},{"a":"x"}]}'),
    joinParts(
      '{"type":"object","properties":{"spec":{"type":"object","properties":{"a":{"type":"integer","default":1}},"x-kubernetes-validations":[{"rule":"self.a > 0"}]}}}',
      '{"spec":{}}',
    ),
    joinParts('{"type":"object","x-kubernetes-preserve-unknown-fields":true}', '{"spec":{"a":[1,null]}}'),
  ],
  arbitrary: fc.tuple(whole, fc.jsonValue({ maxDepth: 3 })).map(([schema, spec]) =>
    joinParts(JSON.stringify(schema), JSON.stringify({ spec }))
  ),
  words: [
    '"x-kubernetes-validations":[{"rule":"',
    '"additionalProperties":',
    '"$ref":"#"',
    '"oneOf":[',
    '"not":',
    '"nullable":true',
    '"default":',
    '"pattern":"(',
    '"messageExpression":"',
    '"fieldPath":".a"',
    '"optionalOldSelf":true',
    '"format":"',
    "1e999",
    '"items":',
  ],
  async check(input) {
    const [schema = "", object = ""] = partsOf(input, 2);
    using server = new KubernetesTestServer();
    const defined = await server.send("POST", definitions, definition(schema));
    if (defined.code === 201) {
      const written = orRefused(() => parseExactJson(object), SyntaxError);
      const isObject = typeof written === "object" && written !== null && !Array.isArray(written);
      const body = {
        apiVersion: "fuzz.example.dev/v1",
        kind: "Thing",
        metadata: { name: "a" },
        ...(isObject && "spec" in written ? { spec: written.spec } : {}),
      };
      await server.clock.advance(1000);
      const created = await server.send(
        "POST",
        things,
        JSON.stringify(body, (_key, value) => typeof value === "bigint" ? String(value) : value),
      );
      promise(created.code < 500, `An object is an error of ours: ${JSON.stringify(created.body)}`);
      if (created.code === 201) {
        const read = await server.send("GET", `${things}/a`);
        promise(JSON.stringify(read.body) === JSON.stringify(created.body), "An object is read in another form");
        const replaced = await server.send("PUT", `${things}/a`, JSON.stringify(read.body));
        promise(replaced.code === 200 || replaced.code === 422, "An object cannot be written as it was read");
      }
      const stored = defined.body.spec.versions[0].schema.openAPIV3Schema;
      promise(compareSchemas(stored, stored).length === 0, "A schema differs from itself");
    }
    promise(defined.code < 500, `A definition is an error of ours: ${JSON.stringify(defined.body)}`);
    if (server.errors.length > 0) throw server.errors[0];
  },
};
