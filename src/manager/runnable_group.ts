/**
 * RunnableGroup: Runnables that start together and stop together.
 *
 * Guarantees: a Runnable added while the group runs starts immediately; one that is added twice, or while the group
 * stops, is rejected. A failure is reported when it happens and again when the group stops. No promise of a Runnable is
 * pending when `stop` returns.
 */

/**
 * A part of a process that runs from start to stop: a server, a poller. The Manager runs it in a fixed order; add it with
 * {@link Manager.addRunnable} or `OperatorController.runnables`.
 *
 * @example
 * ```ts
 * import { controller, done, Namespace, type OperatorController, type Runnable } from "@pintle/controller";
 *
 * const poller: Runnable = {
 *   name: "poller",
 *   run: ({ stop }) => new Promise((resolve) => stop.addEventListener("abort", () => resolve(), { once: true })),
 * };
 * const keeper: OperatorController = {
 *   ...controller("keeper").for(Namespace).reconcile(() => Promise.resolve(done)),
 *   runnables: [poller],
 * };
 * console.assert(keeper.runnables?.[0]?.name === "poller");
 * ```
 */
export interface Runnable {
  /** For logs and errors. */
  readonly name: string;
  /**
   * What must be complete before later groups start, such as binding a port.
   *
   * @param stop Aborts when the process stops meanwhile.
   */
  prepare?(stop: AbortSignal): Promise<void>;
  /** Runs until stopped. A throw ends the whole Manager; a return before the stop is allowed. */
  run(life: Life): Promise<void>;
}

/** The two signals that end a {@link Runnable}. */
export interface Life {
  /** Start nothing new, finish what is running, return. */
  readonly stop: AbortSignal;
  /** The grace period has passed: abort what is running, return now. */
  readonly kill: AbortSignal;
}

/** Options of a {@link RunnableGroup}. */
export interface RunnableGroupOptions {
  readonly name: string;
  /** Aborts the running members when the grace period has passed. */
  readonly kill: AbortSignal;
  /** Called with the error of a Runnable that failed before the stop. */
  readonly onFailure: (error: Error) => void;
}

export class RunnableGroup {
  readonly #options: RunnableGroupOptions;
  readonly #members = new Set<Runnable>();
  readonly #running = new Map<Promise<void>, string>();
  readonly #errors: Error[] = [];
  readonly #stop = new AbortController();
  #starting = this.#stop.signal;
  #isStarted = false;

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
   * Adds a Runnable, and starts it if the group has started.
   *
   * @throws TypeError when it was already added, Error when the group is stopping.
   */
  async add(runnable: Runnable): Promise<void> {
    if (this.#stop.signal.aborted) throw new Error(`Cannot add "${runnable.name}": ${this.name} is stopping`);
    if (this.#members.has(runnable)) throw new TypeError(`Cannot add "${runnable.name}": it was already added`);
    this.#members.add(runnable);
    if (this.#isStarted) await this.#start(runnable);
  }

  /**
   * Starts the members in the order in which they were added. Resolves when all are prepared.
   *
   * @param stop Aborts when the process stops, which may be before all are prepared. @default when the group stops
   * @throws the error of a `prepare`
   */
  async start(stop: AbortSignal = this.#stop.signal): Promise<void> {
    this.#isStarted = true;
    this.#starting = stop;
    for (const runnable of this.#members) await this.#start(runnable);
  }

  /** Stops all members and waits until they have ended. @returns All errors of the members since the start. */
  async stop(): Promise<readonly Error[]> {
    this.#stop.abort();
    while (this.#running.size > 0) await Promise.all(this.#running.keys());
    return this.#errors;
  }

  async #start(runnable: Runnable): Promise<void> {
    await runnable.prepare?.(this.#starting);
    const run = this.#run(runnable).finally(() => this.#running.delete(run));
    this.#running.set(run, runnable.name);
  }

  async #run(runnable: Runnable): Promise<void> {
    const stop = this.#stop.signal;
    const { kill, onFailure } = this.#options;
    try {
      await runnable.run({ stop, kill });
    } catch (cause) {
      if (kill.aborted && cause === kill.reason) return;
      const error = new Error(`Cannot run ${runnable.name}: ${cause instanceof Error ? cause.message : cause}`, {
        cause,
      });
      this.#errors.push(error);
      if (!stop.aborted) onFailure(error);
    }
  }
}
