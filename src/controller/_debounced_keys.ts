/**
 * DebouncedKeys: keys whose watch waits until changes have stopped, between the mapping of a change and the queue. A key
 * comes when nothing has changed it for `debounceMs`, or `maxMs` after its first change, whatever is earlier.
 *
 * Guarantees: every key comes once for its changes, with the first and the latest causes; one timer per key and wait, however
 * many changes there are. At the end of the controller, waiting keys are dropped: the next start lists all objects.
 */
import type { ObjectKey } from "../api/mod.ts";
import type { Clock } from "../async/mod.ts";
import type { Debounce } from "./controller_definition.ts";
import type { Cause } from "./request.ts";

/** As many as a key in the queue carries. */
const maxCauses = 8;

interface Waiting {
  readonly firstAt: number;
  lastAt: number;
  readonly causes: Cause[];
  timer: Disposable;
}

export class DebouncedKeys implements Disposable {
  readonly #clock: Clock;
  readonly #add: (key: ObjectKey, causes: readonly Cause[]) => void;
  readonly #waiting = new Map<string, Waiting>();

  /** @param add called with each key when it is due */
  constructor(clock: Clock, add: (key: ObjectKey, causes: readonly Cause[]) => void) {
    this.#clock = clock;
    this.#add = add;
  }

  /** How many keys wait. */
  get size(): number {
    return this.#waiting.size;
  }

  /** A change has concerned a key. @param source the watch: each has its own wait */
  note(key: ObjectKey, source: string, cause: Cause, debounce: Debounce): void {
    const id = `${source} ${key}`;
    const now = this.#clock.monotonic();
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) {
      const fire = () => this.#fire(id, key, debounce);
      const timer = this.#clock.timer(debounce.debounceMs, fire);
      this.#waiting.set(id, { firstAt: now, lastAt: now, causes: [cause], timer });
      return;
    }
    waiting.lastAt = now;
    if (waiting.causes.length >= maxCauses) waiting.causes.splice(1, 1);
    waiting.causes.push(cause);
  }

  #fire(id: string, key: ObjectKey, debounce: Debounce): void {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return;
    const { firstAt, lastAt, causes } = waiting;
    const dueAt = Math.min(lastAt + debounce.debounceMs, firstAt + debounce.maxMs);
    const leftMs = dueAt - this.#clock.monotonic();
    if (leftMs > 0) {
      waiting.timer = this.#clock.timer(leftMs, () => this.#fire(id, key, debounce));
      return;
    }
    this.#waiting.delete(id);
    this.#add(key, causes);
  }

  [Symbol.dispose](): void {
    for (const { timer } of this.#waiting.values()) timer[Symbol.dispose]();
    this.#waiting.clear();
  }
}
