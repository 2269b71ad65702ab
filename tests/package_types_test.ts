/**
 * The declarations of the packed package, as a strict user's compiler checks them: all entries, without `skipLibCheck`, by
 * TypeScript 7 and by TypeScript 5.9, which many projects still have.
 *
 * A module shows that what may be undefined is accepted where a member is optional, also with exactOptionalPropertyTypes.
 *
 * Beside the entries stand two files with an error each. They show that modules are checked strictly, and declarations at all.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import config from "../deno.json" with { type: "json" };
import { withUndefined } from "../tasks/_optional_members.ts";
import { writePackages } from "../tasks/_package.ts";
import { root } from "../tasks/_root.ts";
import { missingRuntimes, typescriptModule } from "../tasks/_runtimes.ts";
import { assert, assertEquals, test } from "./testing.ts";

const entries = Object.keys(config.exports).map((entry) => join(config.name, entry));

const files: Readonly<Record<string, string>> = {
  "entries.ts": [
    ...entries.map((entry, index) => `import * as entry${index} from "${entry}";`),
    `export const entries = [${entries.map((_, index) => `entry${index}`).join(", ")}];`,
    "",
  ].join("\n"),
  "strict.ts": 'export const text: string = new Map<string, string>().get("a");\n',
  "exact.ts": [
    'import { ConfigMap, type KubeObject, manifest, type OwnerReference } from "@pintle/controller";',
    'import type { ClientOptions } from "@pintle/controller/client";',
    'export const pageOf = ({ metadata: { name = "", namespace } }: KubeObject, data: { a: string } | undefined) =>',
    "  manifest(ConfigMap, { metadata: { name, namespace }, data });",
    "export const referenceOf = (reference: OwnerReference): OwnerReference => {",
    "  const { apiVersion, kind, name, uid, controller } = reference;",
    "  return { apiVersion, kind, name, uid, controller };",
    "};",
    "export const optionsOf = (fieldManager: string | undefined): ClientOptions => ({ fieldManager });",
    "",
  ].join("\n"),
  "declared.d.ts": "export declare const missing: Missing;\n",
  "package.json": '{ "type": "module" }\n',
  "tsconfig.json": JSON.stringify({
    compilerOptions: {
      target: "es2024",
      lib: ["es2024", "esnext.disposable"],
      module: "nodenext",
      types: ["node"],
      typeRoots: [join(root, "node_modules", ".deno", "node_modules", "@types")],
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      skipLibCheck: false,
      noEmit: true,
    },
    files: ["entries.ts", "exact.ts", "strict.ts", "declared.d.ts"],
  }),
};

/** Writes the package into a folder in which its dependencies are found, and passes that folder on. */
function withPackage(run: (folder: string) => void): void {
  const folder = mkdtempSync(join(root, "node_modules", ".package-types-"));
  try {
    const installed = join(folder, "node_modules", config.name);
    mkdirSync(join(installed, ".."), { recursive: true });
    renameSync(writePackages(join(folder, "written")).controller, installed);
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    run(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** @returns the diagnostics without their texts, sorted: file, line and code */
function diagnosticsOf(compiler: string, folder: string): readonly string[] {
  const args = ["run", "-A", compiler, "-p", folder, "--pretty", "false"];
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8" });
  assertEquals(stderr, "");
  const lines = stdout.split("\n").filter((line) => /^\S/.test(line));
  return lines.map((line) => /^(\S+\(\d+),\d+\): error (TS\d+)/.exec(line)?.slice(1).join(") ") ?? line).sort();
}

/** What the two wrong files say. */
const expected = ["declared.d.ts(1) TS2304", "strict.ts(1) TS2322"];

const sentence = "every entry of the package type-checks strictly, all declarations included, with TypeScript";
const versions = missingRuntimes === undefined ? ["7", "5.9"] : ["7"];

test("withUndefined() adds undefined to each optional member, inside of others too, and to nothing else", () => {
  const cases = [
    ["a?: string;", "a?: string | undefined;"],
    ["a?: (b?: C<D, E>) => void;", "a?: ((b?: C<D, E> | undefined) => void) | undefined;"],
    ["a?: {\n  b?: C;\n};", "a?: ({\n  b?: C | undefined;\n}) | undefined;"],
    ["f(a?: A, b?: B): A extends B ? C : D;", "f(a?: A | undefined, b?: B | undefined): A extends B ? C : D;"],
    ["[K in A]-?: B; [K in A]?: `${K};`;", "[K in A]-?: B; [K in A]?: `${K};` | undefined;"],
    ['/** a?: b; */ c: "d?: e;"; // f?: g;', '/** a?: b; */ c: "d?: e;"; // f?: g;'],
  ];
  for (const [text = "", expected = ""] of cases) assertEquals(withUndefined(text), expected);
});

test(`${sentence} ${versions.join(" and ")}`, () => {
  assert(entries.length > 5);
  withPackage((folder) => {
    for (const version of versions) {
      const compiler = version === "7" ? join(root, "node_modules", "typescript", "bin", "tsc") : typescriptModule();
      assertEquals(diagnosticsOf(compiler, folder), expected, `TypeScript ${version}`);
    }
  });
});

if (missingRuntimes !== undefined) test.skip(`${sentence} 5.9`, missingRuntimes);
