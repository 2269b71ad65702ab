/**
 * LoopDetector: detects that a controller repairs the same field again and again, because another client, a mutating
 * webhook or the controller itself reverts it each time, and parks the key.
 *
 * Guarantees: the tenth repair of one field of one object to the same desired state within five minutes parks the key
 * that wrote it; objects are told apart by UID. A log record and a Warning Event on the primary object name the field and the field managers of the
 * object. After ten minutes the key is reconciled again and counting starts over. Other keys are not affected. People who
 * revert a field manually are slower than that. A field whose desired value changes each time (counters during a
 * rollout) parks the key at the hundredth repair: such a value depends on the write itself, for example on the time.
 */
import { keyOf, type KubeObject, type ObjectKey, type Resource, resourceName, shardHashOf } from "../api/mod.ts";
import type { Clock } from "../async/mod.ts";
import type { Logger } from "../observe/mod.ts";
import type { WorkQueue } from "../queue/mod.ts";
import type { Cause, EventSink } from "./request.ts";

/** A field that did not have the desired value and was written. */
export interface FieldRepair {
  readonly resource: Resource;
  readonly object: KubeObject;
  /** Path of the first such field, e.g. `spec.replicas`. */
  readonly field: string;
  /** The whole desired state, as text: if two repairs have the same, the field was reverted in between. */
  readonly desired: string;
}

/** Options of a {@link LoopDetector}. */
export interface LoopDetectorOptions {
  readonly queue: Pick<WorkQueue<ObjectKey, Cause>, "park" | "unpark">;
  readonly events: EventSink;
  /** Returns the cached object of a key. */
  readonly findPrimary: (key: ObjectKey) => KubeObject | undefined;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The repairs of one field. */
interface Repairs {
  readonly firstAt: number;
  /** What {@link fingerprintOf} says of the desired state of each one. */
  readonly states: number[];
}

const maxRepairsToSameState = 10;
const maxRepairs = 100;
const windowMs = 5 * 60_000;
/** Milliseconds for which a key is parked. */
export const parkMs = 10 * 60_000;
/** The field that was repaired least recently is forgotten first. */
const maxFields = 10_000;

export class LoopDetector implements Disposable {
  readonly #options: LoopDetectorOptions;
  readonly #fields = new Map<string, Repairs>();
  readonly #parked = new Map<ObjectKey, Disposable>();

  constructor(options: LoopDetectorOptions) {
    this.#options = options;
  }

  /** Records that a reconcile of `key` repaired a field. */
  record(key: ObjectKey, repair: FieldRepair): void {
    const now = this.#options.clock.monotonic();
    // An object that was deleted and created again is another object.
    const { uid = keyOf(repair.object) } = repair.object.metadata;
    const field = `${key}|${resourceName(repair.resource)}|${uid}|${repair.field}`;
    const before = this.#fields.get(field);
    const isCounting = before !== undefined && now - before.firstAt <= windowMs;
    const { firstAt, states } = isCounting ? before : { firstAt: now, states: [] };
    const state = fingerprintOf(repair.desired);
    states.push(state);
    this.#fields.delete(field);
    const toSameState = states.filter((one) => one === state).length;
    if (toSameState >= maxRepairsToSameState || states.length >= maxRepairs) {
      return this.#park(key, repair, states.length);
    }
    this.#fields.set(field, { firstAt, states });
    if (this.#fields.size > maxFields) this.#forgetOldest();
  }

  [Symbol.dispose](): void {
    for (const timer of this.#parked.values()) timer[Symbol.dispose]();
    this.#parked.clear();
  }

  #park(key: ObjectKey, repair: FieldRepair, times: number): void {
    const { queue, clock, log } = this.#options;
    const reason = reasonOf(repair, times);
    const entry = queue.park(key, reason);
    log.error("parking the key because of a write loop", { key, reason, minutes: parkMs / 60_000, entry });
    this.#parked.get(key)?.[Symbol.dispose]();
    this.#parked.set(key, clock.timer(parkMs, () => this.#unpark(key)));
    this.#recordEvent(key, reason);
  }

  #unpark(key: ObjectKey): void {
    this.#parked.delete(key);
    this.#options.queue.unpark(key);
  }

  #recordEvent(key: ObjectKey, reason: string): void {
    const { findPrimary, events } = this.#options;
    const primary = findPrimary(key);
    if (primary === undefined) return;
    events.record({
      regarding: primary,
      type: "Warning",
      reason: "WriteLoop",
      note: `${reason}; paused for 10 minutes`,
    });
  }

  #forgetOldest(): void {
    const oldest = this.#fields.keys().next().value;
    if (oldest !== undefined) this.#fields.delete(oldest);
  }
}

/** 53 bits of a desired state: its text can have megabytes, and states of many fields are remembered. */
function fingerprintOf(text: string): number {
  const { high, low } = shardHashOf(text);
  return high * 2 ** 21 + (low >>> 11);
}

function reasonOf({ resource, object, field }: FieldRepair, times: number): string {
  const writers = new Set((object.metadata.managedFields ?? []).map((entry) => entry.manager));
  const others = writers.size === 0 ? "" : ` (field managers: ${[...writers].join(", ")})`;
  const name = `${resource.kind} "${keyOf(object)}"`;
  return `${field} of ${name} was repaired ${times} times in 5 minutes and was reverted each time${others}`;
}
