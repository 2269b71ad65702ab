/**
 * What a compiler needs to check the operator of the README, which is one file, against the packed package: the CPU time
 * of a first check by `tsc`, and of the check after an edit by a language server, as in an editor.
 *
 * The package is installed by npm in an empty folder. The settings are those that `new` writes; with "all declarations
 * checked" they are without `skipLibCheck`. The edit is a wrong name of a field, and must be reported.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import config from "../../deno.json" with { type: "json" };
import pinned from "../../tests/runtimes/package.json" with { type: "json" };
import { tsconfigText } from "../../src/cli/new/runtime_files.ts";
import { examplesIn } from "../../tasks/_doc_examples.ts";
import { packagesFolder } from "../../tasks/_package.ts";
import { root } from "../../tasks/_root.ts";
import { nodeProgram, npmModule } from "../../tasks/_runtimes.ts";
import { type Insertion, type LanguageServer, openLspServer, openTsserver } from "../language_server.ts";
import type { Sample } from "../metric.ts";
import { childrenCpuMs } from "../usage.ts";
import { type Case, interleaved, ours, type Outcome, type Setting, type Subject } from "./case.ts";

/** The compilers, under the names of their folders in node_modules. */
const compilers = {
  typescript7: config.imports.typescript.replace(/.*@/, ""),
  typescript5: pinned.dependencies.typescript,
} as const;

/** Node's types are pinned too: they are most of what is read. */
const nodeTypes = "22.20.5";

/** A check: the folder of a compiler, whether declarations are checked, and what is checked. */
interface Check {
  readonly compiler: keyof typeof compilers;
  readonly checksDeclarations: boolean;
  readonly source: string;
}

/** The operator on the first page of the README. */
const operator = examplesIn("README.md", readFileSync(join(root, "README.md"), "utf8"))[0]?.code ?? "";

/** A schema without our package. */
const zodOnly = `import { z } from "zod";

export const spec = z.object({ html: z.string().min(1) });
`;

/** The edit: `spec.htmlx` is not a field. */
const field = "spec.html";

/** The name of our own side with a compiler. */
export function typesSubject(compiler: "TypeScript 7" | "TypeScript 5.9", checksDeclarations: boolean): string {
  return `${ours}, ${compiler}${checksDeclarations ? ", all declarations checked" : ""}`;
}

const zodSubject = "zod and Node's types alone, TypeScript 5.9, all declarations checked";

const checks: ReadonlyMap<string, Check> = new Map([
  ...([["typescript7", "TypeScript 7"], ["typescript5", "TypeScript 5.9"]] as const).flatMap(([compiler, title]) =>
    [false, true].map((checksDeclarations) =>
      [typesSubject(title, checksDeclarations), { compiler, checksDeclarations, source: operator }] as const
    )
  ),
  [zodSubject, { compiler: "typescript5", checksDeclarations: true, source: zodOnly }],
]);

/** Type-checks a one-file operator. */
export const typesCase: Case = {
  name: "types",
  title: () => "the README's operator, type-checked against the packed package",
  subjects: [...checks.keys()].map((name): Subject => ({ name, program: "packages", args: [] })),
  makesOwnLoad: true,
  run: measureAll,
};

async function measureAll(setting: Setting): Promise<Outcome> {
  const folder = mkdtempSync(join(tmpdir(), "pintle-bench-types-"));
  try {
    install(folder);
    const measured = interleaved(setting, ({ name }) => {
      const check = checks.get(name);
      if (check === undefined) throw new RangeError(`Cannot measure "${name}": there is no such check`);
      return measure(folder, check);
    });
    const facts = { "TypeScript": Object.values(compilers).join(" and "), "Node's types": nodeTypes };
    return { samples: await measured, facts };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Installs the package and the compilers, as a user does. */
function install(folder: string): void {
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }));
  const packages = [
    join(packagesFolder, `${config.name.slice(1).replace("/", "-")}-${config.version}.tgz`),
    ...Object.entries(compilers).map(([name, version]) => `${name}@npm:typescript@${version}`),
    `@types/node@${nodeTypes}`,
  ];
  const flags = ["--no-audit", "--no-fund", "--ignore-scripts", "--save-exact", "--loglevel=error"];
  execFileSync(nodeProgram("node24"), [npmModule(), "install", ...flags, ...packages], { cwd: folder });
}

async function measure(folder: string, { compiler, checksDeclarations, source }: Check): Promise<Sample["values"]> {
  const project = join(folder, compiler);
  const file = join(project, "main.ts");
  mkdirSync(project, { recursive: true });
  writeFileSync(file, source);
  const { compilerOptions, ...others } = JSON.parse(tsconfigText());
  const settings = { ...others, compilerOptions: { ...compilerOptions, skipLibCheck: !checksDeclarations } };
  writeFileSync(join(project, "tsconfig.json"), JSON.stringify(settings));
  const checkCpuMs = firstCheck(project, join(folder, "node_modules", compiler));
  if (!source.includes(field)) return { checkCpuMs };
  return { checkCpuMs, editCpuMs: await checkAfterEdit(folder, compiler, { file, text: source }) };
}

/** Runs `tsc`, and returns the CPU time of its process and those that it starts. */
function firstCheck(project: string, compiler: string): number {
  const before = childrenCpuMs();
  const { status, stdout } = spawnSync(nodeProgram("node24"), [join(compiler, "bin", "tsc"), "-p", project], {
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`Cannot check ${project}: ${stdout}`);
  return childrenCpuMs() - before;
}

/** Opens the operator in a language server, makes a mistake in it, and returns the CPU time until it is reported. */
async function checkAfterEdit(
  folder: string,
  compiler: Check["compiler"],
  opened: { readonly file: string; readonly text: string },
): Promise<number> {
  await using server = await startServer(folder, compiler, opened);
  expectProblems(await server.problems(), []);
  const before = server.usage().cpuMs;
  server.insert(mistakeIn(opened.text));
  const problems = await server.problems();
  const spent = server.usage().cpuMs - before;
  expectProblems(problems, [/^Property 'htmlx' does not exist on type /]);
  return spent;
}

function startServer(
  folder: string,
  compiler: Check["compiler"],
  opened: { readonly file: string; readonly text: string },
): Promise<LanguageServer> | LanguageServer {
  if (compiler === "typescript5") {
    const tsserver = join(folder, "node_modules", compiler, "lib", "tsserver.js");
    const command = [nodeProgram("node24"), tsserver, "--disableAutomaticTypingAcquisition"];
    return openTsserver({ command, ...opened });
  }
  const platform = `typescript-${process.platform}-${process.arch}`;
  const program = join(folder, "node_modules", "@typescript", platform, "lib", "tsc");
  return openLspServer({ command: [program, "--lsp", "--stdio"], ...opened });
}

function mistakeIn(text: string): Insertion {
  const lines = text.split("\n");
  const line = lines.findIndex((content) => content.includes(field));
  return { line, column: (lines[line]?.indexOf(field) ?? 0) + field.length, text: "x" };
}

function expectProblems(found: readonly string[], expected: readonly RegExp[]): void {
  const isExpected = found.length === expected.length && expected.every((pattern, at) => pattern.test(found[at] ?? ""));
  if (!isExpected) throw new Error(`Cannot measure a check: it reported ${JSON.stringify(found)}`);
}
