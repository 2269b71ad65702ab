/**
 * Checks src against the table in layers.ts, and shows with invented files that each rule can fail.
 * Deno only: its parser reads the files, and the result does not depend on the runtime.
 */
import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import plugin, { layers } from "./layers.ts";
import { assert, assertEquals, test } from "./testing.ts";

const root = join(import.meta.dirname ?? ".", "..");
const hasParser = "Deno" in globalThis;

/** The findings in a file, as `rule: message`. */
function findings(path: string, source: string): readonly string[] {
  return Deno.lint.runPlugin(plugin, join(root, path), source)
    .map(({ id, message, range }) => `${id.replace("layers/", "")}: ${message} (offset ${range[0]})`);
}

function layerTest(name: string, fn: () => void): void {
  if (hasParser) test(name, fn);
  else test.skip(name, "Deno's parser reads the sources");
}

layerTest("every file under src keeps to its layer, runtime and clock, and begins with a header", () => {
  const paths = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts")).map((path) => join("src", path)).sort();
  assert(paths.length > 20, `expected the sources, found ${paths.length}`);
  const all = paths.flatMap((path) =>
    findings(path, readFileSync(join(root, path), "utf8")).map((finding) => `${path}: ${finding}`)
  );
  assertEquals(all, [], all.join("\n"));
});

layerTest("every folder under src is a layer of the table", () => {
  const folders = readdirSync(join(root, "src"));
  assertEquals(folders.filter((folder) => !Object.hasOwn(layers, folder)), []);
});

/** The files under src with the files that each imports, type-only and dynamic imports included. */
function importGraph(): ReadonlyMap<string, readonly string[]> {
  const files = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts")).map((path) => join("src", path)).sort();
  return new Map(files.map((path) => {
    const text = readFileSync(join(root, path), "utf8").replaceAll(/\/\*[\s\S]*?\*\//g, "");
    const specifiers = [...text.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*"(\.[^"]+)"/g)].map(([, specifier = ""]) =>
      specifier
    );
    return [path, [...new Set(specifiers.map((specifier) => join(dirname(path), specifier)))]];
  }));
}

/** Sets of files that import each other in a circle, by Tarjan's algorithm. */
function circlesIn(graph: ReadonlyMap<string, readonly string[]>): readonly (readonly string[])[] {
  const indices = new Map<string, number>(), lowest = new Map<string, number>();
  const stack: string[] = [], found: string[][] = [];
  const visit = (file: string): number => {
    indices.set(file, indices.size);
    lowest.set(file, indices.size - 1);
    stack.push(file);
    for (const target of graph.get(file) ?? []) {
      if (!graph.has(target)) continue;
      const reached = !indices.has(target) ? visit(target) : stack.includes(target) ? indices.get(target) : undefined;
      if (reached !== undefined) lowest.set(file, Math.min(lowest.get(file) ?? 0, reached));
    }
    if (lowest.get(file) === indices.get(file)) {
      const circle = stack.splice(stack.indexOf(file));
      if (circle.length > 1) found.push(circle);
    }
    return lowest.get(file) ?? 0;
  };
  for (const file of graph.keys()) if (!indices.has(file)) visit(file);
  return found;
}

test("no file under src imports itself through others, type-only imports included", () => {
  assertEquals(circlesIn(new Map([["a", ["b"]], ["b", ["c"]], ["c", ["b", "d"]], ["d", []]])), [["b", "c"]]);
  assertEquals(circlesIn(importGraph()), []);
});

/** Private files with one importer and no test beside them that are a topic of their own, with the reason. */
const separateTopics: ReadonlyMap<string, string> = new Map([
  ["src/cel/language/_call_estimates.ts", "with cost_estimate.ts it would have 620 lines"],
  ["src/cel/language/_list_functions.ts", "a library of CEL functions, as the others in environment.ts"],
  ["src/cel/language/_macros.ts", "with parser.ts it would have 540 lines"],
  ["src/cel/language/_runtime_cost.ts", "with _planner.ts it would have 600 lines"],
  ["src/cel/language/_strings.ts", "a library of CEL functions, as the others in environment.ts"],
  ["src/cel/language/_tokens.ts", "with parser.ts it would have 640 lines"],
  ["src/apiserver/patch/_strategic_lists.ts", "with its importer it would have more than 500 lines"],
  ["src/schema/_zod_meta.ts", "an augmentation of zod, which a package for registries must not contain"],
]);

test("a private file has two importers, a test beside it, or a reason to be a file", () => {
  const graph = importGraph();
  const product = [...graph].filter(([path]) => !/_test\.ts$|\/testing\//.test(path));
  const lonely = product.map(([path]) => path).filter((path) => {
    if (!basename(path).startsWith("_") || graph.has(path.replace(/\.ts$/, "_test.ts"))) return false;
    return product.filter(([, targets]) => targets.includes(path)).length < 2;
  });
  assertEquals(lonely.filter((path) => !separateTopics.has(path)), []);
  assertEquals([...separateTopics.keys()].filter((path) => !lonely.includes(path)), []);
});

const header = "/** What it is for. */\n";

const violations: readonly (readonly [path: string, source: string, rule: string, message: string])[] = [
  ["src/cache/a.ts", 'import { Client } from "../client/mod.ts";', "imports", "cache (rank 1) may not know client"],
  ["src/cache/a.ts", 'import type { Client } from "../client/mod.ts";', "imports", "may not know client"],
  ["src/cache/a.ts", 'export { Client } from "../client/mod.ts";', "imports", "may not know client"],
  ["src/cache/a.ts", 'export * from "../client/mod.ts";', "imports", "may not know client"],
  ["src/cache/a.ts", 'type C = import("../client/mod.ts").Client;', "imports", "may not know client"],
  ["src/cache/a.ts", 'const c = await import("../client/mod.ts");', "imports", "may not know client"],
  ["src/cache/a.ts", "const c = await import(name);", "imports", "whose specifier is no literal"],
  ["src/cache/a.ts", 'import { Clock } from "../async/clock.ts";', "imports", "use src/async/mod.ts"],
  ["src/queue/a.ts", 'import { Resource } from "../api/mod.ts";', "imports", "queue (rank 1) may not know api"],
  ["src/api/a.ts", 'import { Clock } from "../async/mod.ts";', "imports", "api (rank 0) may not know async"],
  ["src/manager/a.ts", 'import { serve } from "../apiserver/mod.ts";', "imports", "manager (rank 3) may not know"],
  ["src/controller/a.ts", 'import { Manager } from "../manager/mod.ts";', "imports", "may not know manager"],
  ["src/controllers/foo/a.ts", 'import { test } from "../../cache/mod.ts";', "imports", "may not know cache"],
  ["src/controllers/foo/a.ts", 'import { bar } from "../bar/mod.ts";', "imports", "do not know each other"],
  ["src/cache/sub/a.ts", 'import { x } from "../_x.ts";', "imports", "private to its folder"],
  ["src/cache/a.ts", 'import { x } from "../helpers/mod.ts";', "imports", "helpers is not a layer"],
  [
    "src/manager/a.ts",
    'import { trace } from "@opentelemetry/api";',
    "imports",
    "only src/cli/tracing/ knows OpenTelemetry",
  ],
  ["src/cache/a.ts", 'import { z } from "npm:zod@4.6.7";', "imports", "versions stand in deno.json alone"],
  ["src/cache/a.ts", 'import { test } from "../../tests/testing.ts";', "imports", "it is not in src"],
  ["src/cache/a_test.ts", 'import { x } from "../../tests/layers.ts";', "imports", "it is not in src"],
  ["src/cache/a.ts", 'import process from "node:process";', "imports", "only src/runtime knows the runtime"],
  ["src/cache/a.ts", "Deno.exit(1);", "runtime", "Cannot say Deno here"],
  ["src/cache/a.ts", "const x = globalThis.process;", "runtime", "Cannot say process here"],
  ["src/cache/a.ts", "const server: Deno.HttpServer = make();", "runtime", "Cannot say Deno here"],
  ["src/cache/a.ts", "export const bun = { process };", "runtime", "Cannot say process here"],
  ["src/cache/a.ts", "const at = Date.now();", "time", "Cannot say Date.now here"],
  ["src/cache/a.ts", "const at = new Date();", "time", "Cannot say new Date() here"],
  ["src/cache/a.ts", "const now = Math.random;", "time", "Cannot say Math.random here"],
  ["src/cache/a.ts", "setTimeout(() => {}, 5);", "time", "Cannot say setTimeout here"],
  ["src/cache/a.ts", "const s = AbortSignal.timeout(5);", "time", "Cannot say AbortSignal.timeout here"],
  ["src/cache/a_test.ts", "await new Promise((done) => setTimeout(done, 5));", "time", "Cannot say setTimeout here"],
  ["src/mod.ts", 'export * from "./api/mod.ts";', "file", "Cannot export *"],
  ["src/cache/a.ts", 'import { x } from "./testing/x.ts";', "imports", "does not know what only tests use"],
  ["src/apiserver/http/a.ts", 'import { x } from "../patch/x.ts";', "imports", "use src/apiserver/patch/mod.ts"],
  ["src/cache/a.ts", "console.log(1);", "outputs", "Cannot say console here"],
  ["src/cli/a.ts", "const log = globalThis.console;", "outputs", "Cannot say console here"],
  ["src/cli/a.ts", "process_.stdout.write(name);", "outputs", "Cannot write here"],
  ["src/cli/a.ts", "session.processEnvironment.stderr.write(name);", "outputs", "Cannot write here"],
  ["src/cli/a.ts", "stdout.write(name);", "outputs", "Cannot write here"],
  ["src/cli/a.ts", 'import { standardError } from "../runtime/mod.ts";', "outputs", "Cannot say standardError here"],
  ["src/runtime/a.ts", "process.stderr.end(name);", "outputs", "Cannot say its streams here"],
  ["src/cli/a.ts", 'const red = "\\u001b[31m";', "outputs", "Cannot say a terminal sequence here"],
  ["src/cli/a.ts", "const red = `\\x1b[${code}m`;", "outputs", "Cannot say a terminal sequence here"],
  ["src/cli/a.ts", "const red = /\\u001b/;", "outputs", "Cannot say a terminal sequence here"],
  ["src/cache/a.ts", "\n".repeat(501), "file", "Cannot grow past 500 lines: it has 502"],
];

for (const [path, source, rule, message] of violations) {
  layerTest(`the layers refuse ${source.trim() || "a long file"} in ${path}`, () => {
    const found = findings(path, header + source);
    assertEquals(found.length, 1, found.join("\n"));
    assert(
      found[0]?.startsWith(`${rule}: `) && found[0].includes(message),
      `${found[0]} should be ${rule}: ${message}`,
    );
  });
}

layerTest("the layers refuse a file without a header", () => {
  assertEquals(findings("src/cache/a.ts", "// x\nexport {};").map((finding) => finding.split(":")[0]), ["file"]);
});

const legal: readonly (readonly [path: string, source: string])[] = [
  [
    "src/cache/a.ts",
    'import { Clock } from "../async/mod.ts";\nimport { x } from "./_x.ts";\nimport { y } from "zod";',
  ],
  [
    "src/cache/a_test.ts",
    'import { test } from "../../tests/testing.ts";\nimport { f } from "../../tests/fakes/f.ts";',
  ],
  ["src/runtime/a.ts", 'import process from "node:process";\nDeno.exit(Date.now());'],
  ["src/async/a.ts", "setTimeout(() => {}, Math.random());"],
  ["src/cli/a.ts", 'const run = await import("./run.ts");\nimport { Manager } from "../manager/mod.ts";'],
  ["src/controllers/mod.ts", 'export { foo } from "./foo/mod.ts";\nimport { controller } from "../mod.ts";'],
  ["src/cache/a.ts", 'const text = "Deno.exit(Date.now())"; // Bun and process and setTimeout()'],
  ["src/cache/a.ts", "const at = new Date(0);\nconst held = { process: 1 };\nheld.process;\nfoo.Deno;"],
  ["src/cli/a.ts", "const process = start();\nprocess.exit;\nrun((Bun) => Bun.size);"],
  ["src/api/mod.ts", 'export * as builtin from "./builtin.ts";'],
  ["src/observe/line_writer.ts", 'this.#output.write("\\u001b[0m");'],
  ["src/cli/a_test.ts", 'console.log("\\u001b[0m");'],
  ["src/cli/a.ts", "session.console; sink.write(bytes);"],
  ["main.ts", "Deno.exit(Date.now());"],
];

for (const [path, source] of legal) {
  layerTest(`the layers admit ${JSON.stringify(source)} in ${path}`, () => {
    assertEquals(findings(path, header + source), []);
  });
}
