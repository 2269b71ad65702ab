/**
 * Programs built from Go modules, once, into the user's cache: the control plane (build.ts), the programs of a node
 * (../realnode), and whatever other tests run.
 *
 * The cache folder is named by a hash of all inputs of the build, and appears complete or not at all: a build works
 * beside it and renames. Two processes at once both build (Go's own cache makes the second one cheap), and one of the two
 * results stays. A missing tool is a result; a build that fails is an error.
 */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { run } from "./run.ts";

/** What to build. */
export interface GoBuild {
  /** Names the folder in the cache, and the build in messages. */
  readonly name: string;
  /** The folder of go.mod and go.sum, which pin every version, and of the module's own sources, if it has any. */
  readonly moduleDir: string;
  /** File names of the programs, and the packages that they are built from. */
  readonly programs: Readonly<Record<string, string>>;
  /** Flags of the linker, beside those that strip symbols. @default [] */
  readonly ldflags?: readonly string[];
  /** @default [] */
  readonly tags?: readonly string[];
  /** Variables of Go, part of the cache's key. @default without cgo */
  readonly env?: Readonly<Record<string, string>>;
}

/** The folder with the programs, or why they are unavailable. */
export type GoBuildOutcome =
  | { readonly kind: "ready"; readonly dir: string }
  | { readonly kind: "unavailable"; readonly reason: string };

/** The reason on a machine without Go. */
export const noGo = "there is no Go";

const progressEveryMs = 10_000;
/** Far longer than any build takes: a younger folder may be another process's, on another machine even. */
const abandonedAfterMs = 12 * 3_600_000;

/** The folder of everything that tests keep for the next run. */
export function cacheDir(): string {
  return join(process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "pintle");
}

/**
 * The programs, built first if this machine has not built them yet (minutes, with progress on stderr).
 *
 * @throws Error when the build fails.
 * @example
 * await buildGoPrograms({ name: "node", moduleDir, programs: { kubelet: "k8s.io/kubernetes/cmd/kubelet" } });
 */
export async function buildGoPrograms(build: GoBuild): Promise<GoBuildOutcome> {
  const root = join(cacheDir(), build.name);
  const dir = join(root, buildHash(build));
  if (existsSync(dir)) return { kind: "ready", dir };
  const reason = await whyGoCannotBuild(build);
  if (reason !== undefined) return { kind: "unavailable", reason };
  await fillCache(root, dir, (building) => compileInto(building, build));
  return { kind: "ready", dir };
}

/**
 * The path of the only program of a build, for a test that has no control plane and knows that there is Go.
 *
 * @throws Error when it is unavailable, and when the build fails.
 * @example
 * await goProgram({ name: "clients", moduleDir, programs: { clients: "pintle/tests/clients" } });
 */
export async function goProgram(build: GoBuild): Promise<string> {
  const [program = ""] = Object.keys(build.programs);
  const outcome = await buildGoPrograms(build);
  if (outcome.kind === "ready") return join(outcome.dir, program);
  throw new Error(`Cannot build ${program}: ${outcome.reason}`);
}

/**
 * Fills a folder of the cache by building beside it and renaming, so that it is complete or not there.
 *
 * @param root Holds the folder and, for a while, the one in which it is built.
 */
export async function fillCache(root: string, dir: string, fill: (building: string) => Promise<void>): Promise<void> {
  mkdirSync(root, { recursive: true });
  // Of killed builds.
  removeUnchanged(root, { forMs: abandonedAfterMs, prefix: "building-" });
  const building = mkdtempSync(join(root, "building-"));
  try {
    await fill(building);
    renameUnlessThere(building, dir);
  } finally {
    rmSync(building, { recursive: true, force: true });
  }
}

function buildArgs({ ldflags = [], tags = [] }: GoBuild): readonly string[] {
  return [
    ...["-mod=readonly", "-trimpath", "-buildvcs=false", `-ldflags=${["-s", "-w", ...ldflags].join(" ")}`],
    ...(tags.length > 0 ? [`-tags=${tags.join(",")}`] : []),
  ];
}

function buildEnvironment({ env = {} }: GoBuild): Readonly<Record<string, string>> {
  return { CGO_ENABLED: "0", GOWORK: "off", ...env };
}

function buildHash(build: GoBuild): string {
  const hash = createHash("sha256");
  const own = readdirSync(build.moduleDir).filter((file) => file.endsWith(".go")).sort();
  for (const file of ["go.mod", "go.sum", ...own]) hash.update(readFileSync(join(build.moduleDir, file)));
  const inputs = [buildArgs(build), buildEnvironment(build), build.programs, process.platform, process.arch];
  return hash.update(JSON.stringify(inputs)).digest("hex").slice(0, 16);
}

/** Runs Go on the module: this fails without Go, and with a Go that is older than go.mod requires. */
async function whyGoCannotBuild(build: GoBuild): Promise<string | undefined> {
  const answer = await run("go", ["list", "-m"], { cwd: build.moduleDir, env: buildEnvironment(build) });
  switch (answer.kind) {
    case "missing":
      return noGo;
    case "ended":
      return answer.code === 0 ? undefined : answer.stderr.trim();
    default:
      return answer satisfies never;
  }
}

async function compileInto(building: string, build: GoBuild): Promise<void> {
  const names = Object.keys(build.programs);
  say(build, `building ${names.join(", ")}; once, in minutes`);
  await compile(["build", "-v", ...buildArgs(build), "-o", `${building}/`, ...Object.values(build.programs)], build);
  for (const [name, path] of Object.entries(build.programs)) {
    const built = join(building, path.replace(/\/v\d+$/, "").split("/").at(-1) ?? "");
    if (!existsSync(built)) throw new Error(`Cannot build ${build.name}: Go made no ${name}`);
    renameSync(built, join(building, name));
  }
  say(build, "built");
}

/** Runs a build whose `-v` prints one line per compiled package, and reports the progress. */
async function compile(args: readonly string[], build: GoBuild): Promise<void> {
  const env = buildEnvironment(build);
  const listed = await run("go", ["list", "-deps", ...Object.values(build.programs)], { cwd: build.moduleDir, env });
  const total = listed.kind === "ended" ? listed.stdout.trim().split("\n").length : 0;
  const child = spawn("go", args, { cwd: build.moduleDir, env: { ...process.env, ...env } });
  let [compiled, output] = [0, ""];
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    output = (output + text).slice(-4_000);
    compiled += text.split("\n").length - 1;
  });
  const progress = setInterval(() => say(build, `${Math.min(compiled, total)} of ${total} packages`), progressEveryMs);
  const code = await new Promise((resolve) => child.once("close", resolve).once("error", resolve));
  clearInterval(progress);
  if (code !== 0) throw new Error(`Cannot build ${build.name}: go ended with ${code}\n${output.trim()}`);
}

/** If another process has finished the same build first, its result is used. */
function renameUnlessThere(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if (!existsSync(to)) throw error;
  }
}

/** Removes the folders whose names begin so and that have not changed for so long. Another process may do so, too. */
export function removeUnchanged(root: string, { forMs, prefix = "" }: { forMs: number; prefix?: string }): void {
  for (const name of readdirSync(root).filter((name) => name.startsWith(prefix))) {
    const path = join(root, name);
    const changedAt = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Infinity;
    if (Date.now() - changedAt > forMs) rmSync(path, { recursive: true, force: true });
  }
}

function say({ name }: GoBuild, text: string): void {
  process.stderr.write(`${name}: ${text}\n`);
}
