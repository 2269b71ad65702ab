/**
 * `controller new` of a clone: the files in an empty folder are formatted, linted, type-checked, tested,
 * run on the embedded API server, and compiled, without a change. Needs no cluster. package_test.ts has the same for the package. Run with:
 *
 *   deno test -A tests/e2e/new_test.ts
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import process from "node:process";
import { root } from "../../tasks/_root.ts";
import { richDefinition } from "../../src/cli/new/testing/rich_definition.ts";
import { run } from "../controlplane/run.ts";
import { assert, assertEquals, assertMatch, test } from "../testing.ts";

/** A folder that `new` has written. */
async function written(...args: readonly string[]): Promise<{ readonly path: string } & Disposable> {
  const above = mkdtempSync(join(tmpdir(), "pintle-e2e-"));
  const path = join(above, "project");
  await writeProject(path, args);
  return { path, [Symbol.dispose]: () => rmSync(above, { recursive: true }) };
}

/** Runs `new` in the folder above of the project. */
async function writeProject(path: string, args: readonly string[]): Promise<void> {
  await there(dirname(path), deno, "run", "-A", join(root, "src", "bin.ts"), "new", ...args, "--dir", path);
}

/** Runs a command there. */
async function there(path: string, ...command: readonly [string, ...string[]]): Promise<{ readonly stdout: string }> {
  const [program, ...args] = command;
  const result = await run(program, args, { cwd: path });
  if (result.kind === "ended" && result.code === 0) return result;
  throw new Error(`Cannot run ${command.join(" ")}: ${JSON.stringify(result)}`);
}

const deno = process.execPath;

test("the files of new are formatted, linted, type-checked and tested, and run", async () => {
  using project = await written("website");
  const { path } = project;
  await there(path, deno, "task", "ok");
  const { stdout } = await there(path, deno, "run", "-A", "main.ts", "dev", "website", "--samples", "--until-settled");
  assertMatch(stdout, /^website +1 object +settled$/m);
});

/** The words behind `new` of further projects. `crd.yaml` is in the folder above of each. */
const others = {
  names: [
    ...["an-order-of-".repeat(3) + "4you", "--group", "department-of-department-of-somebody.shop.example.com"],
    ...["ConfigMap", "CronJob", "Deployment", "Service", "StatefulSet"].flatMap((kind) => ["--owns", kind]),
  ],
  versions: [
    ...["backup", "--kind", "CronJob", "--group", "backups.example.com", "--owns", "CronJob", "--owns", "Job"],
    ...["--webhook", "--versions", "v1alpha1,v1"],
  ],
  definition: ["--from-crd", "crd.yaml", "--webhook", "--owns", "Deployment"],
} as const;

/**
 * Writes the other projects into one folder, and checks their types at once, because a check takes the library with it. Each
 * project keeps its own imports: they are the scope of its folder.
 */
async function writeOthers(): Promise<string> {
  const above = mkdtempSync(join(tmpdir(), "pintle-e2e-"));
  addEventListener("unload", () => rmSync(above, { recursive: true, force: true }));
  writeFileSync(join(above, "crd.yaml"), richDefinition);
  const [scopes, links]: [Record<string, unknown>, Set<string>] = [{}, new Set()];
  for (const [name, args] of Object.entries(others)) {
    const path = join(above, name);
    await writeProject(path, args);
    const { imports, links: linked, compilerOptions } = JSON.parse(readFileSync(join(path, "deno.json"), "utf8"));
    assertEquals(compilerOptions, undefined);
    scopes[`./${name}/`] = imports;
    for (const link of linked) links.add(resolve(path, link));
  }
  const settings = join(above, "check.json");
  writeFileSync(settings, JSON.stringify({ links: [...links], nodeModulesDir: "none", scopes }));
  await there(above, deno, "check", "--no-lock", "--config", settings, ...Object.keys(others));
  return above;
}

let otherProjects: Promise<string> | undefined;

/** Runs what the task `ok` of a project runs, with the check of {@link writeOthers}. @returns the folder of the project */
async function assertOk(name: keyof typeof others): Promise<string> {
  otherProjects ??= writeOthers();
  const path = join(await otherProjects, name);
  const { tasks } = JSON.parse(readFileSync(join(path, "deno.json"), "utf8"));
  const check = " && deno check && ";
  assert(tasks.ok.includes(check), tasks.ok);
  await there(path, "/bin/sh", "-c", tasks.ok.replace(check, " && ").replaceAll("deno ", '"$0" '), deno);
  return path;
}

test("the same holds for long names and every kind of dependent", async () => {
  await assertOk("names");
});

test("the same holds for versions, webhooks, and a kind with the name of one that it owns", async () => {
  await assertOk("versions");
});

test("the same holds for the kind of another program", async () => {
  const path = await assertOk("definition");
  const { stdout } = await there(path, deno, "run", "-A", "main.ts", "dev", "--all", "--samples", "--until-settled");
  assertMatch(stdout, /^machine +1 object +settled$/m);
});

test("the files of new compile into a binary that runs", async () => {
  using project = await written("website", "--owns", "ConfigMap");
  const { path } = project;
  await there(path, deno, "task", "compile");
  const binary = join(path, "dist", "website");
  assertEquals((await there(path, binary, "--version")).stdout, "0.1.0\n");
  const { stdout } = await there(path, binary, "dev", "website", "--samples", "--until-settled");
  assertMatch(stdout, /^website +1 object +settled$/m);
  const crds = await there(path, binary, "install-crds", "--dry-run=client", "-o", "name");
  assert(crds.stdout.includes("websites.example.dev"));
});
