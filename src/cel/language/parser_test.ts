import { assertEquals, test } from "../../../tests/testing.ts";
import { parseCel } from "./parser.ts";

const any =
  "expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";

/** What cel-go says, as a real kube-apiserver passes it on (conformance group `policies`). */
const wrong: readonly (readonly [source: string, messages: readonly string[]])[] = [
  ["object.", ["no viable alternative at input '.'"]],
  ["object.in == 1", ["no viable alternative at input '.in'", `extraneous input '==' ${any}`]],
  ["object.true == 1", ["mismatched input 'true' expecting IDENTIFIER"]],
  ["object.null()", ["mismatched input 'null' expecting IDENTIFIER"]],
  ["object.(x)", ["no viable alternative at input '.('"]],
  ["object..x", ["no viable alternative at input '..'"]],
  ["object.1", ["extraneous input '.1' expecting <EOF>"]],
  ["1 + * 2", [`extraneous input '*' ${any}`]],
  ["[1, 2", ["mismatched input '<EOF>' expecting {']', ','}"]],
  ["{1}", ["mismatched input '}' expecting ':'"]],
];

for (const [source, messages] of wrong) {
  test(`${source} does not parse: ${messages.length} issues`, () => {
    const parsed = parseCel(source);
    const found = parsed.kind === "failed" ? parsed.issues.map((issue) => issue.message) : [];
    assertEquals(found, messages.map((message) => `Syntax error: ${message}`));
  });
}
