/**
 * Lists in docs/BEHAVIOURS.md, under each statement, the tests that hold it.
 *
 *   deno run -A tasks/behaviours.ts           writes the page
 *   deno run -A tasks/behaviours.ts --check   writes nothing and exits with 1 if the page is out of date
 */
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { type Evidence, evidenceIn, withEvidence } from "./_behaviours.ts";
import { root } from "./_root.ts";

const page = join(root, "docs", "BEHAVIOURS.md");

/** Test files, and the cases that several of them run. */
function testFiles(): readonly string[] {
  return ["src", "tests", "page"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .map((path) => join(folder, path)).filter((path) => path.endsWith("_test.ts") || path.startsWith("tests/cases/"))
  ).filter((path) => path !== "tests/behaviours_test.ts").sort();
}

/** Formats a page as `deno fmt` does, so that it passes the gate's own check. */
function formatted(text: string): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, ["fmt", "--ext", "md", "-"], {
    cwd: root,
    input: text,
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`Cannot format the page: ${stderr}`);
  return stdout;
}

/** The evidence of all tests in the repository. */
export function allEvidence(): readonly Evidence[] {
  return testFiles().flatMap((path) => evidenceIn(path, readFileSync(join(root, path), "utf8")));
}

function main(isCheck: boolean): number {
  const present = readFileSync(page, "utf8");
  const text = formatted(withEvidence(present, allEvidence()));
  if (present === text) return 0;
  if (!isCheck) {
    writeFileSync(page, text);
    return 0;
  }
  console.error("Cannot accept docs/BEHAVIOURS.md: its lists of tests are out of date. Run: deno task behaviours");
  return 1;
}

if (import.meta.main) process.exitCode = main(process.argv.includes("--check"));
