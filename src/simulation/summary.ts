/**
 * Summary: the result of a run in a form that can be compared with another run: the fields of all objects at the end, and how
 * often each object was created and deleted. UIDs are replaced by names, and generated names by roles, so that a reference to
 * another object is a difference, and the outcome of chance is none.
 */
import type { KubeObject } from "../api/mod.ts";
import { CanonicalNames, type LearnedNames, type SummaryObject } from "./_canonical_names.ts";
import { flatFields } from "./_flat_fields.ts";
import { type Change, changesSince, inOrder, type SummaryChange } from "./_server_changes.ts";
import { ignoredCollections, type SimulatedServer } from "./_simulated_server.ts";

export type { SummaryObject } from "./_canonical_names.ts";

/** The result of a run. */
export interface Outcome {
  /** The objects at the end. */
  readonly objects: readonly SummaryObject[];
  /** What has changed since the start, oldest first. */
  readonly changes: readonly SummaryChange[];
  /** The namespaces that were deleted. */
  readonly deletedNamespaces: ReadonlySet<string>;
  /** The results of the steps of the workload. */
  readonly outcomes: readonly string[];
}

/** An {@link Outcome} in a form that can be compared. */
export interface Summary {
  /** The value as JSON, by field: `deployments.apps default/web .spec.replicas`. */
  readonly fields: ReadonlyMap<string, string>;
  /** `created 1, deleted 0`, by object: `deployments.apps default/web`. */
  readonly lifecycles: ReadonlyMap<string, string>;
  /** The objects at the end, by the names in the other two. */
  readonly objects: ReadonlyMap<string, KubeObject>;
  /** The results of the steps of the workload. */
  readonly outcomes: readonly string[];
}

/** The outcome on a server. @param external the external systems */
export function outcomeOf(server: SimulatedServer, external: readonly SummaryObject[] = []): Outcome {
  return {
    objects: [...server.objects(), ...external],
    changes: changesSince(server.api.server.storage, server.firstRevision, ignoredCollections),
    deletedNamespaces: server.deletedNamespaces(),
    outcomes: [...server.outcomes],
  };
}

/** Summarizes an outcome. @param learned the names that runs do not share */
export function summaryOf(
  { objects, changes, deletedNamespaces, outcomes }: Outcome,
  learned?: LearnedNames,
): Summary {
  const names = namesOf({ objects, changes }, learned);
  const named = namedObjects(objects, names);
  return {
    fields: fieldsOfNamed(named, names),
    lifecycles: lifecyclesOf(changes.filter(isOutside(deletedNamespaces)), names),
    objects: new Map([...named].map(([name, { object }]) => [name, object])),
    outcomes,
  };
}

/** The names in an outcome. */
export function namesOf(
  { objects, changes }: Pick<Outcome, "objects" | "changes">,
  learned?: LearnedNames,
): CanonicalNames {
  return new CanonicalNames(changes.map(createdObject), objects, learned);
}

/** What a deleted namespace takes along may have been created and deleted any number of times before. */
function isOutside(namespaces: ReadonlySet<string>): (change: SummaryChange) => boolean {
  return ({ change }) => !namespaces.has((change.current.object as KubeObject).metadata.namespace ?? "");
}

/** The objects of a run, those that were deleted before its end included. */
export function everExisting({ objects, changes }: Outcome): readonly SummaryObject[] {
  return [...changes.map(createdObject), ...objects];
}

function createdObject({ collection, change }: SummaryChange): SummaryObject {
  return { collection, object: change.current.object as KubeObject };
}

/** The keys whose values differ between two maps, or that only one of them has. */
export function differingKeys<Key>(one: ReadonlyMap<Key, unknown>, other: ReadonlyMap<Key, unknown>): readonly Key[] {
  const keys = new Set([...one.keys(), ...other.keys()]);
  return [...keys].filter((key) => one.get(key) !== other.get(key));
}

/** The fields of objects, without transient metadata, and with names in the place of UIDs. */
export function fieldsOf(
  views: readonly SummaryObject[],
  names = new CanonicalNames([], views),
): ReadonlyMap<string, string> {
  return fieldsOfNamed(namedObjects(views, names), names);
}

function fieldsOfNamed(named: ReadonlyMap<string, SummaryObject>, names: CanonicalNames): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  for (const [name, { object }] of named) {
    flatFields(object, names, (path, value) => fields.set(`${name} ${path}`, value));
  }
  return fields;
}

/** The objects by their canonical names. Objects with the same role are numbered by their content. */
function namedObjects(views: readonly SummaryObject[], names: CanonicalNames): ReadonlyMap<string, SummaryObject> {
  const named = new Map<string, SummaryObject>();
  const generated = Map.groupBy(views.filter((view) => names.isGenerated(view)), (view) => names.nameOf(view));
  for (const view of views) if (!names.isGenerated(view)) named.set(names.nameOf(view), view);
  for (const [role, same] of generated) {
    const sorted = same.map((view) => ({ view, text: contentOf(view, names) }))
      .sort((one, other) => one.text < other.text ? -1 : one.text > other.text ? 1 : 0);
    sorted.forEach(({ view }, index) => named.set(`${role}#${index + 1}`, view));
  }
  return named;
}

function contentOf({ object }: SummaryObject, names: CanonicalNames): string {
  const lines: string[] = [];
  flatFields(object, names, (path, value) => lines.push(`${path}=${value}`));
  return lines.sort().join("\n");
}

/**
 * How often each object was created and deleted. An object that was created for a deleted owner, because its creator could
 * not know of the deletion, and that was collected for that reason, is harmless: it does not count.
 * Objects with generated names are left out: one takes the place of another.
 */
export function lifecyclesOf(
  changes: readonly SummaryChange[],
  names = new CanonicalNames(changes.map(createdObject), []),
): ReadonlyMap<string, string> {
  const lifecycles = new LifecycleCounter(names);
  for (const { collection, change } of inOrder(changes)) lifecycles.count(collection, change);
  return lifecycles.texts();
}

class LifecycleCounter {
  readonly #names: CanonicalNames;
  readonly #counts = new Map<string, { created: number; deleted: number }>();
  readonly #deletedUids = new Set<string>();
  readonly #lateUids = new Set<string>();

  constructor(names: CanonicalNames) {
    this.#names = names;
  }

  count(collection: string, { kind, current }: Change): void {
    if (kind === "modified") return;
    const object = current.object as KubeObject;
    const { metadata: { uid = "", ownerReferences = [] } } = object;
    if (kind === "deleted") this.#deletedUids.add(uid);
    if (this.#names.isGenerated({ collection, object })) return;
    const key = `${collection} ${this.#names.keyOf(current.key)}`;
    const count = this.#counts.get(key) ?? { created: 0, deleted: 0 };
    this.#counts.set(key, count);
    const isLate = ownerReferences.length > 0 && ownerReferences.every((owner) => this.#deletedUids.has(owner.uid));
    if (kind === "added" && isLate) {
      this.#lateUids.add(uid);
    } else if (kind === "added") count.created++;
    else if (!this.#lateUids.has(uid)) count.deleted++;
  }

  texts(): Map<string, string> {
    return new Map(
      [...this.#counts].map(([key, { created, deleted }]) => [key, `created ${created}, deleted ${deleted}`]),
    );
  }
}
