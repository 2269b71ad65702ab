/**
 * RunRecorder: the recording of one run. What users, the cluster and faults do are notes; what a process of the operator does
 * are the entries of its engine, with the number of the process. Notes and entries have each other as causes:
 *
 *   note (user, cluster) -> change -> enqueue -> reconcile-start -> write
 *   note (fault)         -> write, read, list, cache: the answer that it made
 *   note (fault)         -> note (the process is killed), with the reconciles that it ended -> note (starts) -> list
 *   reconcile-start      -> note (operator: a write that reached the server) -> write
 *
 * Guarantees: a process that has ended records nothing more, as if it had been killed. Without a recorder nothing of this
 * exists, and a run with one is the same run.
 */
import type { EntryId, NewEntry, NoteEntry, Recorder } from "../observe/mod.ts";

/** Which side acted. */
export type Actor = "operator" | "user" | "cluster" | "fault";

/** What a note has beside its actor and its text. */
export interface NoteDetails {
  /** The number of the operator process. @default none */
  readonly process?: number;
  /** The status of the response, the cause, and so on. */
  readonly detail?: string;
  readonly resourceVersion?: string;
  readonly causes?: readonly EntryId[];
  /** The revision before it: the note is the cause of every change since then. @default it has changed nothing */
  readonly since?: number;
  /** What the note answers, from {@link requestAt} or {@link eventAt}: the entry about that gets the note as a cause. */
  readonly answers?: string;
}

/** Changes on the server since a revision. @param withStates with the whole objects */
export type ChangesSince = (revision: number, withStates: boolean) => NonNullable<NoteEntry["changes"]>;

/** The part of a process that is recorded. */
interface RecordedProcess {
  readonly id: number;
  readonly hasEnded: boolean;
}

/** What is remembered of a process for the causes of later entries. */
interface ProcessMemory {
  /** Reconciles that have not ended. */
  readonly running: Set<EntryId>;
  /** Notes by what they answer. */
  readonly answers: Map<string, EntryId[]>;
  lastFault: EntryId | undefined;
  started: EntryId | undefined;
}

/** The request at a path, as its note and its entry name it. @param resource with its subresource, if any */
export function requestAt(method: string, resource: string, key = ""): string {
  return `${method} ${resource} ${key}`;
}

/** The event of a watch. */
export function eventAt(resource: string, key: string): string {
  return `event ${resource} ${key}`;
}

export class RunRecorder {
  readonly #recorder: Recorder;
  readonly #changesSince: ChangesSince;
  readonly #processes = new Map<number, ProcessMemory>();
  /** Which note made a change, by its revision. */
  readonly #origins = new Map<string, EntryId>();

  constructor(recorder: Recorder, changesSince: ChangesSince) {
    this.#recorder = recorder;
    this.#changesSince = changesSince;
  }

  /** Records what happened. @returns the id of the note */
  note(actor: Actor, what: string, details: NoteDetails = {}): EntryId {
    const { process, detail, resourceVersion, causes = [], since, answers } = details;
    const changes = since === undefined ? [] : this.#changesSince(since, this.#recorder.keepsStates);
    const memory = process === undefined ? undefined : this.#memoryOf(process);
    const sender = actor === "operator" && since !== undefined ? onlyOf(memory?.running) : [];
    const id = this.#recorder.record({
      kind: "note",
      causes: inOrder([...causes, ...sender]),
      actor,
      what,
      ...(process === undefined ? {} : { process }),
      ...(detail === undefined || detail === "" ? {} : { detail }),
      ...(resourceVersion === undefined || resourceVersion === "" ? {} : { resourceVersion }),
      ...(answers === undefined ? {} : { answers }),
      ...(changes.length === 0 ? {} : { changes }),
    });
    for (const { resourceVersion: version } of changes) this.#origins.set(version, id);
    if (memory === undefined) return id;
    if (actor === "fault") memory.lastFault = id;
    if (answers !== undefined) memory.answers.set(answers, [...memory.answers.get(answers) ?? [], id]);
    return id;
  }

  /** Records that a process starts. @returns the id of the note */
  starts(process: number, causes: readonly EntryId[]): EntryId {
    const note = this.note("operator", "starts", { process, causes });
    this.startedBy(process, note);
    return note;
  }

  /** A process starts, as a note says that may be of another cluster. */
  startedBy(process: number, note: EntryId): void {
    this.#memoryOf(process).started = note;
  }

  /** The reconciles of a process that have not ended, and the last fault that it met. */
  unfinished(process: number): readonly EntryId[] {
    const { running, lastFault } = this.#memoryOf(process);
    return [...running, ...(lastFault === undefined ? [] : [lastFault])];
  }

  /** Records that a process ends, with the reconciles that end with it. */
  ends(actor: Actor, what: string, details: NoteDetails & { readonly process: number }): EntryId {
    const { process, causes = [] } = details;
    return this.note(actor, what, { ...details, causes: [...this.unfinished(process), ...causes] });
  }

  /** The recorder of a process. */
  recorderOf(process: RecordedProcess): Recorder {
    const { keepsStates } = this.#recorder;
    return { keepsStates, record: (entry) => process.hasEnded ? 0 : this.#record(process.id, entry) };
  }

  #record(process: number, entry: NewEntry): EntryId {
    const memory = this.#memoryOf(process);
    const more = this.#moreCauses(entry, memory);
    const causes = more.length === 0 ? entry.causes : inOrder([...entry.causes, ...more]);
    const id = this.#recorder.record({ ...entry, causes, process });
    if (entry.kind === "reconcile-start") memory.running.add(id);
    if (entry.kind === "reconcile-end") { for (const start of entry.causes) memory.running.delete(start); }
    return id;
  }

  /** The causes that the engine cannot know. */
  #moreCauses(entry: NewEntry, { answers, started }: ProcessMemory): readonly EntryId[] {
    const take = (what: string): readonly EntryId[] => {
      const [first, ...rest] = answers.get(what) ?? [];
      // The fault of a request, and its answer, are notes of the same request.
      answers.delete(what);
      return first === undefined ? [] : [first, ...rest];
    };
    switch (entry.kind) {
      case "change": {
        const { via, object: { resource, key = "" }, resourceVersion = "" } = entry;
        if (via === "response") return [];
        const origin = this.#origins.get(resourceVersion);
        return [...(origin === undefined ? [] : [origin]), ...take(eventAt(resource, key))];
      }
      case "write":
        return take(requestOfWrite(entry));
      case "read":
        return entry.from === "cache" ? [] : take(requestAt("GET", nameOf(entry), entry.object.key));
      case "list":
      case "cache": {
        const faults = take(requestAt("GET", entry.object.resource));
        return entry.kind === "list" && entry.isInitial && started !== undefined ? [started, ...faults] : faults;
      }
      default:
        return [];
    }
  }

  #memoryOf(process: number): ProcessMemory {
    const known = this.#processes.get(process);
    if (known !== undefined) return known;
    const memory = { running: new Set<EntryId>(), answers: new Map(), lastFault: undefined, started: undefined };
    this.#processes.set(process, memory);
    return memory;
  }
}

/** The reconcile that has sent a write, if only one runs. */
function onlyOf(running: ReadonlySet<EntryId> = new Set()): readonly EntryId[] {
  return running.size === 1 ? [...running] : [];
}

const methods = {
  create: "POST",
  update: "PUT",
  patch: "PATCH",
  apply: "PATCH",
  delete: "DELETE",
  deletecollection: "DELETE",
} as const;

function requestOfWrite(entry: NewEntry & { readonly kind: "write" }): string {
  const { verb, object: { key = "" }, subresource } = entry;
  // The path of a create has no name.
  const path = verb === "create" && subresource === undefined ? key.slice(0, Math.max(0, key.indexOf("/"))) : key;
  return requestAt(methods[verb], nameOf(entry), path);
}

function nameOf({ object, subresource }: NewEntry & { readonly kind: "write" | "read" }): string {
  return subresource === undefined ? object.resource : `${object.resource}/${subresource}`;
}

function inOrder(causes: readonly EntryId[]): readonly EntryId[] {
  return [...new Set(causes)].sort((one, other) => one - other);
}
