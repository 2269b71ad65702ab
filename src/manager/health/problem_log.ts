/**
 * ProblemLog: writes the problems of health checks to the log, once when a problem begins or changes and once when it is
 * over. So a process without probes also reports a missing permission or a missing CRD.
 */
import type { Clock } from "../../async/mod.ts";
import type { Logger } from "../../observe/mod.ts";
import type { ImmediateCheck } from "./health_checks.ts";

/** Options of a {@link ProblemLog}. */
export interface ProblemLogOptions {
  readonly checks: () => readonly ImmediateCheck[];
  readonly clock: Clock;
  readonly log: Logger;
}

/** Milliseconds between two rounds. The first lists need a moment, so nothing is logged before the first round. */
const intervalMs = 5_000;

/** A Runnable of the Manager. */
export class ProblemLog {
  readonly name = "problem log";
  readonly #options: ProblemLogOptions;
  readonly #logged = new Map<string, string>();

  constructor(options: ProblemLogOptions) {
    this.#options = options;
  }

  async run({ stop }: { readonly stop: AbortSignal }): Promise<void> {
    while (!stop.aborted) {
      await this.#options.clock.sleep(intervalMs, stop).catch(() => undefined);
      if (!stop.aborted) this.#logChanges();
    }
  }

  #logChanges(): void {
    const { checks, log } = this.#options;
    for (const { name, problem } of checks()) {
      const now = problem();
      const before = this.#logged.get(name);
      if (now === undefined && before !== undefined) log.info("controller is ready", { controller: name });
      if (now !== undefined && now !== before) log.warn("controller is not ready", { controller: name, problem: now });
      if (now === undefined) this.#logged.delete(name);
      else this.#logged.set(name, now);
    }
  }
}
