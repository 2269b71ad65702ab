import { compileExpression, environmentOf, runExpressions } from "../../cel/mod.ts";
import { assertEquals, test } from "../../../tests/testing.ts";
import { unexpectedResponse } from "./webhook_call.ts";

const environment = environmentOf({ hasParams: false, hasAuthorizer: false });

const types: readonly (readonly [source: string, returns: readonly string[], why: string])[] = [
  ["1 == 1", ["bool"], ""],
  ["1", ["bool"], "must evaluate to bool but got int"],
  ["object.x", ["bool"], "must evaluate to bool but got dyn"],
  ["null", ["string", "null_type"], ""],
  ["[1]", ["string", "null_type"], "must evaluate to one of [string null_type] but got list(int)"],
  ["duration('1s')", ["bool"], "must evaluate to bool but got google.protobuf.Duration"],
  ["object.x", [], ""],
];

for (const [source, returns, why] of types) {
  test(`${source} ${why === "" ? "is" : "is not"} ${returns.length === 0 ? "anything" : returns.join(" or ")}`, () => {
    const compiled = compileExpression(source, returns, environment);
    assertEquals(compiled.kind === "invalid" ? compiled.message : "", why);
  });
}

test("messageExpressions cannot use the authorizer", () => {
  assertEquals(
    compileExpression("authorizer.path('/').check('get').reason()", ["string"], environment).kind,
    "invalid",
  );
});

test("when the budget is spent, the whole evaluation fails", () => {
  const expressions = ["1 == 1", "2 == 2"].map((source) => compileExpression(source, ["bool"], environment));
  const run = runExpressions(expressions, new Map(), 10);
  assertEquals(run.kind === "done" && run.results.length === 2, true);
  assertEquals(runExpressions(expressions, new Map(), 1).kind, "failed");
});

test("unexpectedResponse() has the messages of client-go", () => {
  const server = (text: string) => `an error on the server ("${text}") has prevented the request from succeeding`;
  assertEquals(unexpectedResponse(500, ""), server("unknown"));
  assertEquals(unexpectedResponse(500, "no"), server("no"));
  assertEquals(unexpectedResponse(404, "no"), "the server could not find the requested resource");
  assertEquals(unexpectedResponse(403, "keep out"), "keep out");
});
