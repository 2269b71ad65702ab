/**
 * `deno task publish` with a registry on loopback: a clone of the repository becomes the next version, step by step as
 * CONTRIBUTING.md says, and users of each runtime install it and run the operator of README.md. Needs the network. Run with:
 *
 *   deno test -A tests/e2e/publish_test.ts
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { root } from "../../tasks/_root.ts";
import { missingRuntimes } from "../../tasks/_runtimes.ts";
import { run } from "../controlplane/run.ts";
import { assert, assertEquals, assertMatch, test } from "../testing.ts";
import { machine } from "./_machine.ts";
import { type UserRuntime, userRuntimes } from "./_user_runtimes.ts";
import { type Registry, startVerdaccio } from "./_verdaccio.ts";

const [stable, early, older] = ["0.2.0", "0.2.0-next.1", "0.1.1"] as const;

/** A clone in which a version is made. */
class Clone implements Disposable {
  readonly folder: string = mkdtempSync(join(tmpdir(), "pintle-release-"));
  readonly #registry: Registry;

  constructor(registry: Registry) {
    this.#registry = registry;
    execFileSync("git", ["clone", "--quiet", "--no-hardlinks", root, this.folder]);
    for (const modules of ["node_modules", join("tests", "runtimes", "node_modules")]) {
      symlinkSync(join(root, modules), join(this.folder, modules));
    }
    writeFileSync(join(this.folder, ".git", "info", "exclude"), "node_modules\n");
    this.git("config", "user.name", "publisher");
    this.git("config", "user.email", "publisher@example.com");
  }

  git(...args: readonly string[]): void {
    execFileSync("git", ["-C", this.folder, ...args]);
  }

  edit(path: string, pattern: RegExp, replacement: string): void {
    const file = join(this.folder, path);
    const text = readFileSync(file, "utf8");
    assertMatch(text, pattern);
    writeFileSync(file, text.replace(pattern, replacement));
  }

  /** Runs a task. @returns its exit code, and what it printed */
  async task(name: string, ...args: readonly string[]): Promise<{ readonly code: number; readonly output: string }> {
    const env = { NPM_CONFIG_USERCONFIG: this.#registry.npmrc, NO_COLOR: "1" };
    const words = ["run", "-A", "--no-check", join("tasks", `${name}.ts`), ...args];
    const result = await run(process.execPath, words, { cwd: this.folder, env });
    assert(result.kind === "ended");
    return { code: result.code, output: result.stdout + result.stderr };
  }

  async publish(): Promise<{ readonly code: number; readonly output: string }> {
    return await this.task("publish", "--registry", this.#registry.url);
  }

  async refusal(): Promise<string> {
    const { code, output } = await this.publish();
    assertEquals(code, 1, output);
    return output;
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true });
  }
}

/** What a registry says about a package. */
interface Published {
  readonly "dist-tags": Readonly<Record<string, string>>;
  readonly versions: Readonly<Record<string, { readonly dependencies: Readonly<Record<string, string>> }>>;
}

async function published(registry: Registry, name: string): Promise<Published> {
  return await (await fetch(`${registry.url}${name.replace("/", "%2f")}`)).json();
}

/** The operator of README.md, with a sample and its command line. */
function readmeOperator(): string {
  const [, code = ""] = /```ts\n(import .*?)```/s.exec(readFileSync(join(root, "README.md"), "utf8")) ?? [];
  assertMatch(code, /controller\("website"\)/);
  return `${code.replace("import {", "import { operatorCli, withSamples,")}
const sample = { apiVersion: "example.dev/v1", kind: "Website", metadata: { name: "a" }, spec: { html: "<p>" } };
process.exit(await operatorCli({ name: "website", controllers: [withSamples(websites, [sample])] }));
`;
}

/** How users of a runtime start a program, and the project file that they have before they add a package. */
const projects: Readonly<Record<string, { readonly start: string; readonly file: string; readonly content: object }>> =
  {
    "Node 22": { start: "node", file: "package.json", content: { type: "module" } },
    // Deno takes no version that is younger than a day; who needs it at once says so.
    Deno: { start: "deno run -A", file: "deno.json", content: { minimumDependencyAge: 0 } },
    Bun: { start: "bun", file: "package.json", content: { type: "module" } },
  };

/** A user installs the package in an empty folder. */
async function assertInstalled({ name, programs, add }: UserRuntime, registry: Registry): Promise<void> {
  const project = projects[name];
  if (project === undefined) return;
  using here = machine({ programs: programs(), registry: registry.url });
  writeFileSync(join(here.folder, "main.ts"), `import process from "node:process";\n${readmeOperator()}`);
  writeFileSync(join(here.folder, project.file), JSON.stringify(project.content));
  await here.run(add("@pintle/controller"));
  const settled = await here.run(`${project.start} main.ts dev website --samples --until-settled`);
  assertMatch(settled, /^website +1 object +settled$/m);
}

async function walk(): Promise<void> {
  await using registry = await startVerdaccio();
  using clone = new Clone(registry);
  assertMatch(await clone.refusal(), /^Cannot publish 0\.1\.0: CHANGELOG\.md begins with "## Unreleased \(/);

  const version = (from: RegExp, to: string) => {
    clone.edit("deno.json", from, `"version": "${to}"`);
    clone.edit("CHANGELOG.md", /^## .*$/m, `## ${to}`);
  };
  version(/"version": "0\.1\.0"/, older);
  assertMatch(await clone.refusal(), /^Cannot publish 0\.1\.1: the work tree has changes\. Commit them first:\n/);
  clone.git("commit", "--quiet", "--all", "--message", "too low");
  assertMatch(await clone.refusal(), /has the API of 0\.1\.0\. Run: deno task version --write/);

  version(/"version": "0\.1\.1"/, early);
  clone.git("commit", "--quiet", "--all", "--message", early);
  const first = await clone.publish();
  assertEquals(first.code, 0, first.output);
  assertMatch(first.output, /published @pintle\/controller, @pintle\/create 0\.2\.0-next\.1 as next$/m);
  assertMatch(await clone.refusal(), /the registry has @pintle\/controller 0\.2\.0-next\.1 already/);

  version(/"version": "0\.2\.0-next\.1"/, stable);
  assertEquals((await clone.task("version", "--write")).code, 0);
  clone.git("commit", "--quiet", "--all", "--message", stable);
  const second = await clone.publish();
  assertEquals(second.code, 0, second.output);
  for (const name of ["@pintle/controller", "@pintle/create"]) {
    const { versions, ...of } = await published(registry, name);
    assertEquals(Object.keys(versions), [early, stable]);
    assertEquals([of["dist-tags"].next, of["dist-tags"].latest], [early, stable]);
  }
  assertEquals((await published(registry, "@pintle/create")).versions[stable]?.dependencies, {
    "@pintle/controller": stable,
  });
  for (const runtime of userRuntimes) await assertInstalled(runtime, registry);
}

const sentence =
  "a version is published to a registry once, and users of Node, Deno and Bun install it and run the README";
if (missingRuntimes === undefined) test(sentence, walk);
else test.skip(sentence, missingRuntimes);
