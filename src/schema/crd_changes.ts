/**
 * crdChanges(): the differences between two CustomResourceDefinitions, field by field. `install-crds --diff` prints
 * them and `doctor` reports them.
 *
 * Guarantees: fields that the API server sets itself are not compared. List entries with a name are matched by it, so
 * that a new version or column is one change and not a change of every entry after it.
 */
import { sameJson } from "./_json.ts";
import type { Crd, StoredCrd } from "./crd.ts";

/** One field that differs. */
export interface CrdChange {
  /** `spec.versions[v1].schema.openAPIV3Schema.properties.spec.properties.replicas.maximum`. */
  readonly path: string;
  /** Absent when the field is new. */
  readonly before?: unknown;
  /** Absent when the field is removed. */
  readonly after?: unknown;
}

/** A definition from any source: a file, the program or the cluster. */
export type ComparedCrd = Pick<Crd | StoredCrd, "spec"> & {
  readonly metadata?: {
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
};

/**
 * Compares two definitions.
 *
 * @param before undefined when there is no definition yet.
 * @returns The changes in the order of their paths; empty when both are equal.
 */
export function crdChanges(before: ComparedCrd | undefined, after: ComparedCrd): readonly CrdChange[] {
  const changes: CrdChange[] = [];
  compare(before === undefined ? undefined : authoredPart(before), authoredPart(after), "", changes);
  return changes;
}

/** The part of a definition that its author wrote, without the fields that the API server sets. */
function authoredPart(crd: ComparedCrd): object {
  const { labels, annotations } = crd.metadata ?? {};
  const { conversion, preserveUnknownFields, ...spec }: Crd["spec"] & { readonly preserveUnknownFields?: boolean } =
    crd.spec;
  return {
    metadata: { ...(isEmpty(labels) ? {} : { labels }), ...(isEmpty(annotations) ? {} : { annotations }) },
    spec: {
      ...spec,
      ...(preserveUnknownFields === true ? { preserveUnknownFields } : {}),
      ...(conversion === undefined || conversion.strategy === "None" ? {} : { conversion }),
    },
  };
}

function isEmpty(map: object | undefined): boolean {
  return map === undefined || Object.keys(map).length === 0;
}

function compare(before: unknown, after: unknown, path: string, changes: CrdChange[]): void {
  if (sameJson(before, after)) return;
  const [left, right] = [entriesOf(before), entriesOf(after)];
  const isLeaf = (before !== undefined && left === undefined) || (after !== undefined && right === undefined) ||
    (left?.size ?? 0) + (right?.size ?? 0) === 0;
  if (isLeaf) {
    changes.push({
      path,
      ...(before === undefined ? {} : { before }),
      ...(after === undefined ? {} : { after }),
    });
    return;
  }
  for (const key of [...new Set([...left?.keys() ?? [], ...right?.keys() ?? []])].sort()) {
    compare(left?.get(key), right?.get(key), path === "" ? key.replace(/^\./, "") : `${path}${key}`, changes);
  }
}

/** The parts of a value by their path segment; undefined for a value that is compared as a whole. */
function entriesOf(value: unknown): ReadonlyMap<string, unknown> | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (!Array.isArray(value)) {
    return new Map(Object.entries(value).map(([key, child]) => [step(key), child]));
  }
  const names = value.map(nameOf);
  if (names.length === 0 || names.some((name) => name === undefined) || new Set(names).size !== names.length) {
    return undefined;
  }
  return new Map(value.map((item, index) => [`[${names[index]}]`, item]));
}

/** The key of a list entry: versions and columns have a name, selectable fields a path; a rule is its own key. */
function nameOf(item: unknown): string | undefined {
  if (typeof item !== "object" || item === null) return undefined;
  const { name, rule, jsonPath }: { name?: unknown; rule?: unknown; jsonPath?: unknown } = item;
  const found = name ?? rule ?? jsonPath;
  return typeof found === "string" ? found : undefined;
}

function step(key: string): string {
  return /^[\w$-]+$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
}
