/**
 * The package in an empty folder, with an empty home and one runtime only: a newcomer writes an operator, adds a package,
 * tests, runs, simulates and compiles it, and makes an image of it. Everything comes from the archives that `deno task pack` writes. Run with:
 *
 *   deno test -A tests/e2e/package_test.ts
 */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { missingRuntimes } from "../../tasks/_runtimes.ts";
import { assert, assertEquals, assertMatch, test } from "../testing.ts";
import { machine } from "./_machine.ts";
import { packedArchives } from "./_packed.ts";
import { registryWith, type UserRuntime, userRuntimes } from "./_user_runtimes.ts";

const archives = missingRuntimes === undefined ? await packedArchives() : [];

/** What users of a runtime do else. */
interface Way {
  /** The command before the name. @default the one of the runtime */
  readonly create?: string;
  /** Further lines in the new folder. */
  readonly others?: readonly string[];
}

const ways: Readonly<Record<string, Way>> = {
  "Node 22": { create: "npm create --yes @pintle", others: ["npx @pintle/controller new other --dry-run"] },
  Deno: {},
  Bun: {},
};

async function walk({ create, add, task, checks, programs }: UserRuntime, way: Way): Promise<void> {
  await using registry = await registryWith(archives);
  using here = machine({ programs: programs(), registry: registry.url });
  assertMatch(await here.run(`${way.create ?? create} website`), /next: cd website && /);
  const site = join(here.folder, "website");
  await here.run(add("croner"), site);
  const main = readFileSync(join(site, "main.ts"), "utf8");
  const added =
    'import { Cron } from "croner";\n\nif (new Cron("* * * * *").nextRun() === null) throw new Error("never");\n';
  writeFileSync(join(site, "main.ts"), main.replace(/\nprocess\.exit/, `${added}\nprocess.exit`));
  await here.run(task("test"), site);
  for (const line of [...checks, ...way.others ?? []]) await here.run(line, site);
  assertMatch(await here.run(task("dev", "--until-settled"), site), /^website +1 object +settled$/m);
  assertMatch(await here.run(task("simulate"), site), / 0 violations, /);
  await here.run(task("compile"), site);
  const settled = await here.run("dist/website dev website --samples --until-settled", site);
  assertMatch(settled, /^website +1 object +settled$/m);
  assertEquals(await here.run("dist/website --version", site), "0.1.0\n");
  assertMatch(await here.run("dist/website new other", site, 2), /Cannot find command "new"/);
  assertMatch(await here.run(task("image"), site), /^dist\/website\.image\.tar: website:/m);
}

for (const runtime of userRuntimes) {
  const way = ways[runtime.name];
  if (way === undefined) continue;
  const sentence =
    `from an empty folder with ${runtime.name} only, an operator is written, tested, run, simulated, compiled and made an image`;
  if (missingRuntimes === undefined) test(sentence, () => walk(runtime, way));
  else test.skip(sentence, missingRuntimes);
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
