/**
 * `controller new` of a clone: the files in an empty folder are formatted, linted, type-checked, tested,
 * run on the embedded API server, and compiled, without a change. Needs no cluster. package_test.ts has the same for the package. Run with:
 *
 *   deno test -A tests/e2e/new_test.ts
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { root } from "../../tasks/_root.ts";
import { richDefinition } from "../../src/cli/new/testing/rich_definition.ts";
import { run } from "../controlplane/run.ts";
import { assert, assertEquals, assertMatch, test } from "../testing.ts";

/** A folder that `new` has written. */
async function written(...args: readonly string[]): Promise<{ readonly path: string } & Disposable> {
  const above = mkdtempSync(join(tmpdir(), "pintle-e2e-"));
  const path = join(above, "project");
  await there(root, deno, "run", "-A", "src/bin.ts", "new", ...args, "--dir", path);
  return { path, [Symbol.dispose]: () => rmSync(above, { recursive: true }) };
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

test("the same holds for long names and every kind of dependent", async () => {
  const owned = ["ConfigMap", "CronJob", "Deployment", "Service", "StatefulSet"].flatMap((kind) => ["--owns", kind]);
  const group = "department-of-department-of-somebody.shop.example.com";
  using project = await written("an-order-of-".repeat(3) + "4you", "--group", group, ...owned);
  await there(project.path, deno, "task", "ok");
});

test("the same holds for versions, webhooks, and a kind with the name of one that it owns", async () => {
  const flags = ["--owns", "CronJob", "--owns", "Job", "--webhook", "--versions", "v1alpha1,v1"];
  using project = await written("backup", "--kind", "CronJob", "--group", "backups.example.com", ...flags);
  await there(project.path, deno, "task", "ok");
});

test("the same holds for the kind of another program", async () => {
  const folder = mkdtempSync(join(tmpdir(), "pintle-e2e-"));
  try {
    const file = join(folder, "crd.yaml");
    writeFileSync(file, richDefinition);
    using project = await written("--from-crd", file, "--webhook", "--owns", "Deployment");
    await there(project.path, deno, "task", "ok");
    const { stdout } = await there(
      project.path,
      deno,
      "run",
      "-A",
      "main.ts",
      "dev",
      "--all",
      "--samples",
      "--until-settled",
    );
    assertMatch(stdout, /^machine +1 object +settled$/m);
  } finally {
    rmSync(folder, { recursive: true });
  }
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
