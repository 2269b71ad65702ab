/**
 * Whether a real node can run on this machine. Each requirement is tried rather than guessed from versions; the first
 * one that is not met is the reason why tests are skipped.
 */
import { mkdirSync, mkdtempSync, rmdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { run } from "../controlplane/run.ts";
import { hierarchies, nodeCgroup, whyNoHierarchies } from "./hierarchies.ts";

const tools = ["sh", "unshare", "mount", "ip", "hostname", "find", "tar", "gcc"] as const;

/** What init.sh does, in namespaces that end with it. `$1` is a folder. */
const trial = `
mount --make-rprivate / && mount -t proc proc /proc && mount -t sysfs sysfs /sys &&
mount -t overlay -o "lowerdir=$1/lower,upperdir=$1/upper,workdir=$1/work" overlay "$1/merged" &&
ip link add pintle0 type veth peer name pintle1
`;

/** Returns why a real node cannot run here; undefined when it can. */
export async function whyNoNode(): Promise<string | undefined> {
  if (process.platform !== "linux") return `the system is ${process.platform}, not Linux`;
  if (process.getuid?.() !== 0) return "the user is not root";
  for (const tool of tools) {
    const found = await run("sh", ["-c", `command -v ${tool}`]);
    if (found.kind === "missing" || found.code !== 0) return `there is no ${tool}`;
  }
  return whyNoHierarchies() ?? whyNoCgroups() ?? await whyNoNamespaces();
}

/** Why a cgroup cannot be made. */
function whyNoCgroups(): string | undefined {
  for (const hierarchy of hierarchies()) {
    const cgroup = nodeCgroup(hierarchy, `pintle-trial-${process.pid}`);
    try {
      mkdirSync(cgroup);
      rmdirSync(cgroup);
    } catch (error) {
      return `cgroups of ${hierarchy.controllers} cannot be made: ${error instanceof Error ? error.message : error}`;
    }
  }
  return undefined;
}

async function whyNoNamespaces(): Promise<string | undefined> {
  const dir = mkdtempSync(join(tmpdir(), "pintle-node-trial-"));
  try {
    for (const name of ["lower", "upper", "work", "merged"]) mkdirSync(join(dir, name));
    const namespaces = ["--fork", "--pid", "--mount", "--net", "--uts", "--ipc", "--cgroup"];
    const tried = await run("unshare", [...namespaces, "sh", "-c", trial, "sh", dir]);
    if (tried.kind === "missing") return "there is no unshare";
    return tried.code === 0 ? undefined : `namespaces are restricted: ${tried.stderr.trim()}`;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
