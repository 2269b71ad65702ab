/**
 * The processes of a control plane as the system sees them, for tests of what is left of it.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";

/** The ids of the processes that run in a control plane's folder. */
export function processIds(dir: string): readonly number[] {
  return readdirSync(join(dir, "run")).map((name) => Number(readFileSync(join(dir, "run", name), "utf8")));
}

/** Whether there is a process of that id. */
export function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
