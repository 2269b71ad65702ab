/** Tests of the compiler's messages about common mistakes: each is one line that names the mistake, at the wrong line. */
import { mistakesGolden, present } from "../tasks/_goldens.ts";
import { mistakes, reportedMistakes } from "../tasks/_mistakes.ts";
import { assert, assertEquals, assertStringIncludes, test } from "./testing.ts";

const reported = reportedMistakes();

for (const { mistake, line, diagnostics } of reported) {
  test(`the compiler names the mistake in its first line: ${mistake.name}`, () => {
    assertEquals(diagnostics.map((diagnostic) => diagnostic.line), [line], JSON.stringify(diagnostics));
    const [first = ""] = diagnostics[0]?.text.split("\n") ?? [];
    assertStringIncludes(first, mistake.says);
    assert(first.length < 500 && !first.includes("import("), first);
  });
}

test("the compiler's messages about mistakes equal tests/golden/mistakes.txt", () => {
  assert(mistakes.length >= 10);
  const golden = mistakesGolden(reported);
  assertEquals(
    present(golden),
    golden.text,
    `${golden.path} differs; look at the change, then run: deno run -A tasks/golden.ts`,
  );
});
