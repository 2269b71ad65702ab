/**
 * runOnce(): a Manager until everything was reconciled. Leader election, webhooks and the orderly stop are those of every
 * run; only what ends it is different.
 */
/* MERGED convergence.ts
 * Convergence: for `run --once`, when everything was reconciled and nothing is left to do, and what could not be.
 *
 * Guarantees: a key that fails is tried again some times, as conflicts heal; one that failed for good, or that its own
 * controller brings back again and again, is named; the end is only believed when it lasts, since a write of one
 * controller is work for another one a moment later.
 */
import { type Clock, type Scope, scope } from "../../async/mod.ts";
import type { Manager, OperatorController } from "../../manager/mod.ts";
import { logger } from "../../observe/mod.ts";
import { CommandError, exitCode } from "../command/mod.ts";
import { TerminalError } from "../../controller/mod.ts";

/** How many failures a message names; the log has them all. */
const named = 3;

/**
 * Runs the Manager until its controllers have nothing left to do.
 *
 * @param stopping Is aborted then; when it is aborted before, not all was reconciled.
 * @throws CommandError that names what could not be reconciled, or says that there was not time enough
 */
export async function runOnce(manager: Manager, convergence: Convergence, stopping: Scope): Promise<void> {
  using watching = scope(stopping.signal);
  const reached = convergence.reached(manager, watching.signal).then(() => true, () => false);
  const ending = reached.then((isReached) => {
    if (isReached) stopping.abort(new DOMException("Everything was reconciled", "AbortError"));
  });
  try {
    await manager.run(stopping.signal);
  } finally {
    watching.abort();
    await ending;
  }
  if (!(await reached)) throw interruptedError();
  assertDone(convergence);
}

/** A signal came too early. */
export function interruptedError(): CommandError {
  return new CommandError("Cannot reconcile everything: it was ended before", {
    code: exitCode.failed,
    advice: "Run it again and let it finish",
  });
}

function assertDone({ failures, reconciled }: Convergence): void {
  if (failures.length === 0) return logger("cli").info("converged", { objects: reconciled });
  const list = failures.slice(0, named).map(({ controller, key, error }) => `${controller} ${key}: ${error}`).join(
    "; ",
  );
  const more = failures.length > named ? `; and ${failures.length - named} more` : "";
  const state = `${failures.length} of ${reconciled} objects failed: ${list}${more}`;
  throw new CommandError(`Cannot reconcile everything: ${state}`, {
    code: exitCode.failed,
    advice: "Put these right, then run it again",
  });
}

/** Failures after which a key is given up; with the usual backoff that takes less than a second. */
const maxRetriesPerObject = 5;
const pollMs = 100;
/** How long there must be nothing to do. */
const quietMs = 300;

/** An object that could not be brought to what it should be. */
interface FailedObject {
  readonly controller: string;
  readonly key: string;
  readonly error: string;
}

/** A failure, and whether it is the last. */
interface Trouble extends FailedObject {
  /** It is not tried again. */
  readonly isFinal: boolean;
}

/** What a controller is at: `settled` may be over soon, when another one's writes are work for it. */
export type Activity = "waiting" | "working" | "retrying" | "failed" | "settled";

/** Watches controllers from their making to their last reconcile. */
export class Convergence {
  readonly #clock: Clock;
  readonly #troubles = new Map<string, Trouble>();
  readonly #reconciled = new Set<string>();
  readonly #running = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** How many objects were reconciled, however often. */
  get reconciled(): number {
    return this.#reconciled.size;
  }

  /** How many of them are one controller's. */
  reconciledBy(name: string): number {
    return [...this.#reconciled].filter((id) => id.startsWith(`${name} `)).length;
  }

  /** What one controller is at right now. */
  activityOf(name: string): Activity {
    if ((this.#running.get(name) ?? 0) > 0) return "working";
    const troubles = this.failures.filter(({ controller }) => controller === name);
    if (troubles.some(({ isFinal }) => !isFinal)) return "retrying";
    if (troubles.length > 0) return "failed";
    return this.reconciledBy(name) === 0 ? "waiting" : "settled";
  }

  /** The same controller, whose outcomes are noted here and whose keys are given up in the end. */
  watched(controller: OperatorController): OperatorController {
    const { name, options, reconciler } = controller;
    const maxRetries = Math.min(options.maxRetries ?? Infinity, maxRetriesPerObject);
    return {
      ...controller,
      options: { ...options, maxRetries },
      reconciler: async (request, toolbox) => {
        const id = `${name} ${request.key}`;
        this.#reconciled.add(id);
        this.#count(name, 1);
        try {
          const result = await reconciler(request, toolbox);
          this.#troubles.delete(id);
          return result;
        } catch (error) {
          const isFinal = error instanceof TerminalError || toolbox.retries >= maxRetries;
          const text = error instanceof Error ? error.message : String(error);
          this.#troubles.set(id, { controller: name, key: request.key, error: text, isFinal });
          throw error;
        } finally {
          this.#count(name, -1);
        }
      },
    };
  }

  /** Resolves when nothing has been left to do for a while. Rejects with `signal.reason` when aborted. */
  async reached(manager: Manager, signal: AbortSignal): Promise<void> {
    for (let quietSince: number | undefined; true;) {
      const now = this.#clock.monotonic();
      const isQuiet = manager.isIdle() && [...this.#troubles.values()].every(({ isFinal }) => isFinal);
      if (!isQuiet) quietSince = undefined;
      else if (quietSince === undefined) quietSince = now;
      else if (now - quietSince >= quietMs) break;
      await this.#clock.sleep(pollMs, signal);
    }
    for (const { controller, key, reason } of manager.parked()) {
      this.#troubles.set(`${controller} ${key}`, { controller, key, error: reason, isFinal: true });
    }
  }

  /** What could not be done. */
  get failures(): readonly Trouble[] {
    return [...this.#troubles.values()];
  }

  #count(name: string, change: number): void {
    this.#running.set(name, (this.#running.get(name) ?? 0) + change);
  }
}
