/**
 * What a node could change on the machine that it runs on: sysctls, mounts, cgroups, network interfaces with addresses,
 * routes and packet filters, and processes. Tests compare two of these, taken before a node started and after it ended.
 */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { run } from "../controlplane/run.ts";
import { hierarchies } from "./hierarchies.ts";

/** One line per thing, sorted; the line says what it is. */
export type MachineState = readonly string[];

/** Counters and random values: they change while nothing happens. */
const volatileSysctl =
  /^(fs\/(dentry-state|file-nr|inode-nr|inode-state|aio-nr|quota\/.*)|kernel\/(ns_last_pid|random\/.*|pty\/nr|sched_domain\/.*)|net\/netfilter\/nf_conntrack_count|vm\/stat_refresh)$/;

/**
 * Reads the state.
 *
 * @param others Ids of nodes that run meanwhile; their cgroups are left out.
 */
export async function machineState(others: readonly string[]): Promise<MachineState> {
  const cgroups = hierarchies().flatMap(({ mountPoint }) => foldersBelow(mountPoint));
  return [
    ...sysctls(),
    ...readFileSync("/proc/self/mountinfo", "utf8").trim().split("\n").map((line) => `mount ${line}`),
    ...cgroups.filter((path) => !others.some((id) => path.includes(id))).map((path) => `cgroup ${path}`),
    ...await outputLines("interface", "ip", ["-oneline", "link"]),
    ...await outputLines("address", "ip", ["-oneline", "address"]),
    ...await outputLines("route", "ip", ["route", "show", "table", "all"]),
    `hostname ${readFileSync("/proc/sys/kernel/hostname", "utf8").trim()}`,
  ].sort();
}

/** What one state has and the other has not, with `+` for what came and `-` for what went. */
export function changes(before: MachineState, after: MachineState): readonly string[] {
  const [old, present] = [new Set(before), new Set(after)];
  return [
    ...before.filter((line) => !present.has(line)).map((line) => `- ${line}`),
    ...after.filter((line) => !old.has(line)).map((line) => `+ ${line}`),
  ];
}

/** The processes that belong to a node: its id is in their cgroups, their command line or their working directory. */
export function processesOf(id: string): readonly number[] {
  const ids = readdirSync("/proc").filter((name) => /^\d+$/.test(name)).map(Number);
  return ids.filter((pid) => traces(pid).some((text) => text.includes(id)));
}

function traces(pid: number): readonly string[] {
  const file = (name: string) => readFileSync(`/proc/${pid}/${name}`, "utf8");
  const readers = [() => file("cgroup"), () => file("cmdline"), () => readlinkSync(`/proc/${pid}/cwd`)];
  return readers.map((read) => attempt(read) ?? "");
}

function sysctls(): readonly string[] {
  const names = readdirSync("/proc/sys", { recursive: true, encoding: "utf8" });
  return names.filter((name) => !volatileSysctl.test(name)).flatMap((name) => {
    const value = attempt(() => readFileSync(join("/proc/sys", name), "utf8"));
    return value === undefined ? [] : [`sysctl ${name} = ${value.trim()}`];
  });
}

function foldersBelow(dir: string): readonly string[] {
  const entries = attempt(() => readdirSync(dir, { withFileTypes: true })) ?? [];
  const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(dir, name));
  return folders.flatMap((folder) => [folder, ...foldersBelow(folder)]);
}

async function outputLines(kind: string, program: string, args: readonly string[]): Promise<readonly string[]> {
  const answer = await run(program, args);
  if (answer.kind === "missing" || answer.code !== 0) throw new Error(`Cannot read the state: ${program} failed`);
  return answer.stdout.trim().split("\n").map((line) => `${kind} ${line}`);
}

/** The value; undefined when it cannot be read: processes and cgroups end while they are read. */
function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
