/**
 * groupUsage(): what the processes of a process group have used, from /proc on Linux. ProgramGroup.usage() gives it for a
 * program and what it has started.
 */
import { readdir, readFile } from "node:fs/promises";

/** What a program has used since its start. */
export interface ProgramUsage {
  /** Milliseconds of user and system time of all its processes, in steps of ten. */
  readonly cpuMs: number;
  /** The peak of the resident memory, in bytes; of several processes the sum of their peaks. */
  readonly maxRssBytes: number;
}

/** The unit of times in /proc: 100 a second, whatever the kernel's own tick is. */
const tickMs = 10;

/** Reads what a process group has used. @returns undefined when it has no process, and where there is no /proc */
export async function groupUsage(group: number): Promise<ProgramUsage | undefined> {
  const names = await readdir("/proc").catch(() => []);
  const processes = await Promise.all(names.filter((name) => /^\d+$/.test(name)).map((pid) => usageIn(group, pid)));
  const members = processes.filter((one) => one !== undefined);
  if (members.length === 0) return undefined;
  return {
    cpuMs: members.reduce((sum, { cpuMs }) => sum + cpuMs, 0),
    maxRssBytes: members.reduce((sum, { maxRssBytes }) => sum + maxRssBytes, 0),
  };
}

async function usageIn(group: number, pid: string): Promise<ProgramUsage | undefined> {
  try {
    const fields = statFields(await readFile(`/proc/${pid}/stat`, "utf8"));
    if (Number(fields[2]) !== group) return undefined;
    return { cpuMs: cpuMsOf(fields), maxRssBytes: peakOf(await readFile(`/proc/${pid}/status`, "utf8")) };
  } catch {
    return undefined; // it has ended in the meantime
  }
}

/** The fields of `stat` from the third one on: the name before them may have any character, also brackets and spaces. */
function statFields(stat: string): readonly string[] {
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}

/** utime, stime, and the times of the children that have ended: the fields 14 to 17 of proc(5). */
function cpuMsOf(fields: readonly string[]): number {
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) * tickMs;
}

/** A process that has ended and is not reaped has no memory. */
function peakOf(status: string): number {
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024;
}
