/**
 * Type-checks and runs every ```ts block in the docstrings of src and in README.md and docs/, in one process.
 *
 *   deno run -A tasks/doc_examples.ts [FILE...]
 *
 * What an example looks like stands in _doc_examples.ts.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import process from "node:process";
import { type Example, examplesIn, moduleOf, testOf } from "./_doc_examples.ts";
import { root } from "./_root.ts";

/** Files that may have examples, relative to the repository. */
function candidates(): readonly string[] {
  const sources = filesUnder("src").filter((path) => path.endsWith(".ts") && !path.endsWith("_test.ts"));
  const pages = ["README.md", ...filesUnder("docs").filter((path) => path.endsWith(".md"))];
  return [...sources, ...pages].filter((path) => existsSync(join(root, path))).sort();
}

function filesUnder(folder: string): readonly string[] {
  const base = join(root, folder);
  if (!existsSync(base)) return [];
  const paths = readdirSync(base, { recursive: true, encoding: "utf8" }).map((path) => join(folder, path));
  return paths.filter((path) => !path.split("/").includes("node_modules")); // the site's own packages
}

function run(examples: readonly Example[]): number {
  const folder = mkdtempSync(join(tmpdir(), "pintle-examples-"));
  try {
    const modules = examples.map((example) => {
      const name = `${example.path}_${example.line}`.replaceAll(/[^A-Za-z0-9_]/g, "_");
      writeFileSync(join(folder, `${name}.ts`), moduleOf(example, root));
      return `./${name}.ts`;
    });
    writeFileSync(join(folder, "examples_test.ts"), testOf(examples, modules));
    const config = join(root, "deno.json");
    const { status } = spawnSync("deno", ["test", "-A", "--config", config, join(folder, "examples_test.ts")], {
      cwd: root,
      stdio: "inherit",
    });
    return status ?? 1;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function main(given: readonly string[]): number {
  const paths = given.length > 0 ? given : candidates();
  const examples = paths.flatMap((path) => examplesIn(path, readFileSync(resolve(root, path), "utf8")));
  return examples.length === 0 ? 0 : run(examples);
}

process.exitCode = main(process.argv.slice(2));
