/**
 * The verb create: from a decoded body to a stored object. The order of steps is that of apiserver `handlers/create.go` and
 * `registry/store.go`, since admission and validation can tell the difference.
 */
import { alreadyExists, type Draft, invalid, type JsonObject, read, Refusal } from "../model/mod.ts";
import { ObjectTooLargeError, type StoredObject } from "../storage/mod.ts";
import { admit, validateAdmission } from "./admission_chain.ts";
import { type Answer, type Body, type Call, type Representation, represented } from "./call.ts";
import { type Engine, kindSubject, storageNamespace, subjectOf, writeContext } from "./engine.ts";
import { trackFields } from "./fields.ts";
import {
  fillSystemFields,
  generatedName,
  matchNamespace,
  metadataOf,
  metadataText,
  readMetadata,
  wipeSystemFields,
} from "./metadata.ts";
import { kindNameErrors, metadataErrors } from "./metadata_rules.ts";
import { dropDuplicateOwners } from "./owners.ts";
import { represent, toStorage } from "./represent.ts";

/** Names that are tried for one `generateName`. */
const nameAttempts = 8;

/** Creates the object. @throws Refusal */
export async function create(engine: Engine, call: Call, body: Body): Promise<Answer> {
  const { kind } = call;
  const draft = body();
  kind.setDefaults(draft);
  const metadata = metadataOf(draft);
  wipeSystemFields(metadata);
  matchNamespace(metadata, storageNamespace(call));
  dropDuplicateOwners(draft, false, (text) => call.warn(text));
  const tracked = trackFields(engine, call, undefined, draft);
  if (tracked !== undefined) await tracked;
  const name = metadataText(draft, "name");
  const admission = { operation: "CREATE", name, object: draft, oldObject: undefined } as const;
  const pending = admit(engine, call, admission);
  const admitted = pending instanceof Promise ? await pending : pending;
  return { code: 201, result: await finishCreate(engine, call, unversioned(admitted ?? draft)) };
}

function unversioned(draft: Draft): Draft {
  if (metadataText(draft, "resourceVersion") === "") return draft;
  throw new Refusal(500, "", "resourceVersion should not be set on objects to be created");
}

/**
 * What is left once the draft is admitted: also the end of an update that creates, which passes over the resourceVersion
 * it was given. (Our own apply sends one that no object has, so that it creates or conflicts.)
 */
export async function finishCreate(engine: Engine, call: Call, draft: Draft): Promise<Representation> {
  const { kind } = call;
  dropDuplicateOwners(draft, true, (text) => call.warn(text));
  const metadata = metadataOf(draft);
  fillSystemFields(metadata, engine.clock.now(), engine.random);
  nameDraft(engine, call, metadata);
  matchNamespace(metadata, storageNamespace(call));
  validateNew(engine, call, draft);
  const name = metadataText(draft, "name");
  const admission = { operation: "CREATE", name, object: draft, oldObject: undefined } as const;
  const pending = validateAdmission(engine, call, admission);
  if (pending !== undefined) await pending;
  const converted = toStorage(draft, kind, call.family.storage);
  const object = converted instanceof Promise ? await converted : converted;
  const stored = storeNew(engine, call, { draft, object, name });
  return stored === undefined ? represented(draft) : await represent(stored, kind);
}

function nameDraft(engine: Engine, call: Call, metadata: Draft): void {
  const prefix = metadataText({ metadata }, "generateName");
  if (prefix === "" || metadataText({ metadata }, "name") !== "") return;
  const namespace = storageNamespace(call);
  for (let attempt = 0; attempt < nameAttempts; attempt++) {
    const name = generatedName(prefix, engine.random);
    metadata["name"] = name;
    if (engine.storage.find(call.kind.collection, namespace, name) === undefined) return;
  }
}

function validateNew(engine: Engine, call: Call, draft: Draft): void {
  const { kind } = call;
  const context = writeContext(engine, call);
  kind.prepareForCreate(draft, context);
  const nameErrors = kindNameErrors(draft, kind);
  const generic = metadataErrors(draft, kind);
  const own = nameErrors.length === 0 ? generic : [
    ...nameErrors,
    // A kind's rules for names say all that the least of rules would.
    ...generic.filter(({ field }) => field !== "metadata.name" && field !== "metadata.generateName"),
  ];
  const errors = [...own, ...kind.validate(draft, context)];
  if (errors.length > 0) throw invalid(kindSubject(kind, metadataText(draft, "name")), errors);
  for (const text of kind.warnings(draft)) call.warn(text);
}

/** A new object on its last step. */
interface NewObject {
  readonly draft: Draft;
  /** The draft in the version that is stored. */
  readonly object: JsonObject;
  readonly name: string;
}

/** @returns undefined for a dry run */
function storeNew(engine: Engine, call: Call, { draft, object, name }: NewObject): StoredObject | undefined {
  const { kind } = call;
  const namespace = storageNamespace(call);
  const existing = engine.storage.find(kind.collection, namespace, name);
  if (existing === undefined && call.isDryRun) return undefined;
  const stored = existing === undefined
    ? withoutBooksIfTooLarge(object, (fitting) => engine.storage.create(kind.collection, namespace, name, fitting))
    : undefined;
  if (stored === undefined) throw taken(call, draft, name, existing);
  return stored;
}

/**
 * Stores the object; one that is too large is tried again without its managedFields, which may be what made it so.
 *
 * @throws Refusal 500 as the real server when etcd refuses it
 */
export function withoutBooksIfTooLarge<Result>(object: JsonObject, store: (object: JsonObject) => Result): Result {
  try {
    return store(object);
  } catch (error) {
    if (!(error instanceof ObjectTooLargeError)) throw error;
  }
  const { managedFields: _, ...metadata } = readMetadata(object);
  try {
    return store({ ...object, metadata });
  } catch (error) {
    if (error instanceof ObjectTooLargeError) throw new Refusal(500, "", "etcdserver: request is too large");
    throw error;
  }
}

function taken(call: Call, draft: Draft, name: string, existing: StoredObject | undefined): Refusal {
  const { kind } = call;
  const refusal = alreadyExists(subjectOf(kind, name));
  const { message = "", details = {} } = refusal.status;
  if (read(metadataOf(draft), "generateName") !== undefined) {
    const text = `${message}, the server was not able to generate a unique name for the object`;
    return new Refusal(409, "AlreadyExists", text, { ...details, retryAfterSeconds: 1 });
  }
  const isDeleting = existing !== undefined && metadataText(existing.object, "deletionTimestamp") !== "";
  return isDeleting ? new Refusal(409, "AlreadyExists", `object is being deleted: ${message}`, details) : refusal;
}
