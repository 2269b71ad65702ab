/**
 * The resources that a running process has used, from /proc on Linux: CPU time of all its threads, present and peak
 * resident memory.
 */
import { readFileSync } from "node:fs";

/** What a process has used since its start. */
export interface Usage {
  /** User and system time of all threads, milliseconds, in steps of ten. */
  readonly cpuMs: number;
  /** Resident memory now. */
  readonly rssBytes: number;
  /** The part of the resident memory that no file backs, as the pages of an executable are. */
  readonly anonymousBytes: number;
  /** Resident memory at its largest. */
  readonly maxRssBytes: number;
}

/** The unit of times in /proc: 100 a second on every architecture that Deno runs on, whatever the kernel's own tick is. */
const tickMs = 10;

/** The CPU time of all ended children of this process, and of theirs: what the kernel's rusage says of children. */
export function childrenCpuMs(): number {
  return parseChildrenCpuMs(readFileSync("/proc/self/stat", "utf8"));
}

/** Reads cutime and cstime, the fields 16 and 17 of proc(5). */
export function parseChildrenCpuMs(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const ticks = Number(fields[13]) + Number(fields[14]);
  if (!Number.isInteger(ticks)) throw new Error(`Cannot read the CPU time of a process's children: "${stat.trim()}"`);
  return ticks * tickMs;
}

/** @throws Error when the process is gone. */
export function usageOf(pid: number): Usage {
  return parseUsage(readFileSync(`/proc/${pid}/stat`, "utf8"), readFileSync(`/proc/${pid}/status`, "utf8"));
}

/**
 * Reads the two files' text. The program's name stands in brackets in `stat` and may contain any character, so fields
 * are counted from the last bracket on: utime and stime are the fields 14 and 15 of proc(5).
 */
export function parseUsage(stat: string, status: string): Usage {
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const ticks = Number(fields[11]) + Number(fields[12]);
  if (!Number.isInteger(ticks)) throw new Error(`Cannot read a process's CPU time: "${stat.trim()}"`);
  return {
    cpuMs: ticks * tickMs,
    rssBytes: memory(status, "VmRSS"),
    anonymousBytes: memory(status, "RssAnon"),
    maxRssBytes: memory(status, "VmHWM"),
  };
}

function memory(status: string, name: string): number {
  const kibibytes = new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(status)?.[1];
  if (kibibytes === undefined) throw new Error(`Cannot read a process's memory: its status has no ${name}`);
  return Number(kibibytes) * 1024;
}
