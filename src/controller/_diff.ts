/**
 * Decides whether a write is necessary. Three questions, in this order:
 *
 * - Does the live object have every desired value? (`findDifferences`)
 * - Does our field manager own fields that are no longer desired, so that an apply would remove them? Has another client
 *   added to a field that an apply replaces as a whole? (`findExtraFields`)
 * - Did an earlier apply leave exactly this difference? Then it comes from the server, and another apply changes nothing
 *   (`NormalizationCache`).
 */
import { createHash } from "node:crypto";
import {
  type Infer,
  isJsonObject,
  isSameScalar,
  type KubeObject,
  parseExactJson,
  printExactJson,
  printLosslessJson,
  type Resource,
  resourceId,
} from "../api/mod.ts";
import type { Patch } from "../client/mod.ts";
import { type ItemIndex, itemIndexOf } from "./_item_index.ts";

type Json = Readonly<Record<string, unknown>>;

/** A field whose live value is not the desired one. */
export interface FieldDifference {
  /** `spec.replicas`; "" for the whole object. */
  readonly field: string;
  readonly live: unknown;
  readonly desired: unknown;
}

/**
 * All desired values that `live` does not have, as fields. A list is compared as a whole, unless its items have the same names
 * in the same order: then a thousand objects whose containers differ, and all have a quantity in another form than that of the
 * server, have one and the same difference.
 */
export function findDifferences(live: unknown, desired: unknown, field = ""): readonly FieldDifference[] {
  const first = firstDifference(live, desired);
  if (first === undefined) return [];
  if (Array.isArray(live) && Array.isArray(desired) && haveSameNames(live, desired)) {
    return desired.flatMap((item, at) => findDifferences(live[at], item, `${field}[${at}]`));
  }
  if (!isJsonObject(desired) || !isJsonObject(live) || first === "") return [{ field, live, desired }];
  return Object.entries(desired).flatMap(([key, below]) => {
    const isPresent = Object.hasOwn(live, key);
    if (!isPresent && (isEmptyList(below) || below === null)) return [];
    return findDifferences(isPresent ? live[key] : undefined, below, field === "" ? key : `${field}.${key}`);
  });
}

/** True for lists of containers, volumes, or templates of claims, which have the same names in the same order. */
function haveSameNames(left: readonly unknown[], right: readonly unknown[]): boolean {
  return left.length === right.length && left.every((item, at) => {
    const name = nameOf(item);
    return name !== undefined && name === nameOf(right[at]);
  });
}

/** What tells an item from the others: the name of a container, that in the metadata of a template; the UID of an owner. */
function nameOf(item: unknown): string | undefined {
  if (!isJsonObject(item)) return undefined;
  if (typeof item.uid === "string") return item.uid;
  if (typeof item.name === "string") return item.name;
  return item.name === undefined && isJsonObject(item.metadata) ? nameOf(item.metadata) : undefined;
}

/** True when `live` has every value in `desired`; lists must have the same length. */
export function hasDesiredValues(live: unknown, desired: unknown): boolean {
  return firstDifference(live, desired) === undefined;
}

/**
 * The path of the first value in `desired` that `live` does not have, e.g. `spec.replicas`; undefined when it has all.
 * A null means that the field must be absent, as in a merge patch.
 */
export function firstDifference(live: unknown, desired: unknown): string | undefined {
  if (desired === undefined) return undefined;
  if (Array.isArray(desired)) return firstListDifference(live, desired);
  if (!isJsonObject(desired)) return isSameScalar(live, desired) ? undefined : "";
  return isPlain(desired) ? firstObjectDifference(live, desired) : firstInstanceDifference(live, desired);
}

function isPlain(object: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(object);
  return prototype === Object.prototype || prototype === null;
}

/** Compares a Date or an instance of another class as it is sent. A Map, of which nothing is sent, differs: its write reports it. */
function firstInstanceDifference(live: unknown, desired: object): string | undefined {
  let sent: unknown;
  try {
    sent = parseExactJson(printLosslessJson(desired, "compare"));
  } catch {
    return "";
  }
  return firstDifference(live, sent);
}

function firstListDifference(live: unknown, desired: readonly unknown[]): string | undefined {
  if (!Array.isArray(live) || live.length !== desired.length) return "";
  for (const [at, item] of desired.entries()) {
    const below = firstDifference(live[at], item);
    if (below !== undefined) return `[${at}]${pathBelow(below)}`;
  }
  return undefined;
}

function firstObjectDifference(live: unknown, desired: Json): string | undefined {
  for (const key of Object.keys(desired)) {
    const value = desired[key];
    if (value === undefined) continue;
    if (!isJsonObject(live) || !Object.hasOwn(live, key)) {
      if (isEmptyList(value) || value === null) continue;
      return key;
    }
    const below = firstDifference(live[key], value);
    if (below !== undefined) return `${key}${pathBelow(below)}`;
  }
  return undefined;
}

function pathBelow(below: string): string {
  return below === "" || below.startsWith("[") ? below : `.${below}`;
}

/**
 * The lists of `live` that have every desired value and more in their items. A merge patch replaces a list, so the items would
 * lose what they have beyond the desired values, unless the server adds it again, see {@link NormalizationCache}.
 */
function findLongerItems(live: unknown, desired: unknown, field = ""): readonly FieldDifference[] {
  if (Array.isArray(desired)) return hasExtraKeys(live, desired) ? [{ field, live, desired }] : [];
  if (!isJsonObject(live) || !isJsonObject(desired)) return [];
  return Object.entries(desired).flatMap(([key, below]) =>
    Object.hasOwn(live, key) ? findLongerItems(live[key], below, field === "" ? key : `${field}.${key}`) : []
  );
}

/** The server leaves empty lists out of its responses. */
function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

/**
 * The fields that `manager` owns by Apply in `live` and that have more than `desired`, according to
 * `metadata.managedFields`. An apply would remove them. Values that the server defaulted in fields that we never set do
 * not count, because we do not own them. A desired map or list that has more and of which `manager` owns nothing any more
 * counts: another client has changed it as a whole, such as the selector of a Service.
 *
 * The format is that of structured-merge-diff (`fieldpath/serialize`). A field without fields below it is owned as a
 * whole. If such a field has more than the desired value, either we desired more of it earlier or the server adds
 * defaults. Only an apply can find out which, see {@link NormalizationCache}.
 */
export function findExtraFields(live: KubeObject, desired: unknown, manager: string): readonly FieldDifference[] {
  const found: FieldDifference[] = [];
  for (const entry of live.metadata.managedFields ?? []) {
    const isOurs = entry.manager === manager && entry.operation === "Apply" && entry.subresource === undefined;
    if (isOurs && entry.fieldsV1 !== undefined) collectExtraFields(entry.fieldsV1, { live, desired, path: [] }, found);
  }
  return found;
}

/** A place in a live and a desired object that a path of managedFields leads to. */
interface Place {
  readonly live: unknown;
  readonly desired: unknown;
  readonly path: readonly Step[];
}

function collectExtraFields(fields: Json, { live, desired, path }: Place, found: FieldDifference[]): void {
  const [liveItems, desiredItems] = [itemIndexOf(live), itemIndexOf(desired)];
  for (const text of Object.keys(fields)) {
    if (text === ".") continue;
    const step = stepOf(text);
    const below = fields[text];
    const desiredBelow = follow(desired, step, desiredItems);
    const isWhole = isOwnerReferences(step, path) || !isJsonObject(below) || isEmptyObject(below);
    // Most fields are those of a desired scalar: nothing can be below them.
    if (isWhole && desiredBelow !== undefined && typeof desiredBelow !== "object") continue;
    const here = { live: follow(live, step, liveItems), desired: desiredBelow, path: [...path, step] };
    if (desiredBelow === undefined) found.push(differenceAt(here));
    else if (!isWhole) collectExtraFields(below, here, found);
    else if (step.kind !== "v:" && hasExtraKeys(here.live, desiredBelow)) found.push(differenceAt(here));
  }
  collectLostFields(fields, { live, desired, path }, found);
}

/**
 * The desired maps and lists that have more than what is desired and are not in `fields`. Whoever changes a field that is owned
 * as a whole owns it then. The metadata has no such field, and no apply of the object changes its status.
 */
function collectLostFields(fields: Json, { live, desired, path }: Place, found: FieldDifference[]): void {
  if (!isJsonObject(live) || !isJsonObject(desired) || path[0]?.selector === "metadata") return;
  for (const key of Object.keys(desired)) {
    if (Object.hasOwn(fields, `f:${key}`) || (path.length === 0 && (key === "metadata" || key === "status"))) continue;
    const [liveBelow, desiredBelow] = [Object.hasOwn(live, key) ? live[key] : undefined, desired[key]];
    if (!hasExtraKeys(liveBelow, desiredBelow)) continue;
    found.push(differenceAt({ live: liveBelow, desired: desiredBelow, path: [...path, stepOf(`f:${key}`)] }));
  }
}

function differenceAt({ live, desired, path }: Place): FieldDifference {
  return { field: path.map(({ selector }) => selector).join("."), live, desired };
}

/**
 * The owner references, whose names have UIDs. That one of them differs is found by its value, because lists are compared as a
 * whole, and caches keep no more of them (`keepManagers`).
 */
function isOwnerReferences({ kind, selector }: Step, path: readonly Step[]): boolean {
  return selector === "ownerReferences" && kind === "f:" && path.length === 1 && path[0]?.selector === "metadata";
}

function isEmptyObject(value: Json): boolean {
  for (const key in value) if (Object.hasOwn(value, key)) return false;
  return true;
}

/** True when `live` has a key at any depth that `desired` does not have. */
function hasExtraKeys(live: unknown, desired: unknown): boolean {
  if (Array.isArray(live) && Array.isArray(desired)) return live.some((item, at) => hasExtraKeys(item, desired[at]));
  if (!isJsonObject(live) || !isJsonObject(desired)) return false;
  return Object.keys(live).some((key) => {
    const below = Object.hasOwn(desired, key) ? desired[key] : undefined;
    return below === undefined || hasExtraKeys(live[key], below);
  });
}

/** The value below `value` that one path element of managedFields selects. @param items The index of a long list */
function follow(value: unknown, { kind, selector, selected }: Step, items: ItemIndex | undefined): unknown {
  switch (kind) {
    case "f:":
      return isJsonObject(value) && Object.hasOwn(value, selector) ? value[selector] : undefined;
    case "k:":
      if (items !== undefined) return items.find(selected);
      return Array.isArray(value) ? value.find((item) => hasKeys(item, selected)) : undefined;
    case "v:":
      if (items !== undefined && typeof selected !== "object") return items.has(selected) ? value : undefined;
      return Array.isArray(value) && value.some((item) => hasDesiredValues(item, selected)) ? value : undefined;
    case "i:":
      return Array.isArray(value) ? value[Number(selector)] : undefined;
    default:
      return undefined;
  }
}

/** One path element of managedFields, e.g. `f:spec` or `k:{"name":"nginx"}`. */
interface Step {
  /** `f:`, `k:`, `v:`, `i:`; another one selects nothing. */
  readonly kind: string;
  /** What follows it. */
  readonly selector: string;
  /** The JSON of a selector of items. */
  readonly selected: unknown;
}

/** The path elements that were parsed: the objects of a kind have the same ones, and each reconcile compares them twice. */
const steps = new Map<string, Step>();
/** Beyond this, all of them are dropped. */
const maxSteps = 2_000;

function stepOf(text: string): Step {
  const known = steps.get(text);
  if (known !== undefined) return known;
  if (steps.size >= maxSteps) steps.clear();
  const [kind, selector] = [text.slice(0, 2), text.slice(2)];
  const step = { kind, selector, selected: kind === "k:" || kind === "v:" ? parseExactJson(selector) : undefined };
  steps.set(text, step);
  return step;
}

/** Our object may lack keys that the server defaults, such as a port's protocol. A missing key therefore matches. */
function hasKeys(item: unknown, keys: unknown): boolean {
  if (!isJsonObject(item) || !isJsonObject(keys)) return false;
  return Object.entries(keys).every(([key, value]) => item[key] === undefined || hasDesiredValues(item[key], value));
}

/** The oldest entry is removed first. */
const maxNormalizations = 10_000;

/**
 * Remembers how the server normalizes desired values: it writes quantities in its own form (`1000m` becomes `1`), a
 * webhook may enforce a value, and defaults appear in what we own as a whole (the apiVersion of a `fieldRef`). An apply
 * reveals each of these differences once; without this cache every reconcile would send the apply again.
 *
 * All keys of a controller share one cache: a thousand equal dependents cost one apply after a restart. It keeps a digest of
 * each difference: the values may have a megabyte each, and be secrets. The digest is a strong one, because a weak one would
 * let somebody make a difference that counts as known.
 */
export class NormalizationCache {
  readonly #known = new Set<string>();

  /** True when the server is known to turn this desired value into this live value. */
  has(resource: Resource, difference: FieldDifference): boolean {
    return this.#known.size > 0 && this.#known.has(digestOf(resource, difference));
  }

  /** The field of the first difference that is not known. */
  fieldToApply(resource: Resource, differences: readonly FieldDifference[]): string | undefined {
    return differences.find((difference) => !this.has(resource, difference))?.field;
  }

  /** The field that makes a merge patch of `live` necessary; undefined when the patch would change nothing. */
  fieldToPatch(resource: Resource, live: unknown, patch: unknown): string | undefined {
    return firstDifference(live, patch) ?? this.fieldToApply(resource, findLongerItems(live, patch));
  }

  /** Adds what the server has added to the items of lists in a merge patch. @param live The response */
  addPatched(resource: Resource, live: unknown, patch: unknown): void {
    this.add(resource, findLongerItems(live, patch));
  }

  /** Adds the differences that an apply of the desired object has left. */
  add(resource: Resource, remaining: readonly FieldDifference[]): void {
    for (const difference of remaining) this.#known.add(digestOf(resource, difference));
    while (this.#known.size > maxNormalizations) {
      const [oldest = ""] = this.#known;
      this.#known.delete(oldest);
    }
  }
}

function digestOf(resource: Resource, { field, live, desired }: FieldDifference): string {
  const text = printExactJson([resourceId(resource), field, live, desired]);
  return createHash("sha256").update(text).digest("base64");
}

/** The first field that a patch other than a merge patch changes; undefined when it certainly changes nothing. */
export function changedField<R extends Resource>(
  patch: Exclude<Patch<R>, { readonly kind: "merge" }>,
  object: Infer<R>,
): string | undefined {
  switch (patch.kind) {
    case "strategic":
      return firstDifference(object, patch.value) ?? "metadata";
    case "json":
      return patch.operations.find((operation) => operation.op !== "test")?.path.slice(1).replaceAll("/", ".");
    default:
      return patch satisfies never;
  }
}
