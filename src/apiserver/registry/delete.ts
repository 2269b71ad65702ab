/**
 * The verb delete: at once, after a grace, or when the last finalizer is gone. The rules are those of apiserver
 * `registry/store.go` and `rest/delete.go`; the finalizers `orphan` and `foregroundDeletion` are left for the garbage
 * collector.
 */
import { conflict, draftOf, isSameJson, type Json, type JsonObject, type Kind, notFound, read } from "../model/mod.ts";
import type { StoredObject } from "../storage/mod.ts";
import { admit, validateAdmission } from "./admission_chain.ts";
import { type Answer, type Call, represented } from "./call.ts";
import { type Engine, storageNamespace, subjectOf } from "./engine.ts";
import { metadataText, metadataTexts, readMetadata, timestamp } from "./metadata.ts";
import { represent, toStorage } from "./represent.ts";
import { modifiedText } from "./update.ts";

/** What a client asks of a deletion; validated before. */
export interface DeleteOptions {
  /** Seconds. */
  readonly gracePeriodSeconds?: number;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly propagationPolicy?: "Orphan" | "Background" | "Foreground";
  /** The deprecated way to say it. */
  readonly orphanDependents?: boolean;
}

const orphan = "orphan";
const foreground = "foregroundDeletion";
const mostAttempts = 100;

/** What a deletion does to the present state. */
type Step =
  /** It is on its way out already. */
  | { readonly kind: "pending" }
  | { readonly kind: "now" }
  /** It is marked, and stays until its holders let go or its grace is over. */
  | { readonly kind: "mark"; readonly object: JsonObject }
  /** It is marked with a grace of 0, and goes. */
  | { readonly kind: "markAndDelete"; readonly object: JsonObject };

/** Deletes the object. @throws Refusal */
export async function deleteObject(
  engine: Engine,
  call: Call,
  name: string,
  options: DeleteOptions,
): Promise<Answer> {
  for (let attempt = 0; attempt < mostAttempts; attempt++) {
    call.signal.throwIfAborted();
    const answer = await tryDelete(engine, call, name, options);
    if (answer !== undefined) return answer;
  }
  throw conflict(subjectOf(call.kind, name), modifiedText);
}

/** @returns undefined when somebody else was faster */
async function tryDelete(
  engine: Engine,
  call: Call,
  name: string,
  options: DeleteOptions,
): Promise<Answer | undefined> {
  const { kind, family } = call;
  const stored = engine.storage.find(kind.collection, storageNamespace(call), name);
  if (stored === undefined) throw notFound(subjectOf(kind, name));
  const old = (await represent(stored, kind)).object;
  checkPreconditions(kind, old, options);
  const step = nextStep(kind, old, options, engine.clock.now());
  if (step.kind !== "pending") await askAdmission(engine, call, name, old);
  switch (step.kind) {
    case "pending":
      return deleted(kind, old);
    case "now":
      return await remove(engine, call, stored);
    case "mark":
    case "markAndDelete": {
      if (isSameJson(step.object, old)) return { code: pendingCode(options), result: represented(old) };
      if (call.isDryRun) return { code: pendingCode(options), result: represented(step.object) };
      const object = await toStorage(step.object, kind, family.storage);
      const marked = engine.storage.update(kind.collection, stored, object);
      if (marked === undefined) return undefined;
      if (step.kind === "markAndDelete") return await remove(engine, call, marked);
      return { code: pendingCode(options), result: await represent(marked, kind) };
    }
    default:
      return step satisfies never;
  }
}

async function askAdmission(engine: Engine, call: Call, name: string, old: JsonObject): Promise<void> {
  const known = call.isOfMany === true ? "" : name;
  const admission = { operation: "DELETE", name: known, object: undefined, oldObject: old } as const;
  await admit(engine, call, admission);
  await validateAdmission(engine, call, admission);
}

async function remove(engine: Engine, call: Call, stored: StoredObject): Promise<Answer | undefined> {
  const { kind } = call;
  const last = call.isDryRun ? stored : engine.storage.delete(kind.collection, stored);
  return last === undefined ? undefined : deleted(kind, (await represent(last, kind)).object);
}

/** 202 only for those who still ask with `orphanDependents: false`. */
function pendingCode(options: DeleteOptions): 200 | 202 {
  return options.orphanDependents === false ? 202 : 200;
}

/** What a completed deletion answers: a Status, or the object for kinds that have always done so. */
function deleted(kind: Kind, object: JsonObject): Answer {
  if (kind.deletion?.answersObject === true) return { code: 200, result: represented(object) };
  const details = {
    name: metadataText(object, "name"),
    ...(kind.group === "" ? {} : { group: kind.group }),
    kind: kind.plural,
    uid: metadataText(object, "uid"),
  };
  return {
    code: 200,
    result: represented({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", details }),
  };
}

function checkPreconditions(kind: Kind, object: JsonObject, options: DeleteOptions): void {
  const subject = { group: kind.group, resource: kind.kind, name: metadataText(object, "name") };
  const uid = metadataText(object, "uid");
  if (options.uid !== undefined && options.uid !== uid) {
    throw conflict(
      subject,
      `the UID in the precondition (${options.uid}) does not match the UID in record (${uid}). ` +
        "The object might have been deleted and then recreated",
    );
  }
  const version = metadataText(object, "resourceVersion");
  if (options.resourceVersion !== undefined && options.resourceVersion !== version) {
    throw conflict(
      subject,
      `the ResourceVersion in the precondition (${options.resourceVersion}) does not match the ResourceVersion in ` +
        `record (${version}). The object might have been modified`,
    );
  }
}

function nextStep(kind: Kind, object: JsonObject, options: DeleteOptions, now: number): Step {
  const grace = graceOf(kind, object, options, now);
  if (grace.kind === "pending") return { kind: "pending" };
  const finalizers = finalizersAfter(kind, object, options);
  const isHeld = finalizers.length > 0 || kind.deletion?.isHeld?.(object) === true;
  if (grace.kind === "none") {
    return isHeld ? { kind: "mark", object: marked(kind, object, finalizers, now) } : { kind: "now" };
  }
  const metadata = withFinalizers({ ...readMetadata(object), ...grace.metadata }, finalizers);
  const next = { ...object, metadata };
  return { kind: isHeld || grace.seconds > 0 ? "mark" : "markAndDelete", object: next };
}

/** How graceful a deletion is. */
type Grace =
  | { readonly kind: "none" }
  | { readonly kind: "pending" }
  | { readonly kind: "graceful"; readonly seconds: number; readonly metadata: JsonObject };

function graceOf(kind: Kind, object: JsonObject, options: DeleteOptions, now: number): Grace {
  const rules = kind.deletion;
  if (rules?.grace === undefined) return { kind: "none" };
  const asked = atLeastSoon(options.gracePeriodSeconds);
  const metadata = readMetadata(object);
  const deletionAt = read(metadata, "deletionTimestamp");
  if (typeof deletionAt === "string") return shortenedGrace(metadata, deletionAt, asked, now);
  const seconds = rules.grace(object, asked);
  if (seconds === undefined) return { kind: "none" };
  return {
    kind: "graceful",
    seconds,
    metadata: {
      ...nextGeneration(metadata),
      deletionTimestamp: timestamp(now + seconds * 1000),
      deletionGracePeriodSeconds: seconds,
    },
  };
}

/** Negative means "soon" on the delete path, as in the real one. */
function atLeastSoon(seconds: number | undefined): number | undefined {
  return seconds !== undefined && seconds < 0 ? 1 : seconds;
}

/** An object that is being deleted can only be given less time. */
function shortenedGrace(metadata: JsonObject, deletionAt: string, asked: number | undefined, now: number): Grace {
  const present = read(metadata, "deletionGracePeriodSeconds");
  if (typeof present !== "number" || present === 0) return { kind: "none" };
  if (asked === undefined || asked >= present) return { kind: "pending" };
  const wanted = Date.parse(deletionAt) - present * 1000 + asked * 1000;
  // Time that is over already cannot be taken back, but what asked for grace gets some.
  const seconds = wanted < now && asked !== 0 ? 1 : asked;
  return {
    kind: "graceful",
    seconds,
    metadata: { deletionTimestamp: timestamp(Math.max(wanted, now)), deletionGracePeriodSeconds: seconds },
  };
}

/** The object with its time of deletion, if it has none yet. */
function marked(kind: Kind, object: JsonObject, finalizers: readonly string[], now: number): JsonObject {
  const metadata = readMetadata(object);
  const at = read(metadata, "deletionTimestamp");
  const isMarked = typeof at === "string" && Date.parse(at) <= now;
  const next = withFinalizers({
    ...metadata,
    ...(at === undefined ? nextGeneration(metadata) : {}),
    deletionTimestamp: isMarked ? at : timestamp(now),
    deletionGracePeriodSeconds: 0,
  }, finalizers);
  if (kind.deletion?.mark === undefined) return { ...object, metadata: next };
  const draft = draftOf({ ...object, metadata: next });
  kind.deletion.mark(draft);
  return draft;
}

function nextGeneration(metadata: JsonObject): JsonObject {
  const generation = read(metadata, "generation");
  return typeof generation === "number" && generation > 0 ? { generation: generation + 1 } : {};
}

function withFinalizers(metadata: JsonObject, finalizers: readonly string[]): JsonObject {
  if (finalizers.length > 0) return { ...metadata, finalizers };
  const { finalizers: _, ...rest } = metadata;
  return rest;
}

/** The finalizers with those of the garbage collector put in or taken out, as the client and the kind want it. */
function finalizersAfter(kind: Kind, object: JsonObject, options: DeleteOptions): readonly string[] {
  const present = metadataTexts(object, "finalizers");
  const policy = kind.deletion?.propagation ?? "Background";
  const others = present.filter((finalizer) => finalizer !== orphan && finalizer !== foreground);
  const wanted = policy === "Unsupported" ? undefined : collectorFinalizer(present, policy, options);
  const next = wanted === undefined ? others : [...others, wanted];
  return isSameSet(present, next) ? present : next;
}

function collectorFinalizer(
  present: readonly string[],
  policy: "Background" | "Orphan",
  options: DeleteOptions,
): string | undefined {
  if (options.orphanDependents !== undefined) return options.orphanDependents ? orphan : undefined;
  switch (options.propagationPolicy) {
    case "Orphan":
      return orphan;
    case "Foreground":
      return foreground;
    case "Background":
      return undefined;
    case undefined:
      return present.find((finalizer) => finalizer === orphan || finalizer === foreground) ??
        (policy === "Orphan" ? orphan : undefined);
    default:
      return options.propagationPolicy satisfies never;
  }
}

function isSameSet(left: readonly Json[], right: readonly Json[]): boolean {
  return left.length === right.length && left.every((item) => right.includes(item));
}
