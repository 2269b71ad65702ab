/**
 * Projects of `new` with flags, from the packed files in an empty folder: each passes its own tests and checks, settles,
 * simulates and compiles, with one runtime and nothing else. Each set of flags runs with one runtime; with
 * PINTLE_ALL_RUNTIMES=1 with each. Run with:
 *
 *   deno test -A tests/e2e/new_flags_test.ts
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { richDefinition } from "../../src/cli/new/testing/rich_definition.ts";
import { missingRuntimes } from "../../tasks/_runtimes.ts";
import { assertMatch, test } from "../testing.ts";
import { machine } from "./_machine.ts";
import { packedArchives } from "./_packed.ts";
import { registryWith, type UserRuntime, userRuntimes } from "./_user_runtimes.ts";

const archives = missingRuntimes === undefined ? await packedArchives() : [];

/** The words behind `new`, and the name of the project that they make. Every flag is in one set, and most pairs are. */
const projects = [
  ["--from-crd crd.yaml --webhook --owns Deployment", "machine"],
  ["--from-crd - --owns CronJob --owns Service < crd.yaml", "machine"],
  [
    "backup --kind CronJob --group backups.example.com --owns CronJob --owns Job --webhook --versions v1alpha1,v1",
    "backup",
  ],
  ["website --owns Secret --owns StatefulSet --owns PersistentVolumeClaim --owns Ingress --versions v1,v2", "website"],
] as const;

async function walk(runtime: UserRuntime, words: string, name: string): Promise<void> {
  const { create, add, task, checks } = runtime;
  await using registry = await registryWith(archives);
  using here = machine({ programs: runtime.programs(), registry: registry.url });
  writeFileSync(join(here.folder, "crd.yaml"), richDefinition);
  await here.run(`${create} ${words}`);
  const project = join(here.folder, name);
  await here.run(add(), project);
  await here.run(task("test"), project);
  for (const line of checks) await here.run(line, project);
  assertMatch(await here.run(task("dev", "--until-settled"), project), /settled/);
  assertMatch(await here.run(task("simulate", "--points 6 --seeds 1"), project), / 0 violations/);
  await here.run(task("compile"), project);
  assertMatch(await here.run(`dist/${name} --version`, project), /^0\.1\.0$/m);
}

for (const [index, [words, name]] of projects.entries()) {
  const isAll = process.env["PINTLE_ALL_RUNTIMES"] === "1";
  for (const runtime of isAll ? userRuntimes : userRuntimes.slice(index, index + 1)) {
    const sentence = `new ${words}: a whole project with ${runtime.name} only`;
    if (missingRuntimes === undefined) test(sentence, () => walk(runtime, words, name));
    else test.skip(sentence, missingRuntimes);
  }
}
