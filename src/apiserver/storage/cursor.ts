/**
 * Cursor: a place in the history of a collection, from which one watcher reads on. The history is the buffer of all
 * watchers together: one that does not read costs nothing, and falls out of it at last, as a slow client of a real server
 * is cut off.
 *
 * Guarantees: changes come in the order of their revisions, each once. `onChange` is called synchronously, within the
 * write, and only while the cursor has read everything before.
 */
import type { Change } from "./change.ts";
import type { ChangeLog } from "./_change_log.ts";

/** Which changes a cursor reads. */
export interface CursorOptions {
  /** "": all of them. */
  readonly namespace: string;
  /** One object alone. @default all */
  readonly name?: string;
  /** Reads what was changed after this revision. */
  readonly after: number;
  /** Called when there is something to read again. It must not throw. */
  onChange(): void;
}

/** What reading gave: a change, nothing at the moment, or that the history no longer goes back so far. */
export type Reading = Change | "none" | "expired";

/** A place in a collection's history. Dispose it to stop `onChange`. */
export class Cursor implements Disposable {
  readonly namespace: string;
  readonly #name: string | undefined;
  readonly #log: ChangeLog;
  readonly #after: number;
  readonly #onChange: () => void;
  readonly #leave: (cursor: Cursor) => void;
  /** Index of the next change to look at. */
  #next: number;
  /** True while everything was read: nothing before the next wake() concerns this cursor. */
  #isWaiting = false;

  constructor(log: ChangeLog, options: CursorOptions, leave: (cursor: Cursor) => void) {
    this.namespace = options.namespace;
    this.#name = options.name;
    this.#after = options.after;
    this.#onChange = () => options.onChange();
    this.#log = log;
    this.#leave = leave;
    this.#next = log.indexAfter(options.after);
  }

  /** The next change, if there is one. */
  read(): Reading {
    while (this.#next < this.#log.end) {
      const change = this.#log.at(this.#next);
      if (change === undefined) return "expired";
      this.#next++;
      if (this.#concerns(change)) return change;
    }
    this.#isWaiting = true;
    return "none";
  }

  /** True while there is nothing to read. */
  get isUpToDate(): boolean {
    return this.#isWaiting || this.#next >= this.#log.end;
  }

  /** The collection calls this for every change in the cursor's namespace. */
  wake(index: number): void {
    if (!this.#isWaiting) return;
    this.#isWaiting = false;
    // What lies between was not in this namespace, and may be forgotten already.
    this.#next = index;
    this.#onChange();
  }

  [Symbol.dispose](): void {
    this.#isWaiting = false;
    this.#leave(this);
  }

  #concerns(change: Change): boolean {
    const { current } = change;
    return (this.namespace === "" || current.namespace === this.namespace) &&
      (this.#name === undefined || current.name === this.#name) && change.revision > this.#after;
  }
}
