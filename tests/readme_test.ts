/**
 * Each block of commands in README.md is run: here those that need no binary, in tests/e2e/readme_test.ts all others. Those
 * of the guide are run by tests/e2e/guide_test.ts.
 */
import { ReadmeReader } from "./readme_blocks.ts";
import { guidePages, missingLine, reasons, shellBlocks } from "./shell_blocks.ts";
import { assert, assertEquals, assertThrows, test } from "./testing.ts";

const pages = ["README.md", "docs/IMAGES.md", ...guidePages()];

test("a block of the README and of the guide is run, or has a reason from the list that is true for it", () => {
  const blocks = pages.flatMap((page) => shellBlocks(page));
  const used = new Set<string>();
  for (const { page, line, text, notRun } of blocks) {
    if (notRun === undefined) continue;
    assert(reasons[notRun]?.test(text), `${page}:${line}: "${notRun}" is no reason, or not true for this block`);
    used.add(notRun);
  }
  assertEquals([...used].sort(), Object.keys(reasons).sort());
  assert(blocks.length >= 16);
});

test("a mark, or a block of commands and output, that is not in its form is an error", () => {
  assertThrows(
    () => shellBlocks("README.md", "<!-- sh: later -->\n\n```sh\nls\n```\n"),
    /the mark "later" before line 1 is not "not run/,
  );
  assertThrows(() => shellBlocks("a.md", "```console\nls\n```\n"), /a\.md:1: its first line does not begin with "\$ "/);
});

test("what a page shows is compared line by line, except for blanks and …", () => {
  const [{ commands } = { commands: [] }] = shellBlocks("a.md", "```console\n$ ls -l\na …  1\n…\nz\n$ true\n```\n");
  assertEquals(commands, [{ text: "ls -l", output: ["a …  1", "…", "z"] }, { text: "true", output: [] }]);
  const shown = commands[0]?.output ?? [];
  for (const printed of ["a 5 1\nz\n", "a 12   1\n\nb\nc\nz\n"]) assertEquals(missingLine(shown, printed), undefined);
  const wrong = { "b 5 1\nz\n": "a … 1", "a 5 1\n": "z", "a 5 1\nz\nzz\n": "(the end, but there is) zz", "": "a … 1" };
  for (const [printed, line] of Object.entries(wrong)) assertEquals(missingLine(shown, printed), line, printed);
});

for (const block of shellBlocks()) {
  if (block.notRun !== undefined || block.compiles) continue;
  test(`README.md:${block.line}: the block runs`, async () => {
    using reader = new ReadmeReader();
    const { code, output } = await reader.run(block);
    assertEquals(code, 0, output);
  });
}
