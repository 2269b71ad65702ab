/**
 * Finds the ```ts blocks in docstrings and pages and turns each into a module that a test can import.
 *
 * Convention: an example is code of a user. It imports from "@pintle/controller" or one of its other entries; an example
 * of something that is not public imports the path that its own file would write ("./mod.ts"). It asserts with
 * console.assert. A block that cannot run alone is marked ```ts ignore. (`deno test --doc` was tried: it adds an import
 * of everything the file exports to each block, which noUnusedLocals rejects, and lets a failing console.assert pass.)
 */
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
}

/** The public entries, by the specifiers under which examples import them. */
const entries: ReadonlyMap<string, string> = new Map(
  Object.entries(config.exports).map(([subpath, file]) => [`${config.name}${subpath.slice(1)}`, file]),
);

/** The examples of a file: in its docstrings if it is TypeScript, in its text if it is Markdown. */
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

/** A test file with one test for each module. */
export function testOf(examples: readonly Example[], modules: readonly string[]): string {
  const tests = examples.map(({ path, line }, index) =>
    `Deno.test(${JSON.stringify(`${path}:${line}`)}, async () => void await import(${JSON.stringify(modules[index])}));`
  );
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
