/**
 * Finds the ```ts blocks in docstrings and pages and turns each into a module that a test can import.
 *
 * Convention: an example is code of a user. It imports from "@pintle/controller" or one of its other entries; an example
 * of something that is not public imports the path that its own file would write ("./mod.ts"). It asserts with
 * console.assert. A block that needs containers is marked ```ts kubelet: its types are checked everywhere, and
 * tests/realnode/examples_test.ts runs it. A sketch that is no whole program is marked ```ts ignore; only decision records
 * (docs/adr) have those. (`deno test --doc` was tried: it adds an import
 * of everything the file exports to each block, which noUnusedLocals rejects, and lets a failing console.assert pass.)
 */
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import config from "../deno.json" with { type: "json" };

/** One block. */
export interface Example {
  /** The file it stands in, relative to the repository. */
  readonly path: string;
  /** The line of its fence, from 1. */
  readonly line: number;
  readonly code: string;
  /** True when it talks to the container of a Pod. */
  readonly needsKubelet: boolean;
}

/** The public entries, by the specifiers under which examples import them. */
const entries: ReadonlyMap<string, string> = new Map(
  Object.entries(config.exports).map(([subpath, file]) => [`${config.name}${subpath.slice(1)}`, file]),
);

/** Files that may have examples, relative to the repository. */
export function filesWithExamples(root: string): readonly string[] {
  const filesUnder = (folder: string) => {
    const paths = readdirSync(join(root, folder), { recursive: true, encoding: "utf8" });
    // Not the packages of the site.
    return paths.map((path) => join(folder, path)).filter((path) => !path.split("/").includes("node_modules"));
  };
  const sources = filesUnder("src").filter((path) => path.endsWith(".ts") && !path.endsWith("_test.ts"));
  const pages = ["README.md", ...filesUnder("docs").filter((path) => path.endsWith(".md"))];
  return [...sources, ...pages].sort();
}

/** The examples of a file: in its docstrings if it is TypeScript, in its text if it is Markdown. */
export function examplesIn(path: string, text: string): readonly Example[] {
  const examples: Example[] = [];
  let open: { readonly line: number; readonly code: string[]; readonly needsKubelet: boolean } | undefined;
  for (const [index, raw] of text.split("\n").entries()) {
    const line = path.endsWith(".md") ? raw : docstringLine(raw);
    if (open === undefined) {
      const fence = /^\s*```(?:ts|typescript)( kubelet)?\s*$/.exec(line ?? "");
      if (fence !== null) open = { line: index + 1, code: [], needsKubelet: fence[1] !== undefined };
    } else if (line === undefined || /^\s*```\s*$/.test(line)) {
      const { line, code, needsKubelet } = open;
      examples.push({ path, line, code: `${code.join("\n")}\n`, needsKubelet });
      open = undefined;
    } else {
      open.code.push(line);
    }
  }
  if (open !== undefined) throw new SyntaxError(`Cannot read ${path}: the block of line ${open.line} has no end`);
  return examples;
}

/** The example as a module that can be stored anywhere. */
export function moduleOf(example: Example, root: string): string {
  const { path, line, code } = example;
  const folder = dirname(join(root, path));
  const resolved = code.replaceAll(
    /(\bfrom\s*|\bimport\s*\(?\s*)"([^"]+)"/g,
    (_match, before: string, specifier: string) => {
      const entry = entries.get(specifier);
      if (entry !== undefined) return `${before}"${pathToFileURL(join(root, entry)).href}"`;
      if (specifier.startsWith(".")) return `${before}"${pathToFileURL(join(folder, specifier)).href}"`;
      return `${before}"${specifier}"`;
    },
  );
  return `// ${path}:${line}\n${resolved}\nexport {};\n`;
}

/** A test file with one test for each module. Of an example that needs a kubelet, the test is that its types are right. */
export function testOf(examples: readonly Example[], modules: readonly string[]): string {
  const tests = examples.map(({ path, line, needsKubelet }, index) => {
    const name = JSON.stringify(`${path}:${line}${needsKubelet ? ", its types" : ""}`);
    const module = `import(${JSON.stringify(modules[index])})`;
    return `Deno.test(${name}, ${needsKubelet ? `() => void (() => ${module})` : `async () => void await ${module}`});`;
  });
  return `${throwingAssert}\n${tests.join("\n")}\n`;
}

/** Makes a failed console.assert throw; runtimes only print a line. */
const throwingAssert = `console.assert = (condition?: unknown, ...words: readonly unknown[]) => {
  if (!condition) throw new Error(["Assertion failed", ...words].join(": "));
};`;

/** The text of a line inside a docstring; undefined for any other line. */
function docstringLine(raw: string): string | undefined {
  const match = /^\s*\*(?!\/) ?(.*)$/.exec(raw);
  return match?.[1];
}
