/** ProgramUsages: what all processes of a program in one run have used, as it was noted last for each of them. */
import type { ProgramUsage } from "../../runtime/mod.ts";
import type { ForeignProcess } from "./foreign_process.ts";

/** The usage of one process after the other. */
export class ProgramUsages {
  readonly #usages = new Map<number, ProgramUsage>();

  /** Notes what processes that run have used by now. */
  async note(processes: readonly Pick<ForeignProcess, "id" | "usage">[]): Promise<void> {
    for (const process of processes) {
      const usage = await process.usage();
      if (usage !== undefined) this.#usages.set(process.id, usage);
    }
  }

  /** The CPU time of all processes, and the memory of the largest one. */
  get sum(): ProgramUsage | undefined {
    const all = [...this.#usages.values()];
    if (all.length === 0) return undefined;
    return {
      cpuMs: all.reduce((sum, { cpuMs }) => sum + cpuMs, 0),
      maxRssBytes: Math.max(...all.map(({ maxRssBytes }) => maxRssBytes)),
    };
  }
}
