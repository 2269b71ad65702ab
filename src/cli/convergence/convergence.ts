/**
 * Convergence: decides when controllers have reconciled everything, for `run --once`, `dev --until-settled` and plans.
 *
 * Guarantees: a key that fails is retried a few times, because conflicts and other temporary failures pass. The controllers
 * must stay idle for a while before they count as converged, because a write of one controller is work for another one a
 * moment later.
 */
import type { Clock } from "../../async/mod.ts";
import { TerminalError } from "../../controller/mod.ts";
import type { OperatorController, ParkedKey } from "../../manager/mod.ts";

/** Retries before a key is dropped: with the usual backoff they take less than a second. */
const maxRetriesPerObject = 5;
const pollMs = 100;
/** How long the controllers must be idle. */
const minIdleMs = 300;

/** An object whose last reconcile failed. */
export interface FailedObject {
  readonly controller: string;
  readonly key: string;
  /** The cluster of a fleet. Absent for the hub, and without a fleet. */
  readonly cluster?: string;
  readonly error: string;
  /** True when it is not retried. */
  readonly isFinal: boolean;
}

/** The last error of a controller, whether or not the object still fails. */
interface LastError {
  readonly key: string;
  readonly error: string;
  /** Wall time in milliseconds. */
  readonly at: number;
}

/** What runs the controllers: a Manager, or a Fleet. */
export interface ConvergingRunner {
  isIdle(): boolean;
  parked(): readonly (ParkedKey & Pick<FailedObject, "cluster">)[];
}

/** The state of a controller. `settled` can change again when another controller writes an object that it watches. */
export type Activity = "waiting" | "working" | "retrying" | "failed" | "settled";

/** Observes the reconciles of controllers from the start. */
export class Convergence {
  readonly #clock: Clock;
  readonly #failed = new Map<string, FailedObject>();
  readonly #reconciled = new Set<string>();
  readonly #running = new Map<string, number>();
  readonly #lastErrors = new Map<string, LastError>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The number of reconciled objects, each counted once. */
  get reconciled(): number {
    return this.#reconciled.size;
  }

  /** The number of objects that one controller reconciled. */
  reconciledBy(name: string): number {
    return [...this.#reconciled].filter((id) => id.startsWith(`${name} `)).length;
  }

  /** The last error of one controller; undefined if none of its reconciles has failed. */
  lastErrorOf(name: string): LastError | undefined {
    return this.#lastErrors.get(name);
  }

  /** The present state of one controller. */
  activityOf(name: string): Activity {
    if ((this.#running.get(name) ?? 0) > 0) return "working";
    const failed = this.failures.filter(({ controller }) => controller === name);
    if (failed.some(({ isFinal }) => !isFinal)) return "retrying";
    if (failed.length > 0) return "failed";
    return this.reconciledBy(name) === 0 ? "waiting" : "settled";
  }

  /**
   * Returns a controller whose outcomes are recorded here.
   *
   * @param maxRetries Retries before a key is dropped, unless the controller's own number is smaller
   */
  observe(controller: OperatorController, { maxRetries: most = maxRetriesPerObject } = {}): OperatorController {
    const { name, options, reconciler } = controller;
    const maxRetries = Math.min(options.maxRetries ?? Infinity, most);
    return {
      ...controller,
      options: maxRetries === Infinity ? options : { ...options, maxRetries },
      reconciler: async (request, toolbox) => {
        const { key, cluster } = request;
        const place = cluster === undefined ? {} : { cluster };
        const id = idOf({ controller: name, key, ...place });
        this.#reconciled.add(id);
        this.#count(name, 1);
        try {
          const result = await reconciler(request, toolbox);
          this.#failed.delete(id);
          return result;
        } catch (error) {
          const isFinal = error instanceof TerminalError || toolbox.retries >= maxRetries;
          const text = error instanceof Error ? error.message : String(error);
          this.#failed.set(id, { controller: name, key, ...place, error: text, isFinal });
          this.#lastErrors.set(name, { key, error: text, at: this.#clock.now() });
          throw error;
        } finally {
          this.#count(name, -1);
        }
      },
    };
  }

  /** Resolves when the controllers have been idle for a while. Rejects with `signal.reason` when aborted. */
  async waitUntilConverged(manager: ConvergingRunner, signal: AbortSignal): Promise<void> {
    for (let idleSince: number | undefined; true;) {
      const now = this.#clock.monotonic();
      const isIdle = manager.isIdle() && [...this.#failed.values()].every(({ isFinal }) => isFinal);
      if (!isIdle) idleSince = undefined;
      else if (idleSince === undefined) idleSince = now;
      else if (now - idleSince >= minIdleMs) break;
      await this.#clock.sleep(pollMs, signal);
    }
    for (const { reason, ...object } of manager.parked()) {
      this.#failed.set(idOf(object), { ...object, error: reason, isFinal: true });
    }
  }

  /** The objects whose last reconcile failed. */
  get failures(): readonly FailedObject[] {
    return [...this.#failed.values()];
  }

  #count(name: string, change: number): void {
    this.#running.set(name, (this.#running.get(name) ?? 0) + change);
  }
}

/** An object in a cluster, which a controller reconciles. */
function idOf({ controller, key, cluster = "" }: Pick<FailedObject, "controller" | "key" | "cluster">): string {
  return `${controller} ${cluster} ${key}`;
}
