/**
 * crdChanges(): what differs between two CustomResourceDefinitions, field by field. What `install-crds --diff` prints
 * and what `doctor` judges by.
 *
 * Guarantees: only what a definition says is compared, never the server's bookkeeping; entries of lists are told apart
 * by their name where they have one, so that a new version or column does not look like a change of all after it.
 */
import { sameJson } from "./_json.ts";
import type { Crd, StoredCrd } from "./crd.ts";

/** One field that differs. */
export interface CrdChange {
  /** `spec.versions[v1].schema.openAPIV3Schema.properties.spec.properties.replicas.maximum`. */
  readonly path: string;
  /** Absent where the field is new. */
  readonly before?: unknown;
  /** Absent where the field is gone. */
  readonly after?: unknown;
}

/** A definition of which nothing is known but what it says. */
export type ComparedCrd = Pick<Crd | StoredCrd, "spec"> & {
  readonly metadata?: {
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
};

/**
 * Compares two definitions.
 *
 * @param before undefined when there is none yet.
 * @returns The changes in the order of their paths; empty when both say the same.
 */
export function crdChanges(before: ComparedCrd | undefined, after: ComparedCrd): readonly CrdChange[] {
  const changes: CrdChange[] = [];
  compare(before === undefined ? undefined : said(before), said(after), "", changes);
  return changes;
}

/** What a definition says. What the server fills in by itself is left out, so that it is no change. */
function said(crd: ComparedCrd): object {
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

/** What a value consists of, by the words that lead there; undefined for what is compared as a whole. */
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

/** Versions and columns have a name, rules are what they say, selectable fields have a path. */
function nameOf(item: unknown): string | undefined {
  if (typeof item !== "object" || item === null) return undefined;
  const { name, rule, jsonPath }: { name?: unknown; rule?: unknown; jsonPath?: unknown } = item;
  const found = name ?? rule ?? jsonPath;
  return typeof found === "string" ? found : undefined;
}

function step(key: string): string {
  return /^[\w$-]+$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
}
