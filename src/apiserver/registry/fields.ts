/**
 * Who owns which field: the bookkeeping of `metadata.managedFields` around every write, with what patch/ has to know of
 * kinds, versions and subresources to do it.
 */
import { apiVersionOf } from "../../api/mod.ts";
import { type Draft, draftOf, type JsonObject, type Kind, read, type TypeSchema } from "../model/mod.ts";
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
import { ShapeCache } from "./_shape_cache.ts";
import type { Call } from "./call.ts";
import type { Engine } from "./engine.ts";
import type { KindFamily } from "./kind_registry.ts";
import { metadataOf, timestamp } from "./metadata.ts";

/** Writes the managedFields of a draft as a create, an update or a patch by this caller leaves them. */
export function trackFields(
  engine: Engine,
  call: Call,
  live: JsonObject | undefined,
  draft: Draft,
): void | Promise<void> {
  if (live === undefined) return trackCreation(engine, call, draft);
  const fields = updateManagedFields({ ...fieldContext(engine, call), live, updated: draft });
  if (fields instanceof Promise) return fields.then((list) => setManagedFields(draft, list));
  setManagedFields(draft, fields);
}

const shapes = new ShapeCache();

function trackCreation(engine: Engine, call: Call, draft: Draft): void | Promise<void> {
  const { kind, fieldManager } = call;
  const metadata = metadataOf(draft);
  // A creator who says who owns what is not like the others.
  const isPlain = read(metadata, "managedFields") === undefined && call.subresource === "";
  const known = isPlain ? shapes.find(kind, fieldManager, draft, timestamp(engine.clock.now())) : undefined;
  if (known !== undefined) {
    metadata["managedFields"] = known;
    return;
  }
  const fields = updateManagedFields({ ...fieldContext(engine, call), live: undefined, updated: draft });
  const finish = (list: ManagedFields | undefined) => {
    const shape = isPlain ? draftOf(draft) : undefined;
    setManagedFields(draft, list);
    if (shape !== undefined) shapes.remember(kind, fieldManager, shape, read(metadata, "managedFields"));
  };
  return fields instanceof Promise ? fields.then(finish) : finish(fields);
}

/** Puts a list of managed fields into a draft, as a copy: the draft may be changed by whoever has it next. */
export function setManagedFields(draft: Draft, fields: ManagedFields | undefined): void {
  const metadata = metadataOf(draft);
  if (fields === undefined || fields.length === 0) delete metadata["managedFields"];
  else metadata["managedFields"] = managedFieldsDraft(fields);
}

/** What patch/ has to know of a write. */
export function fieldContext(engine: Engine, call: Call): FieldContext {
  const { kind, family, subresource, fieldManager } = call;
  const resetFields = resetFieldsOf(kind, family, subresource);
  return {
    type: kind.schema,
    ...(kind.empty === undefined ? {} : { empty: kind.empty }),
    apiVersion: apiVersionOf(kind),
    subresource,
    manager: fieldManager,
    now: engine.clock.now(),
    ...(resetFields === undefined ? {} : { resetFields }),
    ...(family.served.length < 2 ? {} : { convert: converterOf(family) }),
  };
}

/** Shows an object in another version of its family. */
function converterOf(family: KindFamily): Convert {
  return (object, apiVersion) => {
    const kind = family.served.find((served) => apiVersionOf(served) === apiVersion);
    if (kind === undefined) return undefined;
    if (object["apiVersion"] === apiVersion) return { object, type: kind.schema };
    const answer = kind.convert([object]);
    return answer instanceof Promise
      ? answer.then(([converted]) => versioned(converted, kind.schema))
      : versioned(answer[0], kind.schema);
  };
}

function versioned(object: JsonObject | undefined, type: TypeSchema) {
  return object === undefined ? undefined : { object, type };
}

const statusFields = fieldSetOf([["f:status"]]);
/** What a write of the status does not reach: for built-in kinds annotations and finalizers it does. */
const builtInFields = fieldSetOf([["f:spec"], ["f:metadata", "f:labels"]]);
const customFields = fieldSetOf([["f:spec"], ["f:metadata"]]);

const resets = new WeakMap<KindFamily, Map<string, ResetFields>>();

/** What the kind itself says. */
function ownResetFields(kind: Kind, subresource: string): FieldSet | undefined {
  const paths = kind.resetFields?.(subresource);
  return paths === undefined ? undefined : fieldSetOf(paths.map((path) => path.map((name) => `f:${name}`)));
}

/** A kind with a status of its own: writing the object does not reach the status, and the other way round. */
function resetFieldsOf(kind: Kind, family: KindFamily, subresource: string): ResetFields | undefined {
  if (!kind.subresources.has("status") || (subresource !== "" && subresource !== "status")) return undefined;
  let known = resets.get(family);
  if (known === undefined) resets.set(family, known = new Map());
  const found = known.get(subresource);
  if (found !== undefined) return found;
  const fields = ownResetFields(kind, subresource) ??
    (subresource === "" ? statusFields : kind.hasStrategicMerge ? builtInFields : customFields);
  const made: ResetFields = new Map(family.served.map((served) => [apiVersionOf(served), fields]));
  known.set(subresource, made);
  return made;
}
