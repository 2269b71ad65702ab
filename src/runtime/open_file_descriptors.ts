/** How many files and sockets the process has open: the number that betrays a leak, and `process_open_fds` to metrics. */
import { readdir } from "node:fs/promises";

/** Counts the open descriptors; undefined where the system has no /proc. */
export async function openFileDescriptors(): Promise<number | undefined> {
  try {
    // The directory that is being read is itself one of them.
    return (await readdir("/proc/self/fd")).length - 1;
  } catch {
    return undefined;
  }
}
