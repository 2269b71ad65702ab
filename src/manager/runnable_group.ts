/**
 * RunnableGroup: Runnables that start together and stop together. It owns their promises: none is left when `stop`
 * returns.
 *
 * Guarantees: what is added while the group runs starts at once; what is added while it stops, or twice, is refused;
 * a failure is reported the moment it happens and again when the group stops, so that none is lost.
 */
import type { Runnable } from "./runnable.ts";

/** Options of a {@link RunnableGroup}. */
export interface RunnableGroupOptions {
  readonly name: string;
  /** Aborts what still runs when the grace period is over. */
  readonly kill: AbortSignal;
  /** Hears of a Runnable that failed before the stop. */
  readonly failed: (error: Error) => void;
}

export class RunnableGroup {
  readonly #options: RunnableGroupOptions;
  readonly #members = new Set<Runnable>();
  readonly #running = new Map<Promise<void>, string>();
  readonly #errors: Error[] = [];
  readonly #stop = new AbortController();
  #started = false;

  constructor(options: RunnableGroupOptions) {
    this.#options = options;
  }

  get name(): string {
    return this.#options.name;
  }

  /** Names of the members that have not ended. */
  get running(): readonly string[] {
    return [...this.#running.values()];
  }

  /**
   * Takes a Runnable in, and starts it when the group runs.
   *
   * @throws TypeError when it is in already, Error when the group is stopping.
   */
  async add(runnable: Runnable): Promise<void> {
    if (this.#stop.signal.aborted) throw new Error(`Cannot add "${runnable.name}": ${this.name} is stopping`);
    if (this.#members.has(runnable)) throw new TypeError(`Cannot add "${runnable.name}": it was added already`);
    this.#members.add(runnable);
    if (this.#started) await this.#start(runnable);
  }

  /** Starts the members in the order they came; resolves when all are prepared. @throws What a preparation threw. */
  async start(): Promise<void> {
    this.#started = true;
    for (const runnable of this.#members) await this.#start(runnable);
  }

  /** Tells all members to end and waits until they have. @returns What went wrong in them, at any time. */
  async stop(): Promise<readonly Error[]> {
    this.#stop.abort();
    while (this.#running.size > 0) await Promise.all(this.#running.keys());
    return this.#errors;
  }

  async #start(runnable: Runnable): Promise<void> {
    await runnable.prepare?.();
    const run = this.#run(runnable).finally(() => this.#running.delete(run));
    this.#running.set(run, runnable.name);
  }

  async #run(runnable: Runnable): Promise<void> {
    const stop = this.#stop.signal;
    const { kill, failed } = this.#options;
    try {
      await runnable.run({ stop, kill });
    } catch (cause) {
      if (kill.aborted && cause === kill.reason) return;
      const error = new Error(`Cannot run ${runnable.name}: ${cause instanceof Error ? cause.message : cause}`, {
        cause,
      });
      this.#errors.push(error);
      if (!stop.aborted) failed(error);
    }
  }
}
