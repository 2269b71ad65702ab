/**
 * Profiles of this process that Chrome's developer tools open: where the time goes (`.cpuprofile`), and what is in memory
 * (`.heapsnapshot`). The modules are loaded only when a profile is asked for.
 *
 * Caveats: a heap snapshot contains all texts of the process, also its credentials; it stops the process while it is made.
 */
import process from "node:process";

/** A CPU profile that is being recorded. */
export interface CpuProfiling {
  /** Ends it. @returns the JSON of a `.cpuprofile` file */
  stop(): Promise<string>;
}

/** Begins to record a CPU profile. @throws Error when this runtime cannot, or another profile is being recorded */
export async function startCpuProfile(): Promise<CpuProfiling> {
  const { Session } = await import("node:inspector");
  const session = new Session();
  session.connect();
  const post = (method: string) =>
    new Promise<unknown>((resolve, reject) =>
      session.post(method, (error, result) => error === null ? resolve(result) : reject(error))
    );
  try {
    await post("Profiler.enable");
    await post("Profiler.start");
  } catch (error) {
    session.disconnect();
    throw error;
  }
  return {
    async stop() {
      try {
        const result = await post("Profiler.stop");
        const profile = typeof result === "object" && result !== null && "profile" in result
          ? result.profile
          : undefined;
        if (profile === undefined) throw new Error("Cannot record a profile: the runtime returned none");
        return JSON.stringify(profile);
      } finally {
        session.disconnect();
      }
    },
  };
}

/** Makes a heap snapshot. @returns the parts of a `.heapsnapshot` file. @throws Error when this runtime cannot */
export async function heapSnapshot(): Promise<AsyncIterable<Uint8Array>> {
  const { getHeapSnapshot } = await import("node:v8");
  return getHeapSnapshot();
}

/** The bytes of the objects in memory; undefined while the process can open no file, which Bun needs to look. */
export function heapBytes(): number | undefined {
  try {
    return process.memoryUsage().heapUsed;
  } catch {
    return undefined;
  }
}
