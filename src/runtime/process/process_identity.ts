/**
 * Whether another process is alive: processSpace() names the process ids that this process can see, and isProcessAlive() looks
 * one of them up. A process id means something only to processes with the same ids: since the last start of the same kernel, in
 * the same container.
 */
import { createHash } from "node:crypto";
import { readFile, readlink } from "node:fs/promises";
import process from "node:process";

/** Names the process ids that this process can see; undefined on systems that do not tell. Equal text, equal ids. */
export async function processSpace(): Promise<string | undefined> {
  try {
    const boot = (await readFile("/proc/sys/kernel/random/boot_id", "utf8")).trim();
    const namespace = await readlink("/proc/self/ns/pid");
    // The identity of a machine belongs to its owner, so only its digest leaves the machine.
    return createHash("sha256").update(`${boot} ${namespace}`).digest("hex").slice(0, 32);
  } catch {
    return undefined;
  }
}

/** True if there is a process with this id, also one of another user. */
export function isProcessAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return !(error instanceof Error && "code" in error && error.code === "ESRCH");
  }
}
