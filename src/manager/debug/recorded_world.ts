/**
 * RecordedWorld: the objects as they were at the moment of any entry of a recording with states. It goes forward from the last
 * moment that was asked for, and starts again for an earlier one.
 *
 * Guarantees: linear in the entries between two moments. Caveat: objects are known from the first entry that shows them.
 */
import type { KubeObject } from "../../api/mod.ts";
import type { ChangeEntry, Entry, EntryId, ObjectRef, WriteEntry } from "../../observe/mod.ts";
import { type ObjectRow, objectRow } from "./object_row.ts";

type StateEntry = ChangeEntry | WriteEntry;

/** The objects of a recording. */
export class RecordedWorld {
  readonly #entries: readonly StateEntry[];
  readonly #objects = new Map<
    string,
    { readonly ref: ObjectRef; readonly object: KubeObject; readonly entry: EntryId }
  >();
  /** How many of the entries are in `#objects`. */
  #position = 0;

  /** @param entries Oldest first. */
  constructor(entries: readonly Entry[]) {
    this.#entries = entries.filter((entry): entry is StateEntry => entry.kind === "change" || entry.kind === "write");
  }

  /** True if the entries have whole objects. */
  get hasStates(): boolean {
    return this.#entries.some(({ state }) => state !== undefined);
  }

  /** The objects after an entry. */
  rows(at: EntryId): readonly ObjectRow[] {
    this.#goTo(at);
    return [...this.#objects.values()].map(({ ref, object, entry }) => ({ ...objectRow(ref, object), entry }));
  }

  /** One object after an entry, and the entry that it is from. */
  find(
    resource: string,
    key: string,
    at: EntryId,
  ): { readonly object: KubeObject; readonly entry: EntryId } | undefined {
    this.#goTo(at);
    return this.#objects.get(`${resource} ${key}`);
  }

  #goTo(at: EntryId): void {
    const last = this.#entries[this.#position - 1];
    if (last !== undefined && last.id > at) {
      this.#position = 0;
      this.#objects.clear();
    }
    for (; this.#position < this.#entries.length; this.#position++) {
      const entry = this.#entries[this.#position];
      if (entry === undefined || entry.id > at) break;
      this.#apply(entry);
    }
  }

  #apply(entry: StateEntry): void {
    const { object: ref, state, id } = entry;
    const name = `${ref.resource} ${ref.key}`;
    const isGone = entry.kind === "change" ? entry.change === "deleted" : entry.answer.kind === "removed";
    if (isGone) this.#objects.delete(name);
    else if (isObject(state)) this.#objects.set(name, { ref, object: state, entry: id });
  }
}

function isObject(state: unknown): state is KubeObject {
  return typeof state === "object" && state !== null && "metadata" in state && typeof state.metadata === "object" &&
    state.metadata !== null;
}
