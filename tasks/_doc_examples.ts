/**
 * Finds the ```ts blocks in docstrings and pages and turns each into a module that a test can import.
 *
 * Convention: an example is what a user would write. It imports from "@pintle/controller" (src/mod.ts), or, for what
 * is not public, from the path its own file would write ("./mod.ts"); it says what holds with console.assert. A block
 * that cannot run alone is marked ```ts ignore. (`deno test --doc` was tried: it adds an import of everything the file
 * exports to each block, which noUnusedLocals refuses, and lets a failing console.assert pass.)
 */
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

/** One block. */
export interface Example {
  /** The file it stands in, relative to the repository. */
  readonly path: string;
  /** The line of its fence, from 1. */
  readonly line: number;
  readonly code: string;
}

/** The names under which examples import the public surface. */
const entries: ReadonlyMap<string, string> = new Map([
  ["@pintle/controller", "src/mod.ts"],
  ["@pintle/controller/testing", "src/testing.ts"],
]);

/** The examples of a file: of its docstrings if it is TypeScript, of its text if it is Markdown. */
export function examplesIn(path: string, text: string): readonly Example[] {
  const examples: Example[] = [];
  let open: { readonly line: number; readonly code: string[] } | undefined;
  for (const [index, raw] of text.split("\n").entries()) {
    const line = path.endsWith(".md") ? raw : docstringLine(raw);
    if (open === undefined) {
      if (line !== undefined && /^\s*```(ts|typescript)\s*$/.test(line)) open = { line: index + 1, code: [] };
    } else if (line === undefined || /^\s*```\s*$/.test(line)) {
      examples.push({ path, line: open.line, code: `${open.code.join("\n")}\n` });
      open = undefined;
    } else {
      open.code.push(line);
    }
  }
  if (open !== undefined) throw new SyntaxError(`Cannot read ${path}: the block of line ${open.line} has no end`);
  return examples;
}

/** The example as a module of its own, wherever that is stored. */
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

/** A test file with one test for each module. */
export function testOf(examples: readonly Example[], modules: readonly string[]): string {
  const tests = examples.map(({ path, line }, index) =>
    `Deno.test(${JSON.stringify(`${path}:${line}`)}, async () => void await import(${JSON.stringify(modules[index])}));`
  );
  return `${throwingAssert}\n${tests.join("\n")}\n`;
}

/** Runtimes only print a line where an assertion of the console fails. */
const throwingAssert = `console.assert = (condition?: unknown, ...words: readonly unknown[]) => {
  if (!condition) throw new Error(["Assertion failed", ...words].join(": "));
};`;

/** The text of a line inside a docstring; undefined for any other line. */
function docstringLine(raw: string): string | undefined {
  const match = /^\s*\*(?!\/) ?(.*)$/.exec(raw);
  return match?.[1];
}
