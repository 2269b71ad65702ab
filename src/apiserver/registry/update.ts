/**
 * The verb update: put() for a PUT, and update(), which patch and scale use too. From a draft of the new state to the stored
 * one, with optimistic locking. The order of the steps is that of apiserver `handlers/update.go` and `registry/store.go`.
 *
 * Guarantees: a write with a resourceVersion never overwrites a newer state. An update that changes nothing writes nothing.
 * Removing the last finalizer of an object with a deletionTimestamp deletes the object.
 */
import {
  badRequest,
  conflict,
  type Draft,
  invalid,
  isSameJson,
  type JsonObject,
  notFound,
  read,
  StatusError,
} from "../model/mod.ts";
import { unchangedButTimes } from "../patch/mod.ts";
import { parseResourceVersion, type StoredObject } from "../storage/mod.ts";
import { admit, validateAdmission } from "./admission_chain.ts";
import {
  type Body,
  type Call,
  kindSubject,
  type RegistryParts,
  type Representation,
  storageNamespace,
  subjectOf,
  writeContext,
  type WriteResponse,
} from "./call.ts";
import { finishCreate, storeWithinSizeLimit } from "./create.ts";
import { setManagedFields, trackFields } from "./track_fields.ts";
import {
  dropDuplicateOwners,
  matchNamespace,
  metadataOf,
  metadataText,
  metadataTexts,
  readMetadata,
} from "./metadata.ts";
import { metadataErrors, metadataUpdateErrors } from "./metadata_rules.ts";
import { inVersion, represent, representDraft, representDryRun, toStorage } from "./represent.ts";

/** Replaces an object, or a part of it such as its status, by a body. @throws StatusError */
export function put(parts: RegistryParts, call: Call, name: string, body: Body): Promise<WriteResponse> {
  const { kind } = call;
  const decode = (): Draft => {
    const draft = body();
    kind.setDefaults(draft);
    return draft;
  };
  let decoded: Draft | undefined = decode();
  checkName(call, decoded, name);
  dropDuplicateOwners(decoded, false, (text) => call.warn(text));
  return update(parts, call, {
    name,
    mayCreate: kind.allowsCreateOnUpdate ?? false,
    uid: metadataText(decoded, "uid"),
    next: async (old) => {
      const draft = decoded ?? decode();
      // The next steps change the draft, so another attempt decodes again.
      decoded = undefined;
      await trackFields(parts, call, old, draft);
      return draft;
    },
  });
}

/** A change of one object. */
export interface Change {
  readonly name: string;
  /** True when it may create a missing object: apply, and kinds that allow it. */
  readonly mayCreate: boolean;
  /** The required UID; "" for any. */
  readonly uid: string;
  /**
   * Computes the new state, with managedFields, from the live one (undefined for a missing object). Called again after a
   * concurrent write.
   */
  next(old: JsonObject | undefined): Draft | Promise<Draft>;
}

/** The message of a conflict in optimistic locking; clients compare it. */
export const modifiedText =
  "the object has been modified; please apply your changes to the latest version and try again";

/** Attempts before the response is 409; kube-apiserver tries until its timeout. */
const maxAttempts = 100;

/** The result of one attempt: `raced` when a concurrent write was first. */
type Attempt = { readonly kind: "done"; readonly response: WriteResponse } | { readonly kind: "raced" };

/** Applies a change to the live state, and repeats that after a concurrent write. @throws StatusError */
export async function update(parts: RegistryParts, call: Call, change: Change): Promise<WriteResponse> {
  for (let count = 0; count < maxAttempts; count++) {
    call.signal.throwIfAborted();
    const attempt = await tryUpdate(parts, call, change);
    if (attempt.kind === "done") return attempt.response;
  }
  throw conflict(subjectOf(call.kind, change.name), modifiedText);
}

async function tryUpdate(parts: RegistryParts, call: Call, change: Change): Promise<Attempt> {
  const { kind } = call;
  const stored = parts.storage.find(kind.collection, storageNamespace(call), change.name);
  if (stored === undefined) return await createMissing(parts, call, change);
  const old = kind.shown === undefined ? (await represent(stored, kind)).object : await inVersion(stored, kind);
  checkUid({ ...call, name: change.name }, change.uid, old);
  if (call.pause !== undefined) await call.pause();
  const draft = await change.next(old);
  if (call.pause !== undefined) await call.pause();
  checkName(call, draft, change.name);
  const admitted = await admit(parts, call, { operation: "UPDATE", name: change.name, object: draft, oldObject: old });
  const next = admitted ?? draft;
  dropDuplicateOwners(next, true, (text) => call.warn(text));
  checkVersion(call, next, old);
  validateChange(parts, call, next, old);
  if (call.pause !== undefined) await call.pause();
  keepManagedFieldsIfOnlyTimesDiffer(next, old);
  metadataOf(next)["resourceVersion"] = metadataText(old, "resourceVersion");
  await validateAdmission(parts, call, { operation: "UPDATE", name: change.name, object: next, oldObject: old });
  return await storeChange(parts, call, { stored, old, next });
}

/** The live state and the state that replaces it. */
interface Step {
  readonly stored: StoredObject;
  readonly old: JsonObject;
  readonly next: Draft;
}

async function storeChange(parts: RegistryParts, call: Call, step: Step): Promise<Attempt> {
  const { kind, family } = call;
  const { stored, old, next } = step;
  if (mayBeRemoved(call, next, old)) {
    if (call.isDryRun) return done(representDraft(next, kind));
    return parts.storage.delete(kind.collection, stored) === undefined
      ? { kind: "raced" }
      : done(representDraft(next, kind));
  }
  if (isSameJson(next, old)) return done(await represent(stored, kind));
  const object = await toStorage(next, kind, family.storage);
  if (call.isDryRun) return done(await representDryRun(object, kind));
  const updated = storeWithinSizeLimit(
    object,
    (fitting) => parts.storage.update(kind.collection, stored, fitting),
  );
  return updated === undefined ? { kind: "raced" } : done(await represent(updated, kind));
}

function done(result: Representation): Attempt {
  return { kind: "done", response: { code: 200, result } };
}

async function createMissing(parts: RegistryParts, call: Call, change: Change): Promise<Attempt> {
  const { kind } = call;
  if (!change.mayCreate || call.subresource !== "") throw notFound(subjectOf(kind, change.name));
  call.authorize("create", change.name);
  const draft = await change.next(undefined);
  const uid = metadataText(draft, "uid");
  if (uid !== "") {
    const why = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`;
    throw conflict(subjectOf(kind, change.name), why);
  }
  checkName(call, draft, change.name);
  // Only a POST with a resourceVersion is rejected. Here it is the version that an existing object would need.
  delete metadataOf(draft)["resourceVersion"];
  const admitted = await admit(parts, call, {
    operation: "CREATE",
    name: change.name,
    object: draft,
    oldObject: undefined,
  });
  return { kind: "done", response: { code: 201, result: await finishCreate(parts, call, admitted ?? draft) } };
}

/** The name and namespace in the body must be those in the URL. */
export function checkName(call: Call, draft: Draft, name: string): void {
  matchNamespace(metadataOf(draft), storageNamespace(call));
  const own = metadataText(draft, "name");
  if (own === "") {
    throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  }
  if (own !== name) {
    throw badRequest(`the name of the object (${own}) does not match the name on the URL (${name})`);
  }
}

/** The object of a write. */
type WriteTarget = Pick<Call, "kind" | "namespace" | "isDryRun"> & { readonly name: string };

/** The UID in a body must be that of the object; "" is any. @throws StatusError 409 */
export function checkUid(target: WriteTarget, given: string, old: JsonObject): void {
  const uid = metadataText(old, "uid");
  if (given === "" || given === uid) return;
  const why = `StorageError: invalid object, Code: 4, Key: ${registryKey(target)}, ResourceVersion: 0, ` +
    `AdditionalErrorMsg: Precondition failed: UID in precondition: ${given}, UID in object meta: ${uid}`;
  throw conflict(subjectOf(target.kind, target.name), why);
}

/** The key of the object in the etcd of a kube-apiserver, which a dry run does not reach; it is part of messages. */
function registryKey({ kind, namespace, name, isDryRun }: WriteTarget): string {
  const resource = kind.hasStrategicMerge || kind.group === "" ? kind.plural : `${kind.group}/${kind.plural}`;
  const object = kind.scope === "Cluster" || namespace === "" ? name : `${namespace}/${name}`;
  return `${isDryRun ? "" : "/registry"}/${resource}/${object}`;
}

function checkVersion(call: Call, next: Draft, old: JsonObject): void {
  const { kind } = call;
  const name = metadataText(old, "name");
  const version = metadataText(next, "resourceVersion");
  const parsed = parseResourceVersion(version);
  if (parsed.kind === "malformed") {
    throw new StatusError(500, "", parsed.why);
  }
  if (parsed.revision === 0) {
    const isAllowed = kind.allowsUnconditionalUpdate ?? kind.hasStrategicMerge;
    if (isAllowed) return;
    throw invalid(subjectOf(kind, name), [{
      type: "Invalid",
      field: "metadata.resourceVersion",
      value: 0,
      detail: "must be specified for an update",
    }]);
  }
  if (version !== metadataText(old, "resourceVersion")) throw conflict(subjectOf(kind, name), modifiedText);
}

function validateChange(parts: RegistryParts, call: Call, next: Draft, old: JsonObject): void {
  const { kind } = call;
  const metadata = metadataOf(next);
  const before = readMetadata(old);
  copyOrDelete(metadata, before, "generation");
  const context = writeContext(parts, call);
  kind.prepareForUpdate(next, old, context);
  if (metadataText(next, "uid") === "") copyOrDelete(metadata, before, "uid");
  copyOrDelete(metadata, before, "creationTimestamp");
  if (read(before, "deletionTimestamp") !== undefined) copyOrDelete(metadata, before, "deletionTimestamp");
  if (read(metadata, "deletionGracePeriodSeconds") === undefined) {
    copyOrDelete(metadata, before, "deletionGracePeriodSeconds");
  }
  delete metadata["selfLink"];
  // Twice, as in kube-apiserver, which checks once for all kinds and once for the kind: clients see each cause twice.
  const changed = metadataUpdateErrors(next, old);
  const errors = [...metadataErrors(next, kind), ...changed, ...changed, ...kind.validateUpdate(next, old, context)];
  if (errors.length > 0) throw invalid(kindSubject(kind, metadataText(next, "name")), errors);
  for (const text of kind.warnings(next, old, call.subresource)) call.warn(text);
}

function copyOrDelete(metadata: Draft, before: JsonObject, field: string): void {
  const value = read(before, field);
  if (typeof value === "string" || typeof value === "number") metadata[field] = value;
  else delete metadata[field];
}

/** True when the object has a deletionTimestamp and nothing keeps it any more. */
function mayBeRemoved(call: Call, next: Draft, old: JsonObject): boolean {
  const before = readMetadata(old);
  if (read(before, "deletionTimestamp") === undefined || metadataTexts(next, "finalizers").length > 0) return false;
  const grace = read(before, "deletionGracePeriodSeconds") ?? 0;
  return grace === 0 && call.kind.deletion?.isHeld?.(next) !== true;
}

/** Keeps the old managedFields if only their times differ, so that an update without a change writes nothing. */
function keepManagedFieldsIfOnlyTimesDiffer(next: Draft, old: JsonObject): void {
  const metadata = metadataOf(next);
  const version = read(metadata, "resourceVersion");
  metadata["resourceVersion"] = metadataText(old, "resourceVersion");
  const fields = unchangedButTimes(old, next);
  if (fields !== undefined) setManagedFields(next, fields);
  if (version === undefined) delete metadata["resourceVersion"];
}
