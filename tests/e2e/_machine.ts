/** Machines with an empty home and few programs, as folders: the first run of someone who has one runtime and nothing else. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { nodeProgram, npmModule } from "../../tasks/_runtimes.ts";
import { run, type RunResult } from "../controlplane/run.ts";

/** A machine: its folder, and how its commands run. */
export interface Machine extends Disposable {
  readonly folder: string;
  /** Runs a line of a shell; fails unless it ends with `code`. @returns its output */
  run(line: string, where?: string, code?: number): Promise<string>;
}

/** What a machine has. */
export interface MachineOptions {
  /** Shell scripts by name: the only programs besides those that package managers need. */
  readonly programs: Readonly<Record<string, string>>;
  /** The URL of its package registry. */
  readonly registry: string;
  /** Further programs of this machine, by name. @default none */
  readonly tools?: readonly string[];
  /** Variables of its environment. @default none */
  readonly variables?: Readonly<Record<string, string>>;
}

/** Makes a machine with an empty home. */
export function machine({ programs, registry, tools = [], variables: own = {} }: MachineOptions): Machine {
  const folder = mkdtempSync(join(tmpdir(), "pintle-package-"));
  const [bin, home] = [join(folder, "bin"), join(folder, "home")];
  for (const made of [bin, home]) mkdirSync(made);
  for (const tool of ["sh", "env", "uname", "getconf", ...tools]) symlinkSync(join("/usr/bin", tool), join(bin, tool));
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
    ...own,
  };
  return {
    folder,
    async run(line, where = folder, code = 0) {
      const startedAt = performance.now();
      const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
      const attempt = () => run("/usr/bin/env", ["-i", ...variables, "/bin/sh", "-c", line], { cwd: where });
      let result = await attempt();
      for (let repeated = 0; repeated < 3 && isNpmTooSlow(result); repeated++) result = await attempt();
      console.log(`  ${((performance.now() - startedAt) / 1000).toFixed(1)} s  ${line}`);
      if (result.kind !== "ended" || result.code !== code) {
        throw new Error(`Cannot run ${line}: ${JSON.stringify(result)}`);
      }
      return result.stdout + result.stderr;
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** npx gives up the lock of its cache when the machine is so busy that npm does not run for seconds; a user repeats it, too. */
function isNpmTooSlow(result: RunResult): boolean {
  return result.kind === "ended" && result.code !== 0 && result.stderr.includes("npm error code ECOMPROMISED");
}

/** The programs of a machine that has nothing but Node. */
export const nodeOnly = () => ({
  node: `exec '${nodeProgram("node22")}' "$@"`,
  npm: `exec node '${npmModule()}' "$@"`,
  npx: `exec node '${npmModule().replace("npm-cli.js", "npx-cli.js")}' "$@"`,
});
