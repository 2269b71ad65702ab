/**
 * The verb create: from a decoded body to a stored object. The order of the steps is that of apiserver `handlers/create.go`
 * and `registry/store.go`, because it is visible to admission plugins and in validation errors.
 */
import { alreadyExists, type Draft, invalid, type JsonObject, read, StatusError } from "../model/mod.ts";
import { ObjectTooLargeError, type StoredObject } from "../storage/mod.ts";
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
import { trackFields } from "./track_fields.ts";
import {
  dropDuplicateOwners,
  fillSystemFields,
  generatedName,
  matchNamespace,
  metadataOf,
  metadataText,
  readMetadata,
  wipeSystemFields,
} from "./metadata.ts";
import { kindNameErrors, metadataErrors } from "./metadata_rules.ts";
import { represent, representDryRun, toStorage } from "./represent.ts";

/** Names that are generated for one `generateName` until one is free. */
const maxNameAttempts = 8;

/** Creates the object. @throws StatusError */
export async function create(parts: RegistryParts, call: Call, body: Body): Promise<WriteResponse> {
  const { kind } = call;
  const draft = body();
  kind.setDefaults(draft);
  const metadata = metadataOf(draft);
  wipeSystemFields(metadata);
  matchNamespace(metadata, storageNamespace(call));
  dropDuplicateOwners(draft, false, (text) => call.warn(text));
  if (call.pause !== undefined) await call.pause();
  const tracked = trackFields(parts, call, undefined, draft);
  if (tracked !== undefined) await tracked;
  if (call.pause !== undefined) await call.pause();
  const name = metadataText(draft, "name");
  const admission = { operation: "CREATE", name, object: draft, oldObject: undefined } as const;
  const pending = admit(parts, call, admission);
  const admitted = pending instanceof Promise ? await pending : pending;
  return { code: 201, result: await finishCreate(parts, call, unversioned(call, admitted ?? draft)) };
}

/** The storage refuses a version in a new object. A dry run does not come that far, and what is no number is no version. */
function unversioned(call: Call, draft: Draft): Draft {
  const version = metadataText(draft, "resourceVersion");
  if (version === "" || call.isDryRun || !/^[0-9]+$/.test(version) || BigInt(version) === 0n) return draft;
  throw new StatusError(500, "", "resourceVersion should not be set on objects to be created");
}

/**
 * The steps after mutating admission. An update that creates ends here too; it ignores the resourceVersion in its body,
 * because our client applies with a version that no object has, so that the apply creates the object or conflicts.
 */
export async function finishCreate(parts: RegistryParts, call: Call, draft: Draft): Promise<Representation> {
  const { kind } = call;
  dropDuplicateOwners(draft, true, (text) => call.warn(text));
  const metadata = metadataOf(draft);
  fillSystemFields(metadata, parts.clock.now(), parts.random);
  nameDraft(parts, call, metadata);
  matchNamespace(metadata, storageNamespace(call));
  validateNew(parts, call, draft);
  if (call.pause !== undefined) await call.pause();
  const name = metadataText(draft, "name");
  const admission = { operation: "CREATE", name, object: draft, oldObject: undefined } as const;
  const pending = validateAdmission(parts, call, admission);
  if (pending !== undefined) await pending;
  const converted = toStorage(draft, kind, call.family.storage);
  const object = converted instanceof Promise ? await converted : converted;
  const stored = storeNew(parts, call, { draft, object, name });
  return await (stored === undefined ? representDryRun(object, kind) : represent(stored, kind));
}

function nameDraft(parts: RegistryParts, call: Call, metadata: Draft): void {
  const prefix = metadataText({ metadata }, "generateName");
  if (prefix === "" || metadataText({ metadata }, "name") !== "") return;
  if (call.kind.generatesNames === false) {
    metadata["name"] = prefix;
    return;
  }
  const namespace = storageNamespace(call);
  for (let attempt = 0; attempt < maxNameAttempts; attempt++) {
    const name = generatedName(prefix, parts.random);
    metadata["name"] = name;
    if (parts.storage.find(call.kind.collection, namespace, name) === undefined) return;
  }
}

function validateNew(parts: RegistryParts, call: Call, draft: Draft): void {
  const { kind } = call;
  const context = writeContext(parts, call);
  kind.prepareForCreate(draft, context);
  const nameErrors = kindNameErrors(draft, kind);
  const generic = metadataErrors(draft, kind);
  const own = nameErrors.length === 0 ? generic : [
    ...nameErrors,
    // The name rules of the kind include the generic ones.
    ...generic.filter(({ field }) => field !== "metadata.name" && field !== "metadata.generateName"),
  ];
  const errors = [...own, ...kind.validate(draft, context)];
  if (errors.length > 0) throw invalid(kindSubject(kind, metadataText(draft, "name")), errors);
  for (const text of kind.warnings(draft)) call.warn(text);
}

/** A new object before its last step. */
interface NewObject {
  readonly draft: Draft;
  /** The draft in the version that is stored. */
  readonly object: JsonObject;
  readonly name: string;
}

/** @returns undefined for a dry run */
function storeNew(parts: RegistryParts, call: Call, { draft, object, name }: NewObject): StoredObject | undefined {
  const { kind } = call;
  const namespace = storageNamespace(call);
  const existing = parts.storage.find(kind.collection, namespace, name);
  if (existing === undefined && call.isDryRun) return undefined;
  const stored = existing === undefined
    ? storeWithinSizeLimit(object, (fitting) => parts.storage.create(kind.collection, namespace, name, fitting))
    : undefined;
  if (stored === undefined) throw nameTakenError(call, draft, name, existing);
  return stored;
}

/**
 * Stores the object. If it is too large, tries again without its managedFields.
 *
 * @throws StatusError 500 as kube-apiserver does when etcd rejects the request
 */
export function storeWithinSizeLimit<Result>(object: JsonObject, store: (object: JsonObject) => Result): Result {
  try {
    return store(object);
  } catch (error) {
    if (!(error instanceof ObjectTooLargeError)) throw error;
  }
  const { managedFields: _, ...metadata } = readMetadata(object);
  return store({ ...object, metadata });
}

function nameTakenError(call: Call, draft: Draft, name: string, existing: StoredObject | undefined): StatusError {
  const { kind } = call;
  const error = alreadyExists(subjectOf(kind, name));
  const { message = "", details = {} } = error.status;
  if (read(metadataOf(draft), "generateName") !== undefined) {
    const text = `${message}, the server was not able to generate a unique name for the object`;
    return new StatusError(409, "AlreadyExists", text, { ...details, retryAfterSeconds: 1 });
  }
  const isDeleting = existing !== undefined && metadataText(existing.object, "deletionTimestamp") !== "";
  return isDeleting ? new StatusError(409, "AlreadyExists", `object is being deleted: ${message}`, details) : error;
}
