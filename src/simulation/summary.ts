/**
 * Summary: the result of a run in a form that can be compared with another run: the fields of all objects at the end, and how
 * often each object was created and deleted. UIDs are replaced by names, so that a reference to another object of the same
 * name is a difference.
 */
import { type KubeObject, printExactJson } from "../api/mod.ts";
import { type Change, changesSince, inOrder, type SummaryChange } from "./_server_changes.ts";
import { ignoredCollections, type SimulatedServer } from "./_simulated_server.ts";

/** The result of a run. */
export interface Summary {
  /** The value as JSON, by field: `deployments.apps default/web .spec.replicas`. */
  readonly fields: ReadonlyMap<string, string>;
  /** `created 1, deleted 0`, by object: `deployments.apps default/web`. */
  readonly lifecycles: ReadonlyMap<string, string>;
  /** The same without objects that a process on a stale server created and deleted before anything else changed. */
  readonly lastingLifecycles: ReadonlyMap<string, string>;
  /** The results of the steps of the workload. */
  readonly outcomes: readonly string[];
}

/** Metadata that differs between equal runs: it says when and how often an object was written. */
const transientMetadata: ReadonlySet<string> = new Set([
  "uid",
  "resourceVersion",
  "creationTimestamp",
  "generation",
  "managedFields",
]);

/**
 * Objects created for a deleted owner that do not count, per name: one for each process that sees the deletion of a dependent
 * before the deletion of its owner, right after its start.
 */
const maxLateCreations = 2;

const timePattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

/** Summarizes a server. @param staleFrom the revision at which a process first started on a stale server */
export function summaryOf(server: SimulatedServer, staleFrom = Infinity): Summary {
  const changes = changesSince(server.api.server.storage, server.firstRevision, ignoredCollections);
  return {
    fields: fieldsOf([...server.objects()]),
    lifecycles: lifecyclesOf(changes),
    lastingLifecycles: lifecyclesOf(withoutUndone(changes, staleFrom)),
    outcomes: [...server.outcomes],
  };
}

/** The keys whose values differ between two maps, or that only one of them has. */
export function differingKeys<Key>(one: ReadonlyMap<Key, unknown>, other: ReadonlyMap<Key, unknown>): readonly Key[] {
  const keys = new Set([...one.keys(), ...other.keys()]);
  return [...keys].filter((key) => one.get(key) !== other.get(key));
}

/** An object with its collection: `deployments.apps`. */
export interface SummaryObject {
  readonly collection: string;
  readonly object: KubeObject;
}

/** The fields of objects, without transient metadata, and with names in the place of UIDs. */
export function fieldsOf(views: readonly SummaryObject[]): ReadonlyMap<string, string> {
  const names = new Map(views.map(({ collection, object }) => [object.metadata.uid ?? "", nameOf(collection, object)]));
  const fields = new Map<string, string>();
  for (const { collection, object } of views) {
    const flat = new Flattener(names, (path, value) => fields.set(`${nameOf(collection, object)} ${path}`, value));
    flat.object(object);
  }
  return fields;
}

class Flattener {
  readonly #names: ReadonlyMap<string, string>;
  readonly #put: (path: string, value: string) => void;

  constructor(names: ReadonlyMap<string, string>, put: (path: string, value: string) => void) {
    this.#names = names;
    this.#put = put;
  }

  object({ metadata, ...rest }: KubeObject): void {
    const compared = Object.entries(metadata).filter(([key]) => !transientMetadata.has(key));
    this.#value(Object.fromEntries(compared), ".metadata");
    for (const [key, value] of Object.entries(rest)) {
      if (key === "status") this.#status(value, metadata.generation);
      else this.#value(value, `.${key}`);
    }
  }

  /** The observed generation may differ, but it must be the newest in both runs or in neither. */
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
    if (typeof value !== "string") return printExactJson(value);
    if (timePattern.test(value)) return "<time>";
    const name = this.#names.get(value);
    if (name !== undefined) return `<uid of ${name}>`;
    return path.endsWith(".uid") ? "<uid of a deleted object>" : printExactJson(value);
  }
}

/** Removes the objects that were created after a revision and deleted before anything else changed. */
function withoutUndone(changes: readonly SummaryChange[], revision: number): readonly SummaryChange[] {
  const remaining: SummaryChange[] = [];
  for (const one of changes) {
    const isSame = ({ collection, change }: SummaryChange) =>
      collection === one.collection && change.current.key === one.change.current.key;
    // A user may have edited the object between its creation and its deletion.
    const index = remaining.findLastIndex((before) => !isSame(before) || before.change.kind !== "modified");
    const creation = remaining[index];
    const isUndone = one.change.kind === "deleted" && creation !== undefined && isSame(creation) &&
      creation.change.kind === "added" && creation.change.revision > revision;
    if (isUndone) remaining.length = index;
    else remaining.push(one);
  }
  return remaining;
}

/**
 * How often each object was created and deleted. An object that was created for a deleted owner, because its creator could
 * not know of the deletion, and that was collected for that reason, is harmless; {@link maxLateCreations} do not count.
 */
export function lifecyclesOf(changes: readonly SummaryChange[]): ReadonlyMap<string, string> {
  const lifecycles = new LifecycleCounter();
  for (const { collection, change } of inOrder(changes)) lifecycles.count(collection, change);
  return lifecycles.texts();
}

class LifecycleCounter {
  readonly #counts = new Map<string, { created: number; deleted: number; late: number }>();
  readonly #deletedUids = new Set<string>();
  readonly #lateUids = new Set<string>();

  count(collection: string, { kind, current }: Change): void {
    if (kind === "modified") return;
    const { metadata: { uid = "", ownerReferences = [] } } = current.object as KubeObject;
    const key = `${collection} ${current.key}`;
    const count = this.#counts.get(key) ?? { created: 0, deleted: 0, late: 0 };
    this.#counts.set(key, count);
    const isLate = ownerReferences.length > 0 && ownerReferences.every((owner) => this.#deletedUids.has(owner.uid));
    if (kind === "added" && isLate) {
      this.#lateUids.add(uid);
      count.late++;
    } else if (kind === "added") count.created++;
    else if (!this.#lateUids.has(uid)) count.deleted++;
    if (kind === "deleted") this.#deletedUids.add(uid);
  }

  texts(): Map<string, string> {
    return new Map([...this.#counts].map(([key, { created, deleted, late }]) => {
      const lateText = late > maxLateCreations ? `, and ${late} times for a deleted owner` : "";
      return [key, `created ${created}, deleted ${deleted}${lateText}`];
    }));
  }
}

function nameOf(collection: string, { metadata: { namespace, name } }: KubeObject): string {
  return namespace === undefined ? `${collection} ${name}` : `${collection} ${namespace}/${name}`;
}
