/** Each `sh` block of README.md is run: here those that need no binary, in tests/e2e/readme_test.ts all others. */
import { ReadmeReader, reasons, shellBlocks } from "./readme_blocks.ts";
import { assert, assertEquals, assertThrows, test } from "./testing.ts";

test("a block of README.md is run, or has a reason from the list that is true for it", () => {
  const blocks = shellBlocks();
  for (const { line, text, notRun } of blocks) {
    if (notRun === undefined) continue;
    assert(reasons[notRun]?.test(text), `README.md:${line}: "${notRun}" is no reason, or not true for this block`);
  }
  assertEquals(blocks.filter(({ notRun }) => notRun !== undefined).length, Object.keys(reasons).length);
  assert(blocks.length >= 7);
  assertThrows(
    () => shellBlocks("<!-- sh: later -->\n\n```sh\nls\n```\n"),
    /the mark "later" before line 1 is not "not run/,
  );
});

for (const block of shellBlocks()) {
  if (block.notRun !== undefined || block.compiles) continue;
  test(`README.md:${block.line}: the block runs`, async () => {
    using reader = new ReadmeReader();
    const { code, output } = await reader.run(block);
    assertEquals(code, 0, output);
  });
}
