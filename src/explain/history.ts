/**
 * History: the entries of a recording with what a reader asks of them: which entry is this, what did it lead to, what kind
 * does a controller reconcile.
 *
 * Guarantees: linear time and memory, also of a file that somebody else wrote: of the causes of an entry only the first ones
 * are read. Caveat: causes that the recording has dropped are not found.
 */
import type { ChangeEntry, Entry, EntryId, ObjectRef, ReconcileStartEntry, WriteEntry } from "../observe/mod.ts";

/** The names of a kind. */
export interface KindNames extends ObjectRef {
  /** @default the kind in lower case */
  readonly singular?: string;
  /** @default none but those of Kubernetes' own kinds */
  readonly shortNames?: readonly string[];
  /** @default false */
  readonly isClusterScoped?: boolean;
}

/** A controller whose objects can be asked about. */
export interface KnownController {
  readonly name: string;
  /** The kind that it reconciles. */
  readonly primary: KindNames;
  /** The other kinds that it watches. */
  readonly watched: readonly KindNames[];
}

/** The object that a question is about. */
export interface Subject {
  /** `deployments.apps`, `pods`. */
  readonly resource: string;
  /** `Deployment`. */
  readonly kind: string;
  /** `namespace/name`, or `name` if cluster-scoped. */
  readonly key: string;
}

/** A key carries far fewer. */
const maxCauses = 32;

function causeIds({ causes }: Pick<Entry, "causes">): readonly EntryId[] {
  return causes.length > maxCauses ? causes.slice(0, maxCauses) : causes;
}

export class History {
  readonly entries: readonly Entry[];
  readonly controllers: readonly KnownController[];
  readonly #byId: ReadonlyMap<EntryId, Entry>;
  readonly #effects = new Map<EntryId, Entry[]>();
  readonly #ownManagers = new Set<string>();
  /** Deletions by this process, by object, oldest first. */
  readonly #deletions = new Map<string, WriteEntry[]>();
  /** Objects with a write to which no answer came. */
  readonly #unanswered = new Set<string>();
  readonly #ofKeys = new Map<string, Entry[]>();
  /** The first start that a change has led to, by change and key. */
  readonly #firstStarts = new Map<string, EntryId>();
  /** The newest start of each key. */
  readonly #lastStarts = new Map<string, EntryId>();
  /** Changes and writes by the version that they led to. */
  readonly #changes = new Map<string, ChangeEntry>();
  readonly #writes = new Map<string, WriteEntry>();

  /** @param entries Oldest first. */
  constructor(entries: readonly Entry[], controllers: readonly KnownController[]) {
    this.controllers = controllers;
    this.#byId = new Map(entries.map((entry) => [entry.id, entry]));
    // Two entries with one id would share their effects.
    this.entries = entries.filter((entry) => this.find(entry.id) === entry);
    for (const entry of this.entries) {
      this.#index(entry);
      for (const cause of causeIds(entry)) {
        const effects = this.#effects.get(cause);
        if (effects === undefined) this.#effects.set(cause, [entry]);
        else effects.push(entry);
      }
    }
  }

  #index(entry: Entry): void {
    // A deletion has the version of the state before it, which is that of another change.
    if (entry.kind === "change" && entry.isEcho !== true && entry.change !== "deleted") {
      this.#changes.set(versionOf(entry.object, entry.resourceVersion), entry);
    }
    if (entry.kind === "reconcile-start") this.#indexStart(entry);
    const ofKey = `${entry.controller} ${entry.key}`;
    if (entry.key !== undefined) {
      const known = this.#ofKeys.get(ofKey);
      if (known === undefined) this.#ofKeys.set(ofKey, [entry]);
      else known.push(entry);
    }
    if (entry.kind !== "write") return;
    const { verb, answer, object, fieldManager } = entry;
    if (fieldManager !== undefined) this.#ownManagers.add(fieldManager);
    if (answer.kind === "failed" && answer.code === undefined) this.#unanswered.add(nameOf(object));
    if (verb === "delete" && answer.kind === "removed") this.#indexDeletion(entry);
    // A status that is patched without a change has the version of another write.
    if (answer.kind !== "stored" || answer.resourceVersion === undefined) return;
    const version = versionOf(object, answer.resourceVersion);
    if (!this.#writes.has(version)) this.#writes.set(version, entry);
  }

  #indexStart(start: ReconcileStartEntry): void {
    this.#lastStarts.set(`${start.controller} ${start.key}`, start.id);
    for (const id of causeIds(start)) {
      const change = this.#byId.get(id)?.causes[0];
      const name = `${change} ${start.controller} ${start.key}`;
      if (change !== undefined && !this.#firstStarts.has(name)) this.#firstStarts.set(name, start.id);
    }
  }

  #indexDeletion(write: WriteEntry): void {
    const name = nameOf(write.object);
    const known = this.#deletions.get(name);
    if (known === undefined) this.#deletions.set(name, [write]);
    else known.push(write);
  }

  find(id: EntryId): Entry | undefined {
    return this.#byId.get(id);
  }

  /** What an entry led to, oldest first. */
  effectsOf({ id }: Pick<Entry, "id">): readonly Entry[] {
    return this.#effects.get(id) ?? [];
  }

  /** The causes of an entry that the recording still has, oldest first. */
  causesOf({ causes }: Pick<Entry, "causes">): readonly Entry[] {
    return causeIds({ causes }).flatMap((id) => this.find(id) ?? []);
  }

  /** The object that a controller reconciles under a key. */
  primaryOf(controller: string | undefined, key: string | undefined): ObjectRef {
    const known = this.controllers.find(({ name }) => name === controller)?.primary;
    const { resource, kind } = known ?? { resource: controller ?? "", kind: controller ?? "key" };
    return { resource, kind, key };
  }

  /** The write of this process that made a change. The watch may have been faster than the response, so versions decide. */
  writeOf(change: ChangeEntry): WriteEntry | undefined {
    const write = this.causesOf(change).find((cause) => cause.kind === "write");
    if (write !== undefined) return write;
    return change.change === "deleted"
      ? this.#deletionOf(change)
      : this.#writes.get(versionOf(change.object, change.resourceVersion));
  }

  /** The write that was on its way when the watch showed the deletion: its answer came afterwards. */
  #deletionOf({ id, uid, object }: ChangeEntry): WriteEntry | undefined {
    const writes = this.#deletions.get(nameOf(object)) ?? [];
    const next = writes[firstAfter(writes, id)];
    if (next?.answer.kind !== "removed" || (next.causes[0] ?? id) >= id) return undefined;
    const isOther = uid !== undefined && next.answer.uid !== undefined && next.answer.uid !== uid;
    return isOther ? undefined : next;
  }

  /** What a write changed, as the response or the watch showed it. */
  changeOf(write: WriteEntry): ChangeEntry | undefined {
    const shown = this.effectsOf(write).find((effect) => effect.kind === "change" && effect.isEcho !== true);
    if (shown?.kind === "change") return shown;
    const { answer, object } = write;
    return answer.kind === "stored" ? this.#changes.get(versionOf(object, answer.resourceVersion)) : undefined;
  }

  /** The entries about a key of a controller, oldest first. */
  entriesOf(controller: string, key: string): readonly Entry[] {
    return this.#ofKeys.get(`${controller} ${key}`) ?? [];
  }

  /** True if the same change has led to an earlier reconcile of the key: a key can be queued twice for one change. */
  hasBegunBefore({ id, controller, key }: ReconcileStartEntry, change: Pick<Entry, "id">): boolean {
    return (this.#firstStarts.get(`${change.id} ${controller} ${key}`) ?? Infinity) < id;
  }

  /** True if a worker has taken the key of an entry after it. */
  wasTakenAfter({ id, controller, key }: Pick<Entry, "id" | "controller" | "key">): boolean {
    return (this.#lastStarts.get(`${controller} ${key}`) ?? -1) > id;
  }

  /** True if this process has sent a write of the object to which no answer came: it may be stored. */
  hasUnansweredWrite(object: ObjectRef): boolean {
    return this.#unanswered.has(nameOf(object));
  }

  /** True for the field manager of a controller of this process. */
  isOwnManager(manager: string | undefined): boolean {
    return manager !== undefined && this.#ownManagers.has(manager);
  }
}

/** The controllers that reconcile or watch a kind. */
export function controllersOf({ controllers }: History, resource: string): readonly KnownController[] {
  return controllers.filter(({ primary, watched }) => [primary, ...watched].some((one) => one.resource === resource));
}

/** True for the object itself, also under another version of its kind. */
export function isSubject(object: ObjectRef | undefined, { resource, key }: Subject): boolean {
  return object !== undefined && object.resource === resource && object.key === key;
}

/** One state of one object. */
function versionOf(object: ObjectRef, version: string | undefined): string {
  return `${nameOf(object)} ${version}`;
}

/** The index of the first entry after `id`. @param entries Oldest first */
function firstAfter(entries: readonly Pick<Entry, "id">[], id: EntryId): number {
  let [low, high] = [0, entries.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((entries[middle]?.id ?? Infinity) > id) high = middle;
    else low = middle + 1;
  }
  return low;
}

function nameOf({ resource, key }: ObjectRef): string {
  return `${resource} ${key}`;
}
