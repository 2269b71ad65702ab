/**
 * `deno task node [PART-OF-A-PATH]`: runs the tests of the runtime and the engine on Node 22 and 24, and those of the
 * command line on Node 22; or the tests with this part in their path on both. They are compiled as the package is, and the
 * files that they test are those of the package.
 */
import { spawnSync } from "node:child_process";
import { cpSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { compile, writePackages } from "./_package.ts";
import { root } from "./_root.ts";
import { missingRuntimes, nodeProgram, nodeVersions } from "./_runtimes.ts";

const folder = join(root, "dist", "node");

/** The folders of src whose tests run on each Node: the runtime and the engine. */
const folders = [
  ...["runtime", "async", "observe", "api", "yaml", "schema", "client", "cache", "queue", "controller", "webhook"],
  "manager",
];

/** The folders whose tests run on the oldest Node only: plain TypeScript above the engine, with long tests. */
const upperFolders = ["cli"];

/** Writes dist/node: the package's modules in src, and beside them the tests. @returns the paths of the tests */
function writeTests(): readonly string[] {
  const tests = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith("_test.ts") || path.includes("/testing/") && path.endsWith(".ts"))
    .map((path) => join("src", path));
  rmSync(folder, { recursive: true, force: true });
  compile(tests, folder, { checks: false });
  const { controller } = writePackages(join(folder, "npm"));
  cpSync(join(controller, "lib"), join(folder, "src"), { recursive: true });
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }\n');
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  for (const test of tests) nameCompiledFiles(join(folder, test.replace(/\.ts$/, ".js")));
  return tests.filter((path) => path.endsWith("_test.ts")).map((path) => path.replace(/\.ts$/, ".js")).sort();
}

/** Some tests start a module of their own as a program. */
function nameCompiledFiles(test: string): void {
  const text = readFileSync(test, "utf8");
  const compiled = text.replaceAll(/\.ts"(?=, import\.meta\.url\))/g, '.js"');
  if (compiled !== text) writeFileSync(test, compiled);
}

/**
 * Commands that a second signal, SIGQUIT or a defect has ended at once leave their server to the end of the process, so
 * Node would wait for ever. The engine leaves nothing: its tests end without this.
 */
const forcedEnd = ["--test-force-exit"];

/** Runs tests. @returns the exit code of Node */
function runTests(version: typeof nodeVersions[number], tests: readonly string[], flags: readonly string[]) {
  const program = nodeProgram(version);
  console.log(`Node ${spawnSync(program, ["--version"], { encoding: "utf8" }).stdout.trim()}: ${tests.length} files`);
  const isolation = version === "node22" ? "--experimental-test-isolation=none" : "--test-isolation=none";
  const options = [
    "--test",
    isolation,
    ...flags,
    `--test-reporter=${join(root, "tasks", "_node_reporter.ts")}`,
    "--enable-source-maps",
  ];
  return spawnSync(program, [...options, "--no-warnings", ...tests], { cwd: folder, stdio: "inherit" }).status;
}

if (import.meta.main) {
  if (missingRuntimes !== undefined) {
    console.log(`0 passed, 0 failed, skipped: ${missingRuntimes}`);
    process.exit(0);
  }
  const [part] = process.argv.slice(2);
  const tests = writeTests();
  const testsIn = (names: readonly string[]) => tests.filter((path) => names.includes(path.split("/")[1] ?? ""));
  const codes = nodeVersions.flatMap((version, index) => {
    if (part !== undefined) return [runTests(version, tests.filter((path) => path.includes(part)), forcedEnd)];
    const codeOfEngine = runTests(version, testsIn(folders), []);
    return index > 0 ? [codeOfEngine] : [codeOfEngine, runTests(version, testsIn(upperFolders), forcedEnd)];
  });
  process.exit(codes.every((code) => code === 0) ? 0 : 1);
}
