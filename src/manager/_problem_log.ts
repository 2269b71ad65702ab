/**
 * ProblemLog: says in the log what readiness would say, once when it begins and once when it is over, so that an
 * operator without probes is not silently stuck on a missing permission or CRD.
 */
import type { Clock } from "../async/mod.ts";
import type { Logger } from "../observe/mod.ts";
import type { Check } from "./_sync_check.ts";
import type { Life, Runnable } from "./runnable.ts";

/** What is watched, and where it is told. */
export interface ProblemLogParts {
  readonly checks: () => readonly Check[];
  readonly clock: Clock;
  readonly log: Logger;
}

/** Milliseconds until a problem is worth a record: first lists take a moment. */
const everyMs = 5_000;

export class ProblemLog implements Runnable {
  readonly name = "problem log";
  readonly #parts: ProblemLogParts;
  readonly #told = new Map<string, string>();

  constructor(parts: ProblemLogParts) {
    this.#parts = parts;
  }

  async run({ stop }: Pick<Life, "stop">): Promise<void> {
    while (!stop.aborted) {
      await this.#parts.clock.sleep(everyMs, stop).catch(() => undefined);
      if (!stop.aborted) this.#look();
    }
  }

  #look(): void {
    const { checks, log } = this.#parts;
    for (const { name, problem } of checks()) {
      const now = problem();
      const before = this.#told.get(name);
      if (now === undefined && before !== undefined) log.info("controller is ready", { controller: name });
      if (now !== undefined && now !== before) log.warn("controller is not ready", { controller: name, problem: now });
      if (now === undefined) this.#told.delete(name);
      else this.#told.set(name, now);
    }
  }
}
