/**
 * The package in an empty folder, with an empty home and one runtime only: a newcomer writes an operator, adds a package,
 * tests, runs, simulates and compiles it, and makes an image of it. Everything comes from the archives that `deno task pack` writes.
 * Each set of flags of `new` runs with one runtime; with PINTLE_ALL_RUNTIMES=1 with each. Run with:
 *
 *   deno test -A tests/e2e/package_test.ts
 */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { richDefinition } from "../../src/cli/new/testing/rich_definition.ts";
import { missingRuntimes } from "../../tasks/_runtimes.ts";
import { assert, assertEquals, assertMatch, test } from "../testing.ts";
import { machine } from "./_machine.ts";
import { packedArchives } from "./_packed.ts";
import { registryWith, type UserRuntime, userRuntimes } from "./_user_runtimes.ts";

const archives = missingRuntimes === undefined ? await packedArchives() : [];

/** A project of `new`, made with the runtime at its place in {@link userRuntimes}. */
interface Project {
  readonly name: string;
  /** The words behind `new`. Every flag is in one set, and most pairs are. `--from-crd FILE` is in new_test.ts. */
  readonly words: string;
  /** Its simulation. @default all that a user gets */
  readonly points?: string;
  /** Further lines of a user in the folder above, of this runtime only. */
  readonly others?: Readonly<Record<string, string>>;
}

const fewPoints = "--points 6 --seeds 1";

const projects: readonly Project[] = [
  {
    name: "website",
    words: "website",
    others: {
      "Node 22": "npm create --yes @pintle another && cd another && npx @pintle/controller new other --dry-run",
    },
  },
  {
    name: "machine",
    words: "--from-crd - --webhook --owns CronJob --owns Service < crd.yaml",
    points: fewPoints,
  },
  {
    name: "backup",
    words:
      "backup --kind CronJob --group backups.example.com --owns CronJob --owns Job --webhook --versions v1alpha1,v1",
    points: fewPoints,
  },
  {
    name: "website",
    words: "website --owns Secret --owns StatefulSet --owns PersistentVolumeClaim --owns Ingress --versions v1,v2",
    points: fewPoints,
  },
];

async function walk({ name: runtime, create, add, task, checks, programs }: UserRuntime, project: Project) {
  const { name, words, points, others = {} } = project;
  await using registry = await registryWith(archives);
  using here = machine({ programs: programs(), registry: registry.url });
  writeFileSync(join(here.folder, "crd.yaml"), richDefinition);
  assertMatch(await here.run(`${create} ${words}`), new RegExp(`next: cd ${name} && `));
  const line = others[runtime];
  if (line !== undefined) await here.run(line);
  const folder = join(here.folder, name);
  await here.run(add("croner"), folder);
  useCroner(join(folder, "main.ts"));
  await here.run(task("test"), folder);
  for (const line of checks) await here.run(line, folder);
  const settled = new RegExp(`^${name} +1 object +settled$`, "m");
  assertMatch(await here.run(task("dev", "--until-settled"), folder), settled);
  assertMatch(await here.run(task("simulate", points), folder), / 0 violations/);
  await here.run(task("compile"), folder);
  assertMatch(await here.run(`dist/${name} dev ${name} --samples --until-settled`, folder), settled);
  assertEquals(await here.run(`dist/${name} --version`, folder), "0.1.0\n");
  assertMatch(await here.run(`dist/${name} new other`, folder, 2), /Cannot find command "new"/);
  assertMatch(await here.run(task("image"), folder), new RegExp(`^dist/${name}\\.image\\.tar: ${name}:`, "m"));
}

/** Lets a program use an added package. */
function useCroner(file: string): void {
  const main = readFileSync(file, "utf8");
  assertMatch(main, /\nprocess\.exit/);
  const added =
    'import { Cron } from "croner";\n\nif (new Cron("* * * * *").nextRun() === null) throw new Error("never");\n';
  writeFileSync(file, main.replace(/\nprocess\.exit/, `${added}\nprocess.exit`));
}

for (const [index, project] of projects.entries()) {
  const isAll = process.env["PINTLE_ALL_RUNTIMES"] === "1";
  for (const runtime of isAll ? userRuntimes : userRuntimes.slice(index, index + 1)) {
    const sentence =
      `new ${project.words}: from an empty folder with ${runtime.name} only, an operator is written, tested, run, simulated, compiled and made an image`;
    if (missingRuntimes === undefined) test(sentence, () => walk(runtime, project));
    else test.skip(sentence, missingRuntimes);
  }
}

test("the packages have no install script, and nothing but modules, declarations and maps", () => {
  for (const archive of archives) {
    const names = execFileSync("tar", ["-tzf", archive], { encoding: "utf8" }).trim().split("\n");
    const others = names.filter((name) =>
      !/^package\/(package\.json|README\.md|LICENSE|bin\.js|lib\/.+\.(js|d\.ts|js\.map))$/.test(name)
    );
    assertEquals(others, [], archive);
    assert(!names.some((name) => /_test\.|\/testing\/|lib\/controllers\//.test(name)), archive);
    const { scripts, dependencies } = JSON.parse(
      execFileSync("tar", ["-xzOf", archive, "package/package.json"], { encoding: "utf8" }),
    );
    assertEquals(scripts, undefined);
    assert(Object.keys(dependencies).length > 0);
  }
});
