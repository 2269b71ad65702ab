/**
 * The programs of the control plane: built once from go.mod into the user's cache, or taken from KUBEBUILDER_ASSETS.
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
import { run, type RunResult } from "./run.ts";

/** The programs, as absolute paths. */
export interface Binaries {
  /** The folder they are in, for a PATH. */
  readonly dir: string;
  readonly etcd: string;
  readonly kubeApiServer: string;
  readonly kubectl: string;
  /** Absent if KUBEBUILDER_ASSETS does not have it, as in envtest's archives. */
  readonly kubeControllerManager?: string;
}

/** The programs, or why they are unavailable. */
export type BuildOutcome =
  | { readonly kind: "ready"; readonly binaries: Binaries }
  | { readonly kind: "unavailable"; readonly reason: string };

const moduleDir = import.meta.dirname ?? ".";
const stampNames = ["k8s.io/component-base/version", "k8s.io/client-go/pkg/version"] as const;
const programNames = ["etcd", "kube-apiserver", "kube-controller-manager", "kubectl"] as const;
const buildEnvironment = { CGO_ENABLED: "0", GOWORK: "off" } as const;
const progressEveryMs = 10_000;
/** Far longer than any build takes: a younger folder may be another process's, on another machine even. */
const abandonedAfterMs = 12 * 3_600_000;

/**
 * The programs of the control plane, built first if this machine has not built them yet (minutes, with progress on
 * stderr).
 *
 * @throws Error when KUBEBUILDER_ASSETS names a folder that lacks a program, and when the build fails.
 */
export async function buildControlPlane(): Promise<BuildOutcome> {
  const assets = process.env["KUBEBUILDER_ASSETS"];
  if (assets !== undefined && assets !== "") return { kind: "ready", binaries: assetsIn(assets) };
  const flags = buildFlags();
  const root = join(process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "pintle", "controlplane");
  const target = join(root, buildHash(flags));
  if (!existsSync(target)) {
    const reason = await whyGoCannotBuild();
    if (reason !== undefined) return { kind: "unavailable", reason };
    await buildInto(root, target, flags);
  }
  return { kind: "ready", binaries: binariesIn(target, true) };
}

function assetsIn(dir: string): Binaries {
  for (const name of ["etcd", "kube-apiserver", "kubectl"]) {
    if (!existsSync(join(dir, name))) throw new Error(`Cannot use KUBEBUILDER_ASSETS "${dir}": it has no ${name}`);
  }
  return binariesIn(dir, existsSync(join(dir, "kube-controller-manager")));
}

function binariesIn(dir: string, hasControllerManager: boolean): Binaries {
  return {
    dir,
    etcd: join(dir, "etcd"),
    kubeApiServer: join(dir, "kube-apiserver"),
    kubectl: join(dir, "kubectl"),
    ...(hasControllerManager ? { kubeControllerManager: join(dir, "kube-controller-manager") } : {}),
  };
}

/** The version is stamped as Kubernetes' own release script does, so that /version and `kubectl version` are true. */
function buildFlags(): readonly string[] {
  const version = /k8s\.io\/kubernetes v(\d+)\.(\d+)\.(\d+)/.exec(readFileSync(join(moduleDir, "go.mod"), "utf8"));
  if (version === null) throw new Error("Cannot build the control plane: go.mod requires no k8s.io/kubernetes");
  const [, major, minor, patch] = version;
  const stamps = stampNames.flatMap((name) => [
    `-X ${name}.gitVersion=v${major}.${minor}.${patch}`,
    `-X ${name}.gitMajor=${major}`,
    `-X ${name}.gitMinor=${minor}`,
    `-X ${name}.gitCommit=`,
  ]);
  return ["-mod=readonly", "-trimpath", "-buildvcs=false", `-ldflags=-s -w ${stamps.join(" ")}`];
}

function buildHash(flags: readonly string[]): string {
  const hash = createHash("sha256");
  for (const file of ["go.mod", "go.sum"]) hash.update(readFileSync(join(moduleDir, file)));
  hash.update(JSON.stringify([flags, buildEnvironment, process.platform, process.arch]));
  return hash.digest("hex").slice(0, 16);
}

/** Runs Go on our module: this fails without Go, and with a Go that is older than go.mod requires. */
async function whyGoCannotBuild(): Promise<string | undefined> {
  const answer = await go(["list", "-m"]);
  switch (answer.kind) {
    case "missing":
      return "neither Go nor KUBEBUILDER_ASSETS";
    case "ended":
      return answer.code === 0 ? undefined : answer.stderr.trim();
    default:
      return answer satisfies never;
  }
}

async function buildInto(root: string, target: string, flags: readonly string[]): Promise<void> {
  mkdirSync(root, { recursive: true });
  removeAbandoned(root);
  const building = mkdtempSync(join(root, "building-"));
  try {
    say("building etcd, kube-apiserver, kube-controller-manager and kubectl; once, in 5 to 10 minutes");
    await compile(["build", "-v", ...flags, "-o", `${building}/`, "tool"]);
    renameSync(join(building, "server"), join(building, "etcd"));
    for (const name of programNames) {
      if (!existsSync(join(building, name))) throw new Error(`Cannot build the control plane: Go made no ${name}`);
    }
    renameUnlessThere(building, target);
    say(`built, kept in ${target}`);
  } finally {
    rmSync(building, { recursive: true, force: true });
  }
}

/** If another process has finished the same build first, its result is used. */
function renameUnlessThere(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if (!existsSync(to)) throw error;
  }
}

/** Removes the folders of killed builds. */
function removeAbandoned(root: string): void {
  for (const name of readdirSync(root).filter((name) => name.startsWith("building-"))) {
    const path = join(root, name);
    if (Date.now() - statSync(path).mtimeMs > abandonedAfterMs) rmSync(path, { recursive: true, force: true });
  }
}

/** Runs a build whose `-v` prints one line per compiled package, and reports the progress. */
async function compile(args: readonly string[]): Promise<void> {
  const listed = await go(["list", "-deps", "tool"]);
  const total = listed.kind === "ended" ? listed.stdout.trim().split("\n").length : 0;
  const child = spawn("go", args, { cwd: moduleDir, env: { ...process.env, ...buildEnvironment } });
  let [compiled, output] = [0, ""];
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    output = (output + text).slice(-4_000);
    compiled += text.split("\n").length - 1;
  });
  const progress = setInterval(() => say(`${Math.min(compiled, total)} of ${total} packages`), progressEveryMs);
  const code = await new Promise((resolve) => child.once("close", resolve).once("error", resolve));
  clearInterval(progress);
  if (code !== 0) throw new Error(`Cannot build the control plane: go ended with ${code}\n${output.trim()}`);
}

function go(args: readonly string[]): Promise<RunResult> {
  return run("go", args, { cwd: moduleDir, env: buildEnvironment });
}

function say(text: string): void {
  process.stderr.write(`controlplane: ${text}\n`);
}
