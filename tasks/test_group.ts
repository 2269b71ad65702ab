/**
 * Runs many test files as one module on Deno, which loads the modules under test once and not once per file (of the time
 * of short tests, that is more than half):
 *
 *   deno run -A tasks/test_group.ts [--part K/N] PATH...
 *
 * PATH is a test file or a folder of them; `--part 1/2` takes every other file. The name of each test begins with its
 * file. A file that cannot be loaded is a failed test of that name. Files with tests that measure memory or replace
 * globals of the process are for `deno test` itself, where each file has its own module.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { root } from "./_root.ts";

/** The text of a module that has the tests of all files. @param files absolute paths */
export function groupModule(files: readonly string[]): string {
  const entries = files.map((file) => [relative(root, file).replaceAll("\\", "/"), pathToFileURL(file).href]);
  return `const files = ${JSON.stringify(entries, undefined, 1)};
const register = Deno.test;
let file = "";
const named = (first, ...rest) =>
  typeof first === "string"
    ? register(\`\${file}: \${first}\`, ...rest)
    : register({ ...first, name: \`\${file}: \${first.name}\` }, ...rest);
Object.defineProperty(Deno, "test", { value: named });
for (const [name, url] of files) {
  file = name;
  try {
    await import(url);
  } catch (error) {
    named("the file can be loaded", () => { throw error; });
  }
}
`;
}

/** The test files of these paths, sorted: all, or those of one part. */
export function testFiles(paths: readonly string[], { part = 1, of = 1 } = {}): readonly string[] {
  const files = paths.map((path) => resolve(root, path)).flatMap((path) => {
    if (statSync(path).isFile()) return [path];
    const found = readdirSync(path, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith("_test.ts"));
    return found.map((name) => join(path, name));
  });
  return files.sort().filter((_, index) => index % of === part - 1);
}

function runTests(files: readonly string[]): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "pintle-tests-"));
  const path = join(folder, "group_test.js");
  writeFileSync(path, groupModule(files));
  const args = ["test", "-A", "--no-check", "--quiet", "--config", join(root, "deno.json"), path];
  const child = spawn(process.execPath, args, { cwd: root, stdio: "inherit" });
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => child.kill(signal));
  return new Promise<number>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve(code ?? 1));
  }).finally(() => rmSync(folder, { recursive: true }));
}

async function main(args: readonly string[]): Promise<number> {
  const [, part, of] = /^--part (\d+)\/(\d+) /.exec(`${args.slice(0, 2).join(" ")} `) ?? [];
  if (part === undefined) return await runTests(testFiles(args));
  return await runTests(testFiles(args.slice(2), { part: Number(part), of: Number(of) }));
}

if (import.meta.main) process.exitCode = await main(process.argv.slice(2));
