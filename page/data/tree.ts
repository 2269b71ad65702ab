/** The objects as a tree of owners: by owner references where they are known, else as the entries tell. */
import type { KnownObject, Model, Work } from "./model.ts";

/** One line of the list. */
export interface TreeRow {
  readonly object: KnownObject;
  /** 0 for an object without an owner. */
  readonly depth: number;
  readonly hasChildren: boolean;
  readonly isExpanded: boolean;
  /** Its place among its siblings, from 1. */
  readonly position: number;
  readonly siblings: number;
}

/** The objects that match, each below its owner. */
export function treeRows(model: Model, query: string, collapsed: ReadonlySet<string>): readonly TreeRow[] {
  const shown = shownObjects(model);
  const parents = parentsOf(model, shown);
  const visible = matching(shown, parents, query);
  const children = new Map<string | undefined, KnownObject[]>();
  for (const object of shown) {
    if (!visible.has(object.id)) continue;
    const parent = parents.get(object.id);
    const list = children.get(parent);
    if (list === undefined) children.set(parent, [object]);
    else list.push(object);
  }
  const primaries = new Map(model.source.controllers.map(({ primary }, index) => [primary.resource, index]));
  const rankOf = ({ ref }: KnownObject) => primaries.get(ref.resource) ?? primaries.size;
  const rows: TreeRow[] = [];
  const append = (parent: string | undefined, depth: number) => {
    const list =
      children.get(parent)?.sort((a, b) =>
        rankOf(a) - rankOf(b) || compare(a.ref.kind, b.ref.kind) || compare(a.key, b.key)
      ) ?? [];
    list.forEach((object, index) => {
      const hasChildren = children.has(object.id);
      const isExpanded = hasChildren && (query !== "" || !collapsed.has(object.id));
      rows.push({ object, depth, hasChildren, isExpanded, position: index + 1, siblings: list.length });
      if (isExpanded) append(object.id, depth + 1);
    });
  };
  append(undefined, 0);
  return rows;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Objects that exist, and those that were deleted while entries were read. */
function shownObjects({ objects, source, hasObjects }: Model): readonly KnownObject[] {
  const hasRows = hasObjects && (source.hasStates || source.kind === "process");
  return [...objects.values()].filter(({ row, isDeleted, work }) =>
    !hasRows || row !== undefined || isDeleted || [...work.values()].some(({ state }) => state !== "idle")
  );
}

/** The owner of each object that has one in the list. */
export function parentsOf(_model: Model, objects: Iterable<KnownObject>): ReadonlyMap<string, string> {
  const all = [...objects];
  const ids = new Set(all.map(({ id }) => id));
  const byUid = new Map(all.flatMap(({ id, row }) => row?.uid === undefined ? [] : [[row.uid, id] as const]));
  const parents = new Map<string, string>();
  for (const { id, row, ownerHint } of all) {
    const owner = row?.owners.map((uid) => byUid.get(uid)).find((found) => found !== undefined);
    const parent = owner ?? (row === undefined ? ownerHint : undefined);
    if (parent !== undefined && parent !== id && ids.has(parent)) parents.set(id, parent);
  }
  // Owners in a circle would never be shown.
  for (const id of parents.keys()) {
    const path = new Set<string>([id]);
    for (let next = parents.get(id); next !== undefined; next = parents.get(next)) {
      if (path.has(next)) {
        parents.delete(id);
        break;
      }
      path.add(next);
    }
  }
  return parents;
}

/** The objects whose names or state have all words, with their owners. */
function matching(
  objects: readonly KnownObject[],
  parents: ReadonlyMap<string, string>,
  query: string,
): ReadonlySet<string> {
  const words = query.toLowerCase().split(/\s+/).filter((word) => word !== "");
  if (words.length === 0) return new Set(objects.map(({ id }) => id));
  const visible = new Set<string>();
  for (const object of objects) {
    const text = `${object.ref.kind} ${object.ref.resource} ${object.key} ${stateOf(object).text}`.toLowerCase();
    if (!words.every((word) => text.includes(word))) continue;
    for (let id: string | undefined = object.id; id !== undefined; id = parents.get(id)) visible.add(id);
  }
  return visible;
}

/** The state of an object in a word. */
export interface ShownState {
  readonly text: string;
  readonly tone: "good" | "warning" | "bad" | "neutral" | "busy";
}

const workTones = {
  idle: "neutral",
  queued: "busy",
  running: "busy",
  waiting: "neutral",
  failing: "bad",
  parked: "warning",
} as const satisfies Record<Work["state"], ShownState["tone"]>;

/** What matters most: a controller that fails, then what the object says about itself. */
export function stateOf({ work, row, isDeleted }: KnownObject): ShownState {
  if (isDeleted) return { text: "deleted", tone: "neutral" };
  const states = [...work.values()];
  for (const name of ["failing", "parked", "running", "queued"] as const) {
    if (states.some(({ state }) => state === name)) return { text: name, tone: workTones[name] };
  }
  if (row?.state !== undefined) return row.state;
  return states.length > 0 ? { text: "reconciled", tone: "good" } : { text: "", tone: "neutral" };
}

/** The owners of an object, the outermost first, and what it owns. */
export function family(model: Model, id: string): {
  readonly owners: readonly KnownObject[];
  readonly owned: readonly KnownObject[];
} {
  const parents = parentsOf(model, shownObjects(model));
  const owners: KnownObject[] = [];
  for (let next = parents.get(id); next !== undefined; next = parents.get(next)) {
    const owner = model.objects.get(next);
    if (owner !== undefined) owners.unshift(owner);
  }
  const owned = [...parents].flatMap(([child, parent]) => parent === id ? model.objects.get(child) ?? [] : []);
  return { owners, owned };
}
