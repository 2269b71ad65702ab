/**
 * Tracks field ownership: sets `metadata.managedFields` on every write. patch/ computes the entries; this file gives it the
 * kinds, versions and subresources, and caches the entries of creates.
 */
import { apiVersionOf } from "../../api/mod.ts";
import {
  type Draft,
  draftOf,
  type DraftValue,
  isDraft,
  isSameJson,
  type JsonObject,
  type Kind,
  read,
  type TypeSchema,
} from "../model/mod.ts";
import {
  type Convert,
  type FieldContext,
  type FieldSet,
  fieldSetOf,
  type ManagedFields,
  managedFieldsDraft,
  type ResetFields,
  updateManagedFields,
} from "../patch/mod.ts";
import type { Call, RegistryParts } from "./call.ts";
import type { KindFamily } from "./kind_registry.ts";
import { metadataOf, timestamp } from "./metadata.ts";

/** Sets the managedFields of a draft for a create, an update or a patch by the manager of this call. */
export function trackFields(
  parts: RegistryParts,
  call: Call,
  live: JsonObject | undefined,
  draft: Draft,
): void | Promise<void> {
  if (live === undefined) return trackCreation(parts, call, draft);
  const fields = updateManagedFields({ ...fieldContext(parts, call), live, updated: draft });
  if (fields instanceof Promise) return fields.then((list) => setManagedFields(draft, list));
  setManagedFields(draft, fields);
}

function trackCreation(parts: RegistryParts, call: Call, draft: Draft): void | Promise<void> {
  const { kind, fieldManager } = call;
  const metadata = metadataOf(draft);
  // A body with managedFields of its own, or of a subresource, is not cached.
  const isPlain = read(metadata, "managedFields") === undefined && call.subresource === "";
  const known = isPlain ? shapes.find(kind, fieldManager, draft, timestamp(parts.clock.now())) : undefined;
  if (known !== undefined) {
    metadata["managedFields"] = known;
    return;
  }
  const fields = updateManagedFields({ ...fieldContext(parts, call), live: undefined, updated: draft });
  const finish = (list: ManagedFields | undefined) => {
    const shape = isPlain ? draftOf(draft) : undefined;
    setManagedFields(draft, list);
    if (shape !== undefined) shapes.remember(kind, fieldManager, shape, read(metadata, "managedFields"));
  };
  return fields instanceof Promise ? fields.then(finish) : finish(fields);
}

/** Sets the managedFields of a draft to a copy of a list, because the draft may be changed later. */
export function setManagedFields(draft: Draft, fields: ManagedFields | undefined): void {
  const metadata = metadataOf(draft);
  if (fields === undefined || fields.length === 0) delete metadata["managedFields"];
  else metadata["managedFields"] = managedFieldsDraft(fields);
}

/** What patch/ needs to know about a write. */
export function fieldContext(parts: RegistryParts, call: Call): FieldContext {
  const { kind, family, subresource, fieldManager } = call;
  const resetFields = resetFieldsOf(kind, family, subresource);
  return {
    type: kind.schema,
    ...(kind.empty === undefined ? {} : { empty: kind.empty }),
    apiVersion: apiVersionOf(kind),
    subresource,
    manager: fieldManager,
    now: parts.clock.now(),
    ...(resetFields === undefined ? {} : { resetFields }),
    ...(versionsOf(family).length < 2 ? {} : { convert: converterOf(family) }),
  };
}

/** All versions in which managers may own fields. */
function versionsOf({ served, unserved = [] }: KindFamily): readonly Kind[] {
  return unserved.length === 0 ? served : [...served, ...unserved];
}

/** Converts an object to another version of its family. */
function converterOf(family: KindFamily): Convert {
  return (object, apiVersion) => {
    const kind = versionsOf(family).find((version) => apiVersionOf(version) === apiVersion);
    if (kind === undefined) return undefined;
    if (object["apiVersion"] === apiVersion) return { object, type: kind.schema };
    const conversion = kind.convert([object], "plain");
    return conversion instanceof Promise
      ? conversion.then(([converted]) => versioned(converted, kind.schema))
      : versioned(conversion[0], kind.schema);
  };
}

function versioned(object: JsonObject | undefined, type: TypeSchema) {
  return object === undefined ? undefined : { object, type };
}

const statusFields = fieldSetOf([["f:status"]]);
/** The fields that a write to status does not change. For built-in kinds it may change annotations and finalizers. */
const builtInFields = fieldSetOf([["f:spec"], ["f:metadata", "f:labels"]]);
const customFields = fieldSetOf([["f:spec"], ["f:metadata"]]);

const resets = new WeakMap<KindFamily, Map<string, ResetFields>>();

/** The reset fields that the kind declares. */
function ownResetFields(kind: Kind, subresource: string): FieldSet | undefined {
  const paths = kind.resetFields?.(subresource);
  return paths === undefined ? undefined : fieldSetOf(paths.map((path) => path.map((name) => `f:${name}`)));
}

/** For a kind with a status subresource: a write to the object does not change the status, and the other way round. */
function resetFieldsOf(kind: Kind, family: KindFamily, subresource: string): ResetFields | undefined {
  if (!kind.subresources.has("status") || (subresource !== "" && subresource !== "status")) return undefined;
  let known = resets.get(family);
  if (known === undefined) resets.set(family, known = new Map());
  const found = known.get(subresource);
  if (found !== undefined) return found;
  const fields = ownResetFields(kind, subresource) ??
    (subresource === "" ? statusFields : kind.hasStrategicMerge ? builtInFields : customFields);
  const created: ResetFields = new Map(versionsOf(family).map((version) => [apiVersionOf(version), fields]));
  known.set(subresource, created);
  return created;
}

interface KnownShape {
  readonly shape: Draft;
  /** `metadata.managedFields[0]` without its time, deeply frozen: it is shared by all objects of the shape. */
  readonly entry: Draft;
}

/** Managers per kind; the cache of the kind is cleared when there are more. */
const maxManagers = 32;

/**
 * The managedFields entries of created objects, one shape per kind and manager. A client that creates many objects usually
 * creates the same fields each time, and ownership depends on the fields alone. Two objects have the same shape when all
 * their keys are the same, the same values are zero and their lists are equal, because the content of an item may be its
 * identity.
 */
export class ShapeCache {
  readonly #kinds = new WeakMap<Kind, Map<string, KnownShape>>();

  /** The managedFields of a new object, if its shape is known. */
  find(kind: Kind, manager: string, draft: Draft, time: string): Draft[] | undefined {
    const known = this.#kinds.get(kind)?.get(manager);
    if (known === undefined || !isSameShape(known.shape, draft)) return undefined;
    return [{ ...known.entry, time }];
  }

  /** Adds a shape with its managedFields. The caller must not change the shape afterwards. */
  remember(kind: Kind, manager: string, shape: Draft, fields: DraftValue | undefined): void {
    if (!Array.isArray(fields) || fields.length !== 1) return;
    const [entry] = fields;
    if (!isDraft(entry)) return;
    let managers = this.#kinds.get(kind);
    if (managers === undefined) this.#kinds.set(kind, managers = new Map());
    if (managers.size >= maxManagers) managers.clear();
    managers.set(manager, { shape, entry: frozen({ ...entry }) });
  }
}

function isSameShape(known: DraftValue, value: DraftValue): boolean {
  if (known === null) return value === null;
  if (typeof known !== "object") return typeof value !== "object" && isZero(known) === isZero(value);
  if (Array.isArray(known)) return isSameJson(known, value);
  if (!isDraft(value)) return false;
  const keys = Object.keys(known);
  if (keys.length !== Object.keys(value).length) return false;
  for (const key of keys) {
    const other = read(value, key);
    if (other === undefined || !isSameShape(known[key] ?? null, other)) return false;
  }
  return true;
}

/** A field that every object of the kind has, with its zero value, has no owner. */
function isZero(value: DraftValue): boolean {
  return value === "" || value === 0 || value === false;
}

/** Freezes a value deeply, so that a write to a shared entry throws. */
function frozen<Value extends DraftValue>(value: Value): Value {
  if (typeof value === "object" && value !== null) { for (const part of Object.values(value)) frozen(part); }
  return Object.freeze(value);
}

/** Shared by all registries of the process: the cache is per Kind and manager. */
const shapes = new ShapeCache();
