/** How much memory the process holds now. */
import process from "node:process";

/** Sizes in bytes. */
export interface MemoryUsage {
  /** Resident set: what the machine has set aside. */
  readonly rssBytes: number;
  /** Live and dead objects of the JavaScript heap. */
  readonly heapUsedBytes: number;
}

/** Reads the sizes. Costs a system call or two; not for a hot path. */
export function memoryUsage(): MemoryUsage {
  const { rss, heapUsed } = process.memoryUsage();
  return { rssBytes: rss, heapUsedBytes: heapUsed };
}
