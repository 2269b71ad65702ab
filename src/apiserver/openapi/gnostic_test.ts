import { assertEquals, test } from "../../../tests/testing.ts";
import { type TestField, wire } from "../protobuf/testing/proto_wire.ts";
import { encodeSwagger } from "./gnostic.ts";

type Document = Parameters<typeof encodeSwagger>[0];

const named = (
  number: number,
  name: string,
  value: readonly TestField[],
): TestField => [number, [[1, name], [2, value]]];

/** Numbers as in OpenAPIv2.proto of gnostic-models 0.7.0, which reads a whole document in tests/clients/go. */
const documents: readonly (readonly [what: string, document: Document, fields: readonly TestField[]])[] = [
  ["nothing", {}, []],
  ["its version and title", { swagger: "2.0", info: { title: "T", version: "1" } }, [[1, "2.0"], [2, [[1, "T"], [
    2,
    "1",
  ]]]]],
  ["a type with its fields", {
    definitions: { A: { type: "object", required: ["x"], properties: { x: { $ref: "#/definitions/B" } } } },
  }, [[9, [named(1, "A", [[22, [[1, "object"]]], [19, "x"], [25, [named(1, "x", [[1, "#/definitions/B"]])]]])]]]],
  ["lists, maps and limits", {
    definitions: {
      A: { items: { type: "string" }, maxItems: 300, maximum: 1.5, uniqueItems: true },
      B: { additionalProperties: { type: "string" } },
      C: { additionalProperties: true },
    },
  }, [[9, [
    named(1, "A", [[23, [[1, [[22, [[1, "string"]]]]]]], [14, 300], [7, { double: 1.5 }], [16, 1]]),
    named(1, "B", [[21, [[1, [[22, [[1, "string"]]]]]]]]),
    named(1, "C", [[21, [[2, 1]]]]),
  ]]]],
  ["extensions, as text", { definitions: { A: { "x-kubernetes-list-type": "set", enum: ["a"] } } }, [[9, [
    named(1, "A", [[31, [[1, "x-kubernetes-list-type"], [2, [[2, '"set"']]]]], [20, [[2, '"a"']]]]),
  ]]]],
  ["an operation with parameters of each kind", {
    paths: {
      "/p": {
        put: {
          operationId: "o",
          parameters: [
            { in: "body", name: "body", required: true, schema: { $ref: "r" } },
            { in: "query", name: "q", type: "string", uniqueItems: true },
          ],
          responses: { "200": { description: "OK" } },
        },
        parameters: [{ in: "path", name: "n", required: true, type: "string" }],
      },
    },
  }, [[8, [named(2, "/p", [
    [3, [
      [5, "o"],
      [8, [[1, [[1, [[3, "body"], [2, "body"], [4, 1], [5, [[1, "r"]]]]]]]]],
      [8, [[1, [[2, [[3, [[2, "query"], [4, "q"], [6, "string"], [20, 1]]]]]]]]],
      [9, [named(1, "200", [[1, [[1, "OK"]]]])]],
    ]],
    [9, [[1, [[2, [[4, [[2, "path"], [4, "n"], [1, 1], [5, "string"]]]]]]]]],
  ])]]]],
  ["security", {
    securityDefinitions: { T: { type: "apiKey", name: "authorization", in: "header" } },
    security: [{ T: [] }],
  }, [[13, [named(1, "T", [[2, [[1, "apiKey"], [2, "authorization"], [3, "header"]]]])]], [12, [named(1, "T", [])]]]],
];

for (const [what, document, fields] of documents) {
  test(`an OpenAPI v2 document with ${what} has the encoding of gnostic`, () => {
    assertEquals(encodeSwagger(document), wire(...fields));
  });
}
