/**
 * LoopDetector: notices that a controller puts the same field right over and over, because somebody else, a defaulting
 * webhook or the controller's own indecision undoes it each time, and parks the key.
 *
 * Guarantees: the tenth repair of one field of one object to the same end within five minutes parks the key that wrote
 * it, with a log record and a Warning Event on the primary object that name the field and who else writes the object;
 * after ten minutes the key runs again and counting starts over. Other keys are not affected. People who undo a
 * controller by hand do so more slowly than that. A field whose wanted value moves on each time (counts during a
 * rollout) is no loop until the hundredth time: then it is one that feeds on itself, such as a time that is always now.
 */
import { keyOf, type KubeObject, type ObjectKey, resourceName } from "../api/mod.ts";
import type { Clock } from "../async/mod.ts";
import type { Logger } from "../observe/mod.ts";
import type { WorkQueue } from "../queue/mod.ts";
import type { Cause, EventSink } from "./reconciler.ts";
import type { FieldChange } from "./toolbox.ts";

/** What a LoopDetector works with. */
export interface LoopDetectorParts {
  readonly queue: Pick<WorkQueue<ObjectKey, Cause>, "park" | "unpark">;
  readonly events: EventSink;
  /** The object a key stands for, if it is cached. */
  readonly primaryOf: (key: ObjectKey) => KubeObject | undefined;
  readonly clock: Clock;
  readonly log: Logger;
}

interface Repairs {
  readonly firstAt: number;
  count: number;
  /** Repairs to the same end, by what was wanted. */
  readonly goals: Map<string, number>;
}

/** To the same end. */
const mostRepairs = 10;
/** To whatever end. */
const mostChanges = 100;
const windowMs = 5 * 60_000;
const parkMs = 10 * 60_000;
/** Fields remembered at most; the one that was repaired first goes first. */
const mostFields = 10_000;

export class LoopDetector implements Disposable {
  readonly #parts: LoopDetectorParts;
  readonly #repairs = new Map<string, Repairs>();
  readonly #parked = new Map<ObjectKey, Disposable>();

  constructor(parts: LoopDetectorParts) {
    this.#parts = parts;
  }

  /** Hears that reconciling `key` put a field right. */
  note(key: ObjectKey, change: FieldChange): void {
    const now = this.#parts.clock.monotonic();
    const field = `${key}|${resourceName(change.resource)}|${keyOf(change.object)}|${change.field}`;
    const before = this.#repairs.get(field);
    const repairs = before === undefined || now - before.firstAt > windowMs
      ? { firstAt: now, count: 0, goals: new Map() }
      : before;
    repairs.count += 1;
    const same = (repairs.goals.get(change.goal) ?? 0) + 1;
    repairs.goals.set(change.goal, same);
    this.#repairs.delete(field);
    if (same >= mostRepairs || repairs.count >= mostChanges) return this.#park(key, change, repairs.count);
    this.#repairs.set(field, repairs);
    if (this.#repairs.size > mostFields) this.#forgetOldest();
  }

  [Symbol.dispose](): void {
    for (const timer of this.#parked.values()) timer[Symbol.dispose]();
    this.#parked.clear();
  }

  #park(key: ObjectKey, change: FieldChange, times: number): void {
    const { queue, clock, log } = this.#parts;
    const reason = reasonOf(change, times);
    log.error("write loop, the key is parked", { key, reason, minutes: parkMs / 60_000 });
    queue.park(key, reason);
    this.#parked.get(key)?.[Symbol.dispose]();
    this.#parked.set(key, clock.timer(parkMs, () => this.#release(key)));
    this.#tell(key, reason);
  }

  #release(key: ObjectKey): void {
    this.#parked.delete(key);
    this.#parts.queue.unpark(key);
  }

  #tell(key: ObjectKey, reason: string): void {
    const { primaryOf, events } = this.#parts;
    const primary = primaryOf(key);
    if (primary === undefined) return;
    events.record({
      regarding: primary,
      type: "Warning",
      reason: "WriteLoop",
      note: `${reason}; paused for 10 minutes`,
    });
  }

  #forgetOldest(): void {
    const oldest = this.#repairs.keys().next().value;
    if (oldest !== undefined) this.#repairs.delete(oldest);
  }
}

function reasonOf({ resource, object, field }: FieldChange, times: number): string {
  const writers = new Set((object.metadata.managedFields ?? []).map((entry) => entry.manager));
  const others = writers.size === 0 ? "" : ` (field managers: ${[...writers].join(", ")})`;
  const name = `${resource.kind} "${keyOf(object)}"`;
  return `${field} of ${name} was put right ${times} times in 5 minutes and does not stay so${others}`;
}
