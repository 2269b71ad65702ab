/**
 * Type-checks and runs every ```ts block in the docstrings of src and in README.md and docs/, in one process. Blocks that
 * need a kubelet are only type-checked here.
 *
 *   deno run -A tasks/doc_examples.ts [FILE...]
 *
 * What an example looks like stands in _doc_examples.ts.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import process from "node:process";
import { type Example, examplesIn, filesWithExamples, moduleOf, testOf } from "./_doc_examples.ts";
import { root } from "./_root.ts";

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
  const paths = given.length > 0 ? given : filesWithExamples(root);
  const examples = paths.flatMap((path) => examplesIn(path, readFileSync(resolve(root, path), "utf8")));
  return examples.length === 0 ? 0 : run(examples);
}

process.exitCode = main(process.argv.slice(2));
