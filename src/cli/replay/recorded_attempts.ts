/**
 * RecordedAttempts: the entries of a recording by the reconcile that they belong to, and what a controller decided about each
 * change. One pass over the recording makes it.
 *
 * Guarantees: linear time and memory. Entries whose reconcile began before the recording belong to none.
 */
import type { ObjectKey } from "../../api/mod.ts";
import type { Cause } from "../../controller/mod.ts";
import type {
  EnqueueEntry,
  Entry,
  EntryId,
  EventEntry,
  ReadEntry,
  ReconcileEndEntry,
  ReconcileStartEntry,
  RequestEntry,
  WriteEntry,
} from "../../observe/mod.ts";

/** An entry of a reconcile between its start and its end. */
export type AttemptEntry = ReadEntry | WriteEntry | RequestEntry | EventEntry;

/** An entry with the answer of the server. A read of a cache is none. */
export type AnsweredEntry = ReadEntry | WriteEntry | RequestEntry;

/** One recorded reconcile. */
export interface RecordedReconcile {
  readonly start: ReconcileStartEntry;
  readonly controller: string;
  readonly key: ObjectKey;
  /** With the place of each in the recording. */
  readonly items: { readonly entry: AttemptEntry; readonly index: number }[];
  end: { readonly entry: ReconcileEndEntry; readonly index: number } | undefined;
  /** An earlier write of the key had no answer, so the engine reads what became of it before the reconciler is called. */
  readonly isUnsettled: boolean;
}

/** The recording by reconcile. */
export class RecordedAttempts {
  readonly entries: readonly Entry[];
  readonly #byId = new Map<EntryId, Entry>();
  readonly #reconciles = new Map<EntryId, RecordedReconcile>();
  readonly #decisions = new Map<string, EnqueueEntry[]>();
  /** Keys with a write that had no answer, and the start of the reconcile that sent it. */
  readonly #unsettled = new Map<string, EntryId | undefined>();

  /** @param entries Oldest first. */
  constructor(entries: readonly Entry[]) {
    this.entries = entries;
    for (const [index, entry] of entries.entries()) {
      this.#byId.set(entry.id, entry);
      this.#add(entry, index);
    }
  }

  /** The reconcile that an entry begins, ends or belongs to. */
  of(entry: Entry): RecordedReconcile | undefined {
    return this.#reconciles.get(entry.kind === "reconcile-start" ? entry.id : entry.causes[0] ?? 0);
  }

  /** What a controller decided about a change, or about an object of a list. */
  decisionsOf(cause: EntryId, controller: string, object: EnqueueEntry["object"]): readonly EnqueueEntry[] {
    return this.#decisions.get(decisionId(cause, controller, object)) ?? [];
  }

  /** The causes of an entry that the recording has. */
  causesOf({ causes }: Pick<Entry, "causes">): readonly Entry[] {
    return causes.flatMap((id) => this.#byId.get(id) ?? []);
  }

  /** The causes of a reconcile, as its reconciler gets them. */
  reconcileCauses({ start }: RecordedReconcile): readonly Cause[] {
    return this.causesOf(start).flatMap((entry) => this.#cause(entry, start.key ?? "") ?? []);
  }

  #add(entry: Entry, index: number): void {
    const { controller, key } = entry;
    switch (entry.kind) {
      case "reconcile-start":
        if (controller === undefined || key === undefined) return;
        this.#reconciles.set(entry.id, {
          start: entry,
          controller,
          key: key as ObjectKey,
          items: [],
          end: undefined,
          isUnsettled: this.#unsettled.has(`${controller} ${key}`),
        });
        return;
      case "read":
      case "write":
      case "request":
      case "event":
        this.#addItem(entry, index);
        return;
      case "reconcile-end": {
        const reconcile = this.of(entry);
        if (reconcile !== undefined) reconcile.end = { entry, index };
        return;
      }
      case "enqueue": {
        const [cause] = entry.causes;
        if (cause === undefined || controller === undefined) return;
        const id = decisionId(cause, controller, entry.object);
        const known = this.#decisions.get(id);
        if (known === undefined) this.#decisions.set(id, [entry]);
        else known.push(entry);
        return;
      }
    }
  }

  #addItem(entry: AttemptEntry, index: number): void {
    this.of(entry)?.items.push({ entry, index });
    const name = `${entry.controller} ${entry.key}`;
    const [start] = entry.causes;
    const hasNoAnswer = entry.kind === "write" && entry.answer.kind === "failed" && entry.answer.code === undefined;
    if (hasNoAnswer) this.#unsettled.set(name, start);
    // The next reconciler was called: it is known by now what became of the write.
    else if (entry.kind === "read" && this.#unsettled.get(name) !== start) this.#unsettled.delete(name);
  }

  #cause(entry: Entry, key: string): Cause | undefined {
    switch (entry.kind) {
      case "enqueue":
        return this.#changeCause(entry);
      case "queue": {
        const end = this.causesOf(entry).find((cause) => cause.kind === "reconcile-end");
        const error = entry.decision === "backoff" ? end?.error : undefined;
        const change = entry.decision === "backoff" ? "retry" : "requeue";
        return { source: "queue", change, key, entry: entry.id, ...(error === undefined ? {} : { error }) };
      }
      case "reconcile-end":
        return { source: "queue", change: entry.outcome === "requeue" ? "requeue" : "retry", key, entry: entry.id };
      default:
        return undefined;
    }
  }

  #changeCause(entry: EnqueueEntry): Cause {
    const { object, role, id } = entry;
    const origin = this.causesOf(entry).at(0);
    const writer = origin?.kind === "change" ? this.causesOf(origin).find(({ kind }) => kind === "write") : undefined;
    const { controller, key } = writer ?? {};
    const change = role === "source"
      ? "requeue"
      : origin?.kind === "change"
      ? origin.change
      : origin?.kind === "list"
      ? "added"
      : "updated";
    return {
      source: object.resource,
      change,
      key: object.key ?? "",
      entry: id,
      ...(origin?.kind === "change" ? { resourceVersion: origin.resourceVersion } : {}),
      ...(writer === undefined || controller === undefined || key === undefined
        ? {}
        : { writtenBy: { controller, key: key as ObjectKey, entry: writer.id } }),
    };
  }
}

function decisionId(cause: EntryId, controller: string, { resource, key = "" }: EnqueueEntry["object"]): string {
  return `${cause} ${controller} ${resource} ${key}`;
}
