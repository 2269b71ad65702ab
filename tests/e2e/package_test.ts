/**
 * The package in an empty folder, with an empty home and one runtime only: a newcomer writes an operator, adds a package,
 * tests, runs, simulates and compiles it, and makes an image of it. Everything comes from the archives that `deno task pack` writes. Run with:
 *
 *   deno test -A tests/e2e/package_test.ts
 */
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { pack } from "../../tasks/pack.ts";
import { root } from "../../tasks/_root.ts";
import { missingRuntimes, nodeProgram, npmModule } from "../../tasks/_runtimes.ts";
import { run } from "../controlplane/run.ts";
import { assert, assertEquals, assertMatch, test } from "../testing.ts";
import { startRegistry } from "./_registry.ts";

/** A machine with one runtime: its folder, and how its commands run. */
interface Machine extends Disposable {
  readonly folder: string;
  /** Runs a line of a shell; fails unless it ends with `code`. @returns its output */
  run(line: string, where?: string, code?: number): Promise<string>;
}

const archives = missingRuntimes === undefined ? pack() : [];

/** @param programs Shell scripts by name: the only programs besides those that package managers need */
function machine(programs: Readonly<Record<string, string>>, registry: string): Machine {
  const folder = mkdtempSync(join(tmpdir(), "pintle-package-"));
  const [bin, home] = [join(folder, "bin"), join(folder, "home")];
  for (const made of [bin, home]) mkdirSync(made);
  for (const tool of ["sh", "env", "uname", "getconf"]) symlinkSync(join("/usr/bin", tool), join(bin, tool));
  for (const [name, script] of Object.entries(programs)) {
    writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(bin, name), 0o755);
  }
  const passed = Object.entries(process.env).filter(([name]) => /^(SSL_|NODE_EXTRA_CA|.*_proxy$)/i.test(name));
  const env = {
    ...Object.fromEntries(passed),
    PATH: bin,
    HOME: home,
    DENO_TLS_CA_STORE: "system",
    NPM_CONFIG_REGISTRY: registry,
    BUN_CONFIG_REGISTRY: registry,
    NPM_CONFIG_UPDATE_NOTIFIER: "false",
    NO_COLOR: "1",
  };
  return {
    folder,
    async run(line, where = folder, code = 0) {
      const startedAt = performance.now();
      const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
      const result = await run("/usr/bin/env", ["-i", ...variables, "/bin/sh", "-c", line], { cwd: where });
      console.log(`  ${((performance.now() - startedAt) / 1000).toFixed(1)} s  ${line}`);
      if (result.kind !== "ended" || result.code !== code) {
        throw new Error(`Cannot run ${line}: ${JSON.stringify(result)}`);
      }
      return result.stdout + result.stderr;
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

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
  using here = machine(programs, registry.url);
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

/** The programs of a machine that has nothing but Node. */
const nodeOnly = () => ({
  node: `exec '${nodeProgram("node22")}' "$@"`,
  npm: `exec node '${npmModule()}' "$@"`,
  npx: `exec node '${npmModule().replace("npm-cli.js", "npx-cli.js")}' "$@"`,
});

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
