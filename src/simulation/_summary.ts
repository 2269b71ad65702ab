/**
 * Summary: what a run comes to, in a form in which two runs can be compared: the objects that are there at the end, field by
 * field, and how often each object was created and deleted. UIDs are replaced by the names of what they stand for, so an
 * owner that is another object of the same name shows.
 */
import type { KubeObject } from "../api/mod.ts";
import { type Stage, uninteresting } from "./_stage.ts";

/** What a run comes to. */
export interface Summary {
  /** `deployments.apps default/web .spec.replicas`: its value as JSON. */
  readonly fields: ReadonlyMap<string, string>;
  /** `deployments.apps default/web`: `created 1, deleted 0`. */
  readonly lives: ReadonlyMap<string, string>;
  /** The same without what a process that lagged created and deleted before anything else changed. */
  readonly lastingLives: ReadonlyMap<string, string>;
  /** What came of the steps of the workload. */
  readonly outcomes: readonly string[];
}

/** Fields of metadata that say when and how often, not what. */
const passing: ReadonlySet<string> = new Set([
  "uid",
  "resourceVersion",
  "creationTimestamp",
  "generation",
  "managedFields",
]);
/** Once for each process that hears of the end of the child, and not yet of its owner's, when it has just begun. */
const mostStillborn = 2;
const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

/** Looks at a stage as it is now. @param lagsFrom revision at which a process first started on a server that lags */
export function summaryOf(stage: Stage, lagsFrom = Infinity): Summary {
  const changes = changesOf(stage);
  return {
    fields: fieldsOf([...stage.objects()]),
    lives: livesIn(changes),
    lastingLives: livesIn(withoutTakenBack(changes, lagsFrom)),
    outcomes: [...stage.outcomes],
  };
}

/** An object, and the collection it is in: `deployments.apps`. */
export interface SummaryObject {
  readonly collection: string;
  readonly object: KubeObject;
}

/** The fields of objects as a summary has them: without those that say when and how often, UIDs as names. */
export function fieldsOf(views: readonly SummaryObject[]): ReadonlyMap<string, string> {
  const names = new Map(views.map(({ collection, object }) => [object.metadata.uid ?? "", nameOf(collection, object)]));
  const fields = new Map<string, string>();
  for (const { collection, object } of views) {
    const flat = new Flattener(names, (path, value) => fields.set(`${nameOf(collection, object)} ${path}`, value));
    flat.object(object);
  }
  return fields;
}

/** The keys that do not have the same value in both, such as fields or lives by their names. */
export function differing<Key>(one: ReadonlyMap<Key, unknown>, other: ReadonlyMap<Key, unknown>): readonly Key[] {
  const keys = new Set([...one.keys(), ...other.keys()]);
  return [...keys].filter((key) => one.get(key) !== other.get(key));
}

class Flattener {
  readonly #names: ReadonlyMap<string, string>;
  readonly #put: (path: string, value: string) => void;

  constructor(names: ReadonlyMap<string, string>, put: (path: string, value: string) => void) {
    this.#names = names;
    this.#put = put;
  }

  object({ metadata, ...rest }: KubeObject): void {
    const kept = Object.entries(metadata).filter(([key]) => !passing.has(key));
    this.#value(Object.fromEntries(kept), ".metadata");
    for (const [key, value] of Object.entries(rest)) {
      if (key === "status") this.#status(value, metadata.generation);
      else this.#value(value, `.${key}`);
    }
  }

  /** How often an object changed may differ; that its status is about the newest change may not. */
  #status(status: unknown, generation: number | undefined): void {
    if (typeof status !== "object" || status === null) return;
    for (const [key, value] of Object.entries(status)) {
      if (key === "observedGeneration") this.#put(".status.observed", String(value === generation));
      else this.#value(value, `.status.${key}`);
    }
  }

  #value(value: unknown, path: string): void {
    if (Array.isArray(value)) value.forEach((item, index) => this.#value(item, `${path}[${index}]`));
    else if (typeof value === "object" && value !== null) {
      for (const [key, inner] of Object.entries(value)) {
        if (key === "observedGeneration") continue;
        this.#value(inner, `${path}.${key}`);
      }
    } else this.#put(path, this.#scalar(value, path));
  }

  #scalar(value: unknown, path: string): string {
    if (typeof value !== "string") return JSON.stringify(value);
    if (instant.test(value)) return "<time>";
    const named = this.#names.get(value);
    if (named !== undefined) return `<uid of ${named}>`;
    return path.endsWith(".uid") ? "<uid of something gone>" : JSON.stringify(value);
  }
}

/** What happened to objects since the stage was set, in order. */
function changesOf({ api: { server: { storage } }, firstRevision }: Stage): readonly SummaryChange[] {
  const changes: SummaryChange[] = [];
  for (const { collection } of storage.collections()) {
    if (uninteresting.has(collection)) continue;
    using cursor = storage.watch(collection, { namespace: "", after: firstRevision, onChange: () => {} });
    for (let change = cursor.read(); typeof change === "object"; change = cursor.read()) {
      changes.push({ collection, change });
    }
  }
  return inOrder(changes);
}

function inOrder(changes: readonly SummaryChange[]): readonly SummaryChange[] {
  return changes.toSorted((one, other) => one.change.revision - other.change.revision);
}

/** Takes out the objects that were created after a revision and deleted before anything else changed. */
function withoutTakenBack(changes: readonly SummaryChange[], revision: number): readonly SummaryChange[] {
  const kept: SummaryChange[] = [];
  for (const one of changes) {
    const isSame = ({ collection, change }: SummaryChange) =>
      collection === one.collection && change.current.key === one.change.current.key;
    // Somebody may have edited it meanwhile.
    const begin = kept.findLastIndex((before) => !isSame(before) || before.change.kind !== "modified");
    const born = kept[begin];
    const isTakenBack = one.change.kind === "deleted" && born !== undefined && isSame(born) &&
      born.change.kind === "added" && born.change.revision > revision;
    if (isTakenBack) kept.length = begin;
    else kept.push(one);
  }
  return kept;
}

/** A change of an object of a collection. */
export interface SummaryChange {
  readonly collection: string;
  readonly change: Change;
}

/**
 * Counts the lives of each object. One that was created for an owner that had gone already, because its creator could not
 * know yet, and was collected for that reason, harmed nobody; a few of them do not count.
 */
export function livesIn(changes: readonly SummaryChange[]): ReadonlyMap<string, string> {
  const lives = new Lives();
  for (const { collection, change } of inOrder(changes)) lives.note(collection, change);
  return lives.text();
}

interface Change {
  readonly kind: "added" | "modified" | "deleted";
  readonly revision: number;
  readonly current: { readonly key: string; readonly object: unknown };
}

class Lives {
  readonly #counts = new Map<string, { created: number; deleted: number; stillborn: number }>();
  readonly #gone = new Set<string>();
  readonly #stillborn = new Set<string>();

  note(collection: string, { kind, current }: Change): void {
    if (kind === "modified") return;
    const { metadata: { uid = "", ownerReferences = [] } } = current.object as KubeObject;
    const key = `${collection} ${current.key}`;
    const count = this.#counts.get(key) ?? { created: 0, deleted: 0, stillborn: 0 };
    this.#counts.set(key, count);
    const isLate = ownerReferences.length > 0 && ownerReferences.every((owner) => this.#gone.has(owner.uid));
    if (kind === "added" && isLate) {
      this.#stillborn.add(uid);
      count.stillborn++;
    } else if (kind === "added") count.created++;
    else if (!this.#stillborn.has(uid)) count.deleted++;
    if (kind === "deleted") this.#gone.add(uid);
  }

  text(): Map<string, string> {
    return new Map([...this.#counts].map(([key, { created, deleted, stillborn }]) => {
      const late = stillborn > mostStillborn ? `, and ${stillborn} times for an owner that had gone` : "";
      return [key, `created ${created}, deleted ${deleted}${late}`];
    }));
  }
}

function nameOf(collection: string, { metadata: { namespace, name } }: KubeObject): string {
  return namespace === undefined ? `${collection} ${name}` : `${collection} ${namespace}/${name}`;
}
