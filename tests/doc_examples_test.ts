/**
 * Tests that tasks/doc_examples.ts finds every block and that an example can fail. The examples themselves are run by
 * the task, in one process for all.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { examplesIn, filesWithExamples, moduleOf } from "../tasks/_doc_examples.ts";
import { assertEquals, assertStringIncludes, assertThrows, test } from "./testing.ts";

const root = join(import.meta.dirname ?? ".", "..");

const fence = "```";

test("examples are found in docstrings and pages, ignored blocks and other languages are not", () => {
  const source = [
    "/**",
    " * @example",
    ` * ${fence}ts`,
    " * const a = 1;",
    " *   const b = 2;",
    ` * ${fence}`,
    " */",
    `const text = "${fence}ts";`,
    "/**",
    ` * ${fence}ts ignore`,
    " * never(",
    ` * ${fence}`,
    " */",
  ].join("\n");
  assertEquals(examplesIn("src/a.ts", source), [{
    path: "src/a.ts",
    line: 3,
    code: "const a = 1;\n  const b = 2;\n",
    needsKubelet: false,
  }]);
  const page = [`${fence}sh`, "ls", fence, `${fence}ts kubelet`, "f();", fence].join("\n");
  assertEquals(examplesIn("README.md", page), [{ path: "README.md", line: 4, code: "f();\n", needsKubelet: true }]);
});

test("a block without an end is an error", () => {
  assertThrows(
    () => examplesIn("README.md", `${fence}ts\nf();`),
    /Cannot read README\.md: the block of line 1 has no end/,
  );
});

test("only decision records have sketches that are not checked", () => {
  const marks = filesWithExamples(root).flatMap((path) => {
    const fences = readFileSync(join(root, path), "utf8").matchAll(/^[ *]*```(?:ts|typescript) (.+)$/gm);
    return [...fences].map(([, mark]) => ({ path, mark }));
  });
  const others = marks.filter(({ path, mark }) =>
    mark !== "kubelet" && !(mark === "ignore" && path.startsWith("docs/adr/"))
  );
  assertEquals(others, []);
  assertEquals(marks.filter(({ mark }) => mark === "kubelet").length > 3, true);
});

test("an example's imports resolve like those of its file", () => {
  const code =
    'import { z } from "zod";\nimport { a } from "@pintle/controller";\nconst b = await import("../async/mod.ts");\n';
  const module = moduleOf({ path: "src/cache/a.ts", line: 1, code, needsKubelet: false }, "/repo");
  for (const part of ['from "zod"', 'from "file:///repo/src/mod.ts"', 'import("file:///repo/src/async/mod.ts")']) {
    assertStringIncludes(module, part);
  }
});

/** Runs the blocks of a page; its output begins with the exit code. */
function runPage(...blocks: readonly string[]): string {
  return runMarkedPage("", ...blocks);
}

/** @param mark What stands behind `ts` */
function runMarkedPage(mark: string, ...blocks: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), "pintle-page-"));
  try {
    const page = join(folder, "page.md");
    writeFileSync(page, blocks.map((block) => `${fence}ts${mark}\n${block}\n${fence}\n`).join("\n"));
    const env = { ...process.env, NO_COLOR: "1" };
    const ran = spawnSync("deno", ["run", "-A", "tasks/doc_examples.ts", page], { cwd: root, env, encoding: "utf8" });
    return `exit ${ran.status}\n${ran.stdout}${ran.stderr}`;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test("examples whose assertions hold pass", () => {
  const output = runPage("console.assert([1].length === 1);", "export const a: number = 1;");
  assertStringIncludes(output, "exit 0\n");
  assertStringIncludes(output, "2 passed");
});

test("an example whose assertion fails ends the run with an error", () => {
  const output = runPage('console.assert(Number("1") === 2);');
  assertStringIncludes(output, "exit 1\n");
  assertStringIncludes(output, "Assertion failed");
});

test("an example that does not type-check ends the run with an error", () => {
  const output = runPage('export const a: number = "1";');
  assertStringIncludes(output, "exit 1\n");
  assertStringIncludes(output, "TS2322");
});

test("an example that needs a kubelet is type-checked, and not run", () => {
  assertStringIncludes(runMarkedPage(" kubelet", 'throw new Error("this runs");'), "exit 0\n");
  assertStringIncludes(runMarkedPage(" kubelet", 'export const a: number = "1";'), "TS2322");
});
