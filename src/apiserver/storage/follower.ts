/**
 * Follower: tells a part of the server what changed in a collection, so that it can react.
 *
 * Guarantees: reacts in a microtask after a write, never during it; a follower that is behind the history gets "all" again.
 */
import type { Change, Cursor } from "./change_log.ts";
import type { ObjectStorage } from "./storage.ts";

/** Tells the changes of a collection in a microtask after them; first "all", and again if some were dropped. */
export class Follower implements Disposable {
  readonly #react: (changes: readonly Change[] | "all") => void;
  readonly #storage: ObjectStorage;
  readonly #collection: string;
  #cursor: Cursor;
  #isFirst = true;
  #isScheduled = false;
  #isDisposed = false;

  constructor(storage: ObjectStorage, collection: string, react: (changes: readonly Change[] | "all") => void) {
    this.#storage = storage;
    this.#collection = collection;
    this.#react = react;
    this.#cursor = this.#open();
    this.#schedule();
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true;
    this.#cursor[Symbol.dispose]();
  }

  #open(): Cursor {
    const after = this.#storage.revision;
    return this.#storage.watch(this.#collection, { namespace: "", after, onChange: () => this.#schedule() });
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    queueMicrotask(() => {
      this.#isScheduled = false;
      if (!this.#isDisposed) this.#react(this.#read());
    });
  }

  #read(): readonly Change[] | "all" {
    const changes: Change[] = [];
    let isComplete = !this.#isFirst;
    this.#isFirst = false;
    for (;;) {
      const next = this.#cursor.read();
      if (next === "none") return isComplete ? changes : "all";
      if (next !== "expired") {
        changes.push(next);
        continue;
      }
      isComplete = false;
      this.#cursor[Symbol.dispose]();
      this.#cursor = this.#open();
    }
  }
}
