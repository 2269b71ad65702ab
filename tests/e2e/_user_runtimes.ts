/** The runtimes that users have, each alone on a machine with an empty home, and the words of their package managers. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import { root } from "../../tasks/_root.ts";
import { nodeProgram, npmModule } from "../../tasks/_runtimes.ts";
import { nodeOnly } from "./_machine.ts";
import { startRegistry } from "./_registry.ts";

/** A runtime as its users know it. */
export interface UserRuntime {
  readonly name: string;
  /** The programs of a machine that has this runtime only. */
  readonly programs: () => Readonly<Record<string, string>>;
  /** Makes a project of the words behind it. */
  readonly create: string;
  /** Adds the package behind it; without one, installs those of the project. */
  readonly add: (name?: string) => string;
  readonly task: (name: string, flags?: string) => string;
  /** What users of this runtime check in a project. */
  readonly checks: readonly string[];
}

const npm = {
  create: "npx --yes @pintle/controller new",
  add: (name = "") => `npm install ${name}`,
  task: (name: string, flags?: string) => `npm run ${name}${flags === undefined ? "" : ` -- ${flags}`}`,
  checks: ["npm run check"],
};

/** All of them. */
export const userRuntimes: readonly UserRuntime[] = [
  { name: "Node 22", programs: nodeOnly, ...npm },
  { name: "Node 24", programs: () => ({ ...nodeOnly(), node: `exec '${nodeProgram("node24")}' "$@"` }), ...npm },
  {
    name: "Deno",
    programs: () => ({ deno: `exec '${process.execPath}' "$@"` }),
    create: "deno run -A npm:@pintle/controller new",
    add: (name) => name === undefined ? "deno install" : `deno add npm:${name}`,
    task: (name, flags = "") => `deno task ${name} ${flags}`,
    checks: ["deno check", "deno fmt --check", "deno lint"],
  },
  {
    name: "Bun",
    programs: () => {
      const script = join(root, "tasks", "bun.sh");
      const program = execFileSync("sh", [script, "--print", "process.execPath"], { encoding: "utf8" }).trim();
      return { bun: `exec '${program}' "$@"` };
    },
    create: "bun x --bun @pintle/controller new",
    add: (name) => name === undefined ? "bun install" : `bun add ${name}`,
    task: (name, flags = "") => `bun run ${name} ${flags}`,
    checks: ["bun run check"],
  },
];

/** Starts a registry that has these archives, and all else that the registry of this machine has. */
export function registryWith(archives: readonly string[]) {
  const args = [npmModule(), "config", "get", "registry"];
  return startRegistry(archives, execFileSync(nodeProgram("node24"), args, { encoding: "utf8" }).trim());
}
