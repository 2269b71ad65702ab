/**
 * Writes docs/BEHAVIOURS.md: which tests show which numbered promise.
 *
 *   deno run -A tasks/behaviours.ts           writes it
 *   deno run -A tasks/behaviours.ts --check   writes nothing and exits 1 if the page is out of date
 */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { behavioursPage, evidenceIn } from "./_behaviours.ts";
import { root } from "./_root.ts";

const page = join(root, "docs", "BEHAVIOURS.md");

/** Test files, and the cases that several of them run. */
function testFiles(): readonly string[] {
  return ["src", "tests"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .map((path) => join(folder, path)).filter((path) => path.endsWith("_test.ts") || path.startsWith("tests/cases/"))
  ).filter((path) => path !== "tests/behaviours_test.ts").sort();
}

/** As `deno fmt` leaves it, so that the page passes the gate's own check. */
function formatted(text: string): string {
  const { status, stdout, stderr } = spawnSync("deno", ["fmt", "--ext", "md", "-"], {
    cwd: root,
    input: text,
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`Cannot format the page: ${stderr}`);
  return stdout;
}

function main(isCheck: boolean): number {
  const evidence = testFiles().flatMap((path) => evidenceIn(path, readFileSync(join(root, path), "utf8")));
  const text = formatted(behavioursPage(evidence));
  const present = existsSync(page) ? readFileSync(page, "utf8") : "";
  if (present === text) return 0;
  if (!isCheck) {
    writeFileSync(page, text);
    return 0;
  }
  console.error("Cannot accept docs/BEHAVIOURS.md: it is out of date, run deno run -A tasks/behaviours.ts");
  return 1;
}

process.exitCode = main(process.argv.includes("--check"));
