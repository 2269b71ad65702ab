/**
 * The cgroup hierarchies (version 1) of this machine, and the cgroups in which a node runs: one in each hierarchy, below
 * the cgroup of this process. The node sees them as the roots of its hierarchies, so nothing that it does there reaches
 * the rest of the machine. keeper.sh creates and removes them.
 *
 * Version 2 is not supported: where these tests were written, each controller belongs to a hierarchy of version 1, and one
 * that does cannot be used in version 2, whatever is mounted in a namespace. `/sys/fs/cgroup/unified/cgroup.controllers` has
 * none of those that a kubelet needs.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";

/** One hierarchy. */
export interface Hierarchy {
  /** Its controllers, as in mount options: `cpu,cpuacct` or `name=systemd`. */
  readonly controllers: string;
  /** Where the machine has mounted it. */
  readonly mountPoint: string;
  /** The cgroup of this process, as a folder. */
  readonly current: string;
}

/** The controllers that kubelet and runc need. */
const needed = ["cpu", "cpuset", "memory", "pids", "devices", "freezer"] as const;

/** The hierarchies of version 1 that have controllers or a name. */
export function hierarchies(): readonly Hierarchy[] {
  if (!existsSync("/proc/self/cgroup")) return [];
  const mounts = cgroupMounts();
  return readFileSync("/proc/self/cgroup", "utf8").trim().split("\n").flatMap((line) => {
    const [, controllers = "", path = ""] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    const mount = mounts.find(({ options }) => controllers.split(",").every((name) => options.includes(name)));
    if (controllers === "" || mount === undefined) return [];
    const inside = mount.root === "/" ? path : path.slice(mount.root.length);
    return [{ controllers, mountPoint: mount.mountPoint, current: join(mount.mountPoint, inside) }];
  });
}

/** Why a node cannot have cgroups here. */
export function whyNoHierarchies(): string | undefined {
  const controllers = hierarchies().flatMap(({ controllers }) => controllers.split(","));
  const missing = needed.filter((name) => !controllers.includes(name));
  return missing.length === 0 ? undefined : `there is no cgroup v1 hierarchy with ${missing.join(", ")}`;
}

/** The folder of a node's cgroup. */
export function nodeCgroup({ current }: Hierarchy, id: string): string {
  return join(current, id);
}

/** What keeper.sh and init.sh read: one line per hierarchy, `CONTROLLERS NAME CGROUP`. */
export function hierarchyLines(id: string): string {
  return hierarchies().map((hierarchy) => {
    const { controllers, mountPoint } = hierarchy;
    return `${controllers} ${basename(mountPoint)} ${nodeCgroup(hierarchy, id)}\n`;
  }).join("");
}

/** The processes in a cgroup and below it. */
export function processesBelow(cgroup: string): readonly number[] {
  if (!existsSync(cgroup)) return [];
  const own = readFileSync(join(cgroup, "cgroup.procs"), "utf8").split("\n").filter(Boolean).map(Number);
  const folders = readdirSync(cgroup, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return [...own, ...folders.flatMap(({ name }) => processesBelow(join(cgroup, name)))];
}

interface CgroupMount {
  readonly root: string;
  readonly mountPoint: string;
  readonly options: readonly string[];
}

/** Lines of mountinfo: `ID PARENT MAJOR:MINOR ROOT MOUNTPOINT OPTIONS... - TYPE SOURCE SUPEROPTIONS`. */
function cgroupMounts(): readonly CgroupMount[] {
  return readFileSync("/proc/self/mountinfo", "utf8").trim().split("\n").flatMap((line) => {
    const [left = "", right = ""] = line.split(" - ");
    const [type, , options = ""] = right.split(" ");
    const [, , , root = "", mountPoint = ""] = left.split(" ");
    return type === "cgroup" ? [{ root, mountPoint, options: options.split(",") }] : [];
  });
}
