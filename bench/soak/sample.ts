/** What the soak reads of a process: memory and handles from /proc, and the depth of its queues and its timers from its metrics. */
import { readdirSync, readFileSync } from "node:fs";
import { parseUsage } from "../usage.ts";

/** A process at one moment. */
export interface ProcessSample {
  /** Resident memory. */
  readonly rssBytes: number;
  /** The part of it that no file backs. */
  readonly anonymousBytes: number;
  /** Open files and sockets. */
  readonly handles: number;
  readonly threads: number;
  /** Keys that wait in all queues; undefined when the process did not answer. */
  readonly queued: number | undefined;
  /** Timers that have neither fired nor been disposed; undefined when the process did not answer. */
  readonly timers: number | undefined;
}

/** @returns undefined when the process is gone */
export async function sampleOf(pid: number, metricsUrl: string): Promise<ProcessSample | undefined> {
  const metrics = await fetch(metricsUrl).then((response) => response.text(), () => undefined);
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    const { rssBytes, anonymousBytes } = parseUsage(readFileSync(`/proc/${pid}/stat`, "utf8"), status);
    return {
      rssBytes,
      anonymousBytes,
      handles: readdirSync(`/proc/${pid}/fd`).length,
      threads: numberOf(status, "Threads"),
      queued: metrics === undefined ? undefined : queueDepth(metrics),
      timers: metrics === undefined ? undefined : pendingTimers(metrics),
    };
  } catch {
    return undefined;
  }
}

/** The sum of workqueue_depth over controllers and priorities, in a text of metrics. */
export function queueDepth(metrics: string): number {
  return Array.from(metrics.matchAll(/^workqueue_depth(?:\{[^}]*\})? (\d+)/gm), ([, depth]) => Number(depth))
    .reduce((sum, depth) => sum + depth, 0);
}

/** The value of process_pending_timers in a text of metrics. @returns undefined when it is not there */
export function pendingTimers(metrics: string): number | undefined {
  const value = /^process_pending_timers (\d+)$/m.exec(metrics)?.[1];
  return value === undefined ? undefined : Number(value);
}

function numberOf(status: string, name: string): number {
  const value = new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)?.[1];
  if (value === undefined) throw new Error(`Cannot read the status of a process: it has no ${name}`);
  return Number(value);
}
