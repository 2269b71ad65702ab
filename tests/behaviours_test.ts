/** Tests of docs/BEHAVIOURS.md: how its tests are collected, and that each reference in the repository leads somewhere. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { evidenceIn, referencesIn, statementsOf, statementsWithoutTest, withEvidence } from "../tasks/_behaviours.ts";
import { allEvidence } from "../tasks/behaviours.ts";
import { root } from "../tasks/_root.ts";
import { assert, assertEquals, assertStringIncludes, assertThrows, test } from "./testing.ts";

const path = "src/a_test.ts";
const page = "# Page\n\n**1.** One.\n\n**2.** Two\nlines.\n\n**security 1.** Safe.\n\n**F1.** A fault.\n";

test("evidenceIn() reads one or several numbers off the names of tests, in any quotes", () => {
  const text =
    'test("[12] a \\"watch\\" ends", f);\ntest(`[38, security 3] ${key} runs once`, f);\ntest("[] none", f); list["[1]"];';
  assertEquals(evidenceIn(path, text), [
    { statements: ["12"], path, name: 'a "watch" ends' },
    { statements: ["38", "security 3"], path, name: "${key} runs once" },
  ]);
});

test("evidenceIn() names the file once for the fault classes and invariants in its comments", () => {
  assertEquals(
    evidenceIn(path, "/**\n * Tests fault class F9; invariants I1,\n * I2 and I6 hold. */\n// invariant I6"),
    [
      { statements: ["F9", "I1", "I2", "I6"], path },
    ],
  );
});

test("referencesIn() reads lists and ranges of numbers", () => {
  assertEquals(referencesIn("behaviours 10-14, 17 and 20; security 13 and 14; (behaviour 73)"), [
    ...["10", "14", "17", "20", "73"],
    ...["security 13", "security 14"],
  ]);
});

test("withEvidence() lists the tests under their statements, and replaces the lists of an earlier run", () => {
  const evidence = [{ statements: ["2", "security 1"], path, name: "a <b>" }, { statements: ["F1"], path }];
  const once = withEvidence(page, evidence);
  assertStringIncludes(
    once,
    `lines.\n\n<details><summary>1 test</summary>\n\n- a &lt;b> ([${path}](../${path}))\n\n</details>`,
  );
  assertStringIncludes(once, `<summary>1 file</summary>\n\n- [${path}](../${path})`);
  assertEquals(withEvidence(once, evidence), once);
  assertEquals(withEvidence(once, []), page);
  assertEquals(statementsWithoutTest(page, evidence), ["1"]);
});

test("a number that does not exist, and one that occurs twice, are refused", () => {
  assertThrows(() => withEvidence(page, [{ statements: ["3"], path, name: "x" }]), /has no statement 3/);
  assertThrows(() => statementsOf("**1.** a\n\n**1.** b\n"), /1 occurs twice/);
});

test("each behaviour and each statement on security in docs/BEHAVIOURS.md has a test", () => {
  const text = readFileSync(join(root, "docs", "BEHAVIOURS.md"), "utf8");
  assertEquals(statementsWithoutTest(text, allEvidence()).filter((id) => !/^[FI]/.test(id)), []);
});

/** Files that git tracks, or will: sources and documents. */
function writtenFiles(): readonly string[] {
  const options = { cwd: root, encoding: "utf8", maxBuffer: 64 << 20 } as const;
  return execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], options).split("\n")
    .filter((file) => /\.(ts|md|sh|json|yaml|yml)$/.test(file) && existsSync(join(root, file)));
}

test("each reference to a behaviour, a document or an ADR leads to something in the repository", () => {
  const statements = new Set(statementsOf(readFileSync(join(root, "docs", "BEHAVIOURS.md"), "utf8")));
  const files = writtenFiles();
  assert(files.length > 100, `expected the repository, found ${files.length} files`);
  const adrs = new Set(files.flatMap((file) => /^docs\/adr\/(\d{4})-/.exec(file)?.[1] ?? []));
  const dangling = files.filter((file) => file !== "tests/behaviours_test.ts").flatMap((file) => {
    const text = readFileSync(join(root, file), "utf8");
    return [
      ...(file.endsWith(".ts") ? referencesIn(text).filter((id) => !statements.has(id)) : []),
      ...[...text.matchAll(/\bADR (\d{4})\b/g)].flatMap(([adr, number = ""]) => (adrs.has(number) ? [] : [adr])),
      ...documentsNamedIn(file, text).filter((target) => !existsSync(join(root, target))),
      ...(/\b(house-style|language|behaviours|architecture|controllers|peers)\.md\b/.exec(text) ?? []).slice(0, 1),
    ].map((reference) => `${file}: ${reference}`);
  });
  assertEquals(dangling, [], dangling.join("\n"));
});

/** The documents that a file names: `docs/X.md` anywhere, and the links of a Markdown file. */
function documentsNamedIn(file: string, text: string): readonly string[] {
  const named = [...text.matchAll(/\bdocs\/[\w/-]+\.md\b/g)].map(([name]) => name);
  if (!file.endsWith(".md")) return named;
  const links = [...text.matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)/g)].map(([, link = ""]) =>
    join(dirname(file), link)
  );
  return [...named, ...links];
}
