/**
 * The package in an empty folder, with an empty home and one runtime only: a newcomer writes an operator, adds a package,
 * tests, runs, simulates and compiles it, and makes an image of it. Everything comes from the archives that `deno task pack` writes. Run with:
 *
 *   deno test -A tests/e2e/package_test.ts
 */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { pack } from "../../tasks/pack.ts";
import { root } from "../../tasks/_root.ts";
import { missingRuntimes, nodeProgram, npmModule } from "../../tasks/_runtimes.ts";
import { assert, assertEquals, assertMatch, test } from "../testing.ts";
import { machine, nodeOnly } from "./_machine.ts";
import { startRegistry } from "./_registry.ts";

const archives = missingRuntimes === undefined ? pack() : [];

/** The words of a runtime. */
interface Words {
  readonly create: string;
  readonly add: string;
  readonly task: (name: string, flags?: string) => string;
  /** Further checks in the new folder. */
  readonly others: readonly string[];
}

async function walk(programs: Readonly<Record<string, string>>, words: Words): Promise<void> {
  const upstream = execFileSync(nodeProgram("node24"), [npmModule(), "config", "get", "registry"], {
    encoding: "utf8",
  });
  await using registry = await startRegistry(archives, upstream.trim());
  using here = machine({ programs, registry: registry.url });
  assertMatch(await here.run(words.create), /next: cd website && /);
  const site = join(here.folder, "website");
  await here.run(words.add, site);
  const main = readFileSync(join(site, "main.ts"), "utf8");
  const added =
    'import { Cron } from "croner";\n\nif (new Cron("* * * * *").nextRun() === null) throw new Error("never");\n';
  writeFileSync(join(site, "main.ts"), main.replace(/\nprocess\.exit/, `${added}\nprocess.exit`));
  await here.run(words.task("test"), site);
  for (const line of words.others) await here.run(line, site);
  assertMatch(await here.run(words.task("dev", "--until-settled"), site), /^website +1 object +settled$/m);
  assertMatch(await here.run(words.task("simulate"), site), / 0 violations, /);
  await here.run(words.task("compile"), site);
  const settled = await here.run("dist/website dev website --samples --until-settled", site);
  assertMatch(settled, /^website +1 object +settled$/m);
  assertEquals(await here.run("dist/website --version", site), "0.1.0\n");
  assertMatch(await here.run("dist/website new other", site, 2), /Cannot find command "new"/);
  assertMatch(await here.run(words.task("image"), site), /^dist\/website\.image\.tar: website:/m);
}

const cases: readonly (readonly [name: string, programs: () => Readonly<Record<string, string>>, words: Words])[] = [
  ["Node 22", nodeOnly, {
    create: "npm create --yes @pintle website",
    add: "npm install croner",
    task: (name, flags) => `npm run ${name}${flags === undefined ? "" : ` -- ${flags}`}`,
    others: ["npm run check", "npx @pintle/controller new other --dry-run"],
  }],
  ["Deno", () => ({ deno: `exec '${process.execPath}' "$@"` }), {
    create: "deno run -A npm:@pintle/controller new website",
    add: "deno add npm:croner",
    task: (name, flags = "") => `deno task ${name} ${flags}`,
    others: ["deno check", "deno fmt --check", "deno lint"],
  }],
  ["Bun", () => {
    const script = join(root, "tasks", "bun.sh");
    const program = execFileSync("sh", [script, "--print", "process.execPath"], { encoding: "utf8" }).trim();
    return { bun: `exec '${program}' "$@"` };
  }, {
    create: "bun x --bun @pintle/controller new website",
    add: "bun add croner",
    task: (name, flags = "") => `bun run ${name} ${flags}`,
    others: [],
  }],
];

for (const [name, programs, words] of cases) {
  const sentence =
    `from an empty folder with ${name} only, an operator is written, tested, run, simulated, compiled and made an image`;
  if (missingRuntimes === undefined) test(sentence, () => walk(programs(), words));
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
