/**
 * The verb update, and the half of patch that comes after the patch: from a draft of the new state to the stored one, with
 * optimistic locking. The order of steps is that of apiserver `handlers/update.go` and `registry/store.go`.
 *
 * Guarantees: whoever sends a resourceVersion never overwrites a newer state; an update that changes nothing writes
 * nothing; the last finalizer of an object that is being deleted takes the object with it.
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
  Refusal,
} from "../model/mod.ts";
import { unchangedButTimes } from "../patch/mod.ts";
import { parseResourceVersion, type StoredObject } from "../storage/mod.ts";
import { admit, validateAdmission } from "./admission_chain.ts";
import { type Answer, type Call, type Representation, represented } from "./call.ts";
import { finishCreate, withoutBooksIfTooLarge } from "./create.ts";
import { type Engine, kindSubject, storageNamespace, subjectOf, writeContext } from "./engine.ts";
import { setManagedFields } from "./fields.ts";
import { matchNamespace, metadataOf, metadataText, metadataTexts, readMetadata } from "./metadata.ts";
import { metadataErrors, metadataUpdateErrors } from "./metadata_rules.ts";
import { dropDuplicateOwners } from "./owners.ts";
import { represent, toStorage } from "./represent.ts";

/** What the new state shall be. */
export interface Change {
  readonly name: string;
  /** True where it may create what is not there: apply, and kinds that allow it. */
  readonly mayCreate: boolean;
  /** The UID the object must have; "" for any. */
  readonly uid: string;
  /**
   * Makes the new state from the present one (undefined: there is none), managedFields included. Called again when
   * somebody else was faster.
   */
  next(old: JsonObject | undefined): Draft | Promise<Draft>;
}

/** The words of optimistic locking; clients compare them. */
export const modifiedText =
  "the object has been modified; please apply your changes to the latest version and try again";

/** Races that are lost in a row before the client is told; the real server has no limit but its timeout. */
const mostAttempts = 100;

/** What came of one attempt. */
type Attempt = { readonly kind: "done"; readonly answer: Answer } | { readonly kind: "raced" };

/** Carries a change out. @throws Refusal */
export async function update(engine: Engine, call: Call, change: Change): Promise<Answer> {
  for (let count = 0; count < mostAttempts; count++) {
    call.signal.throwIfAborted();
    const attempt = await tryUpdate(engine, call, change);
    if (attempt.kind === "done") return attempt.answer;
  }
  throw conflict(subjectOf(call.kind, change.name), modifiedText);
}

async function tryUpdate(engine: Engine, call: Call, change: Change): Promise<Attempt> {
  const { kind } = call;
  const stored = engine.storage.find(kind.collection, storageNamespace(call), change.name);
  if (stored === undefined) return await createInstead(engine, call, change);
  const old = (await represent(stored, kind)).object;
  checkUid(call, change, old);
  const draft = await change.next(old);
  checkName(call, draft, change.name);
  const admitted = await admit(engine, call, { operation: "UPDATE", name: change.name, object: draft, oldObject: old });
  const next = admitted ?? draft;
  dropDuplicateOwners(next, true, (text) => call.warn(text));
  checkVersion(call, next, old);
  validateChange(engine, call, next, old);
  keepBooksIfOnlyTimeDiffers(next, old);
  metadataOf(next)["resourceVersion"] = metadataText(old, "resourceVersion");
  await validateAdmission(engine, call, { operation: "UPDATE", name: change.name, object: next, oldObject: old });
  return await storeChange(engine, call, { stored, old, next });
}

/** One state on its way to the next. */
interface Step {
  readonly stored: StoredObject;
  readonly old: JsonObject;
  readonly next: Draft;
}

async function storeChange(engine: Engine, call: Call, step: Step): Promise<Attempt> {
  const { kind, family } = call;
  const { stored, old, next } = step;
  if (isReleased(call, next, old)) {
    if (call.isDryRun) return done(represented(next));
    return engine.storage.delete(kind.collection, stored) === undefined ? { kind: "raced" } : done(represented(next));
  }
  if (isSameJson(next, old)) return done(await represent(stored, kind));
  const object = await toStorage(next, kind, family.storage);
  if (call.isDryRun) return done(represented(next));
  const updated = withoutBooksIfTooLarge(
    object,
    (fitting) => engine.storage.update(kind.collection, stored, fitting),
  );
  return updated === undefined ? { kind: "raced" } : done(await represent(updated, kind));
}

function done(result: Representation): Attempt {
  return { kind: "done", answer: { code: 200, result } };
}

async function createInstead(engine: Engine, call: Call, change: Change): Promise<Attempt> {
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
  // Only a POST is refused for it: here it says what an existing object would have to be at.
  delete metadataOf(draft)["resourceVersion"];
  const admitted = await admit(engine, call, {
    operation: "CREATE",
    name: change.name,
    object: draft,
    oldObject: undefined,
  });
  return { kind: "done", answer: { code: 201, result: await finishCreate(engine, call, admitted ?? draft) } };
}

/** The body must be about the object of the URL. */
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

function checkUid(call: Call, change: Change, old: JsonObject): void {
  const uid = metadataText(old, "uid");
  if (change.uid === "" || change.uid === uid) return;
  const key = registryKey(call, change.name);
  const why = `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ` +
    `Precondition failed: UID in precondition: ${change.uid}, UID in object meta: ${uid}`;
  throw conflict(subjectOf(call.kind, change.name), why);
}

/** The key under which a real server would have the object in etcd; it appears in messages. */
export function registryKey(call: Call, name: string): string {
  const { kind } = call;
  const resource = kind.hasStrategicMerge || kind.group === "" ? kind.plural : `${kind.group}/${kind.plural}`;
  const namespace = storageNamespace(call);
  return `/registry/${resource}/${namespace === "" ? name : `${namespace}/${name}`}`;
}

function checkVersion(call: Call, next: Draft, old: JsonObject): void {
  const { kind } = call;
  const name = metadataText(old, "name");
  const version = metadataText(next, "resourceVersion");
  const parsed = parseResourceVersion(version);
  if (parsed.kind === "malformed") {
    throw new Refusal(500, "", parsed.why);
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

function validateChange(engine: Engine, call: Call, next: Draft, old: JsonObject): void {
  const { kind } = call;
  const metadata = metadataOf(next);
  const before = readMetadata(old);
  copyOrDelete(metadata, before, "generation");
  const context = writeContext(engine, call);
  kind.prepareForUpdate(next, old, context);
  if (metadataText(next, "uid") === "") copyOrDelete(metadata, before, "uid");
  copyOrDelete(metadata, before, "creationTimestamp");
  if (read(before, "deletionTimestamp") !== undefined) copyOrDelete(metadata, before, "deletionTimestamp");
  if (read(metadata, "deletionGracePeriodSeconds") === undefined) {
    copyOrDelete(metadata, before, "deletionGracePeriodSeconds");
  }
  delete metadata["selfLink"];
  // Once for the server and once for the kind, as in the real one: clients see the causes twice.
  const changed = metadataUpdateErrors(next, old);
  const errors = [...metadataErrors(next, kind), ...changed, ...changed, ...kind.validateUpdate(next, old, context)];
  if (errors.length > 0) throw invalid(kindSubject(kind, metadataText(next, "name")), errors);
  for (const text of kind.warnings(next, old)) call.warn(text);
}

function copyOrDelete(metadata: Draft, before: JsonObject, field: string): void {
  const value = read(before, field);
  if (typeof value === "string" || typeof value === "number") metadata[field] = value;
  else delete metadata[field];
}

/** True when nothing holds an object any more that is being deleted. */
function isReleased(call: Call, next: Draft, old: JsonObject): boolean {
  const before = readMetadata(old);
  if (read(before, "deletionTimestamp") === undefined || metadataTexts(next, "finalizers").length > 0) return false;
  const grace = read(before, "deletionGracePeriodSeconds") ?? 0;
  return grace === 0 && call.kind.deletion?.isHeld?.(next) !== true;
}

/** Writing what one owns already is no change: only the times in the bookkeeping would differ. */
function keepBooksIfOnlyTimeDiffers(next: Draft, old: JsonObject): void {
  const metadata = metadataOf(next);
  const version = read(metadata, "resourceVersion");
  metadata["resourceVersion"] = metadataText(old, "resourceVersion");
  const books = unchangedButTimes(old, next);
  if (books !== undefined) setManagedFields(next, books);
  if (version === undefined) delete metadata["resourceVersion"];
}
