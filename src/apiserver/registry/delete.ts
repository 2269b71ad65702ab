/**
 * The verb delete: immediately, after a grace period, or when the last finalizer is removed. The rules are those of
 * apiserver `registry/store.go` and `rest/delete.go`. The garbage collector (src/cluster) handles the finalizers `orphan` and
 * `foregroundDeletion`, which this file sets.
 */
import { conflict, draftOf, isSameJson, type Json, type JsonObject, type Kind, notFound, read } from "../model/mod.ts";
import type { StoredObject } from "../storage/mod.ts";
import { admit, validateAdmission } from "./admission_chain.ts";
import { type Call, type RegistryParts, represented, storageNamespace, subjectOf, type WriteResponse } from "./call.ts";
import { metadataText, metadataTexts, readMetadata, timestamp } from "./metadata.ts";
import { represent, toStorage } from "./represent.ts";
import { modifiedText } from "./update.ts";

/** The options of a deletion, which the caller has validated. */
export interface DeleteOptions {
  /** Seconds. */
  readonly gracePeriodSeconds?: number;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly propagationPolicy?: "Orphan" | "Background" | "Foreground";
  /** The deprecated form of propagationPolicy. */
  readonly orphanDependents?: boolean;
}

const orphan = "orphan";
const foreground = "foregroundDeletion";
const maxAttempts = 100;

/** What a deletion does to the live state. */
type Step =
  /** Nothing: it is already being deleted. */
  | { readonly kind: "pending" }
  | { readonly kind: "now" }
  /** It gets a deletionTimestamp, and stays until its finalizers are removed or its grace period ends. */
  | { readonly kind: "mark"; readonly object: JsonObject }
  /** It gets a deletionTimestamp with a grace period of 0, and is deleted. */
  | { readonly kind: "markAndDelete"; readonly object: JsonObject };

/** Deletes the object. @throws StatusError */
export async function deleteObject(
  parts: RegistryParts,
  call: Call,
  name: string,
  options: DeleteOptions,
): Promise<WriteResponse> {
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    call.signal.throwIfAborted();
    const response = await tryDelete(parts, call, name, options);
    if (response !== undefined) return response;
  }
  throw conflict(subjectOf(call.kind, name), modifiedText);
}

/** @returns undefined when a concurrent write was first */
async function tryDelete(
  parts: RegistryParts,
  call: Call,
  name: string,
  options: DeleteOptions,
): Promise<WriteResponse | undefined> {
  const { kind, family } = call;
  const stored = parts.storage.find(kind.collection, storageNamespace(call), name);
  if (stored === undefined) throw notFound(subjectOf(kind, name));
  const old = (await represent(stored, kind)).object;
  checkPreconditions(kind, old, options);
  const step = nextStep(kind, old, options, parts.clock.now());
  if (step.kind !== "pending") await runAdmission(parts, call, name, old);
  switch (step.kind) {
    case "pending":
      return deletionResponse(kind, old);
    case "now":
      return await remove(parts, call, stored);
    case "mark":
    case "markAndDelete": {
      if (isSameJson(step.object, old)) return { code: pendingCode(options), result: represented(old) };
      if (call.isDryRun) return { code: pendingCode(options), result: represented(step.object) };
      const object = await toStorage(step.object, kind, family.storage);
      const markedForDeletion = parts.storage.update(kind.collection, stored, object);
      if (markedForDeletion === undefined) return undefined;
      if (step.kind === "markAndDelete") return await remove(parts, call, markedForDeletion);
      return { code: pendingCode(options), result: await represent(markedForDeletion, kind) };
    }
    default:
      return step satisfies never;
  }
}

async function runAdmission(parts: RegistryParts, call: Call, name: string, old: JsonObject): Promise<void> {
  const known = call.isPartOfCollection === true ? "" : name;
  const admission = { operation: "DELETE", name: known, object: undefined, oldObject: old } as const;
  await admit(parts, call, admission);
  await validateAdmission(parts, call, admission);
}

async function remove(parts: RegistryParts, call: Call, stored: StoredObject): Promise<WriteResponse | undefined> {
  const { kind } = call;
  const last = call.isDryRun ? stored : parts.storage.delete(kind.collection, stored);
  return last === undefined ? undefined : deletionResponse(kind, (await represent(last, kind)).object);
}

/** 202 only for a request with the deprecated `orphanDependents: false`. */
function pendingCode(options: DeleteOptions): 200 | 202 {
  return options.orphanDependents === false ? 202 : 200;
}

/** The response of a completed deletion: a Status, or the object for the kinds that return it. */
function deletionResponse(kind: Kind, object: JsonObject): WriteResponse {
  if (kind.deletion?.returnsObject === true) return { code: 200, result: represented(object) };
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
  const finalizers = desiredFinalizers(kind, object, options);
  const isHeld = finalizers.length > 0 || kind.deletion?.isHeld?.(object) === true;
  if (grace.kind === "none") {
    return isHeld ? { kind: "mark", object: marked(kind, object, finalizers, now) } : { kind: "now" };
  }
  const metadata = withFinalizers({ ...readMetadata(object), ...grace.metadata }, finalizers);
  const next = { ...object, metadata };
  return { kind: isHeld || grace.seconds > 0 ? "mark" : "markAndDelete", object: next };
}

/** The grace period of a deletion. */
type Grace =
  | { readonly kind: "none" }
  | { readonly kind: "pending" }
  | { readonly kind: "graceful"; readonly seconds: number; readonly metadata: JsonObject };

function graceOf(kind: Kind, object: JsonObject, options: DeleteOptions, now: number): Grace {
  const rules = kind.deletion;
  if (rules?.grace === undefined) return { kind: "none" };
  const requested = withoutNegativeSeconds(options.gracePeriodSeconds);
  const metadata = readMetadata(object);
  const deletionAt = read(metadata, "deletionTimestamp");
  if (typeof deletionAt === "string") return shortenedGrace(metadata, deletionAt, requested, now);
  const seconds = rules.grace(object, requested);
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

/** A negative grace period means one second, as in kube-apiserver. */
function withoutNegativeSeconds(seconds: number | undefined): number | undefined {
  return seconds !== undefined && seconds < 0 ? 1 : seconds;
}

/** A second deletion can only shorten the grace period. */
function shortenedGrace(metadata: JsonObject, deletionAt: string, requested: number | undefined, now: number): Grace {
  const present = read(metadata, "deletionGracePeriodSeconds");
  if (typeof present !== "number" || present === 0) return { kind: "none" };
  if (requested === undefined || requested >= present) return { kind: "pending" };
  const deadline = Date.parse(deletionAt) - present * 1000 + requested * 1000;
  // A deadline in the past becomes one second, unless the request wants no grace period.
  const seconds = deadline < now && requested !== 0 ? 1 : requested;
  return {
    kind: "graceful",
    seconds,
    metadata: { deletionTimestamp: timestamp(Math.max(deadline, now)), deletionGracePeriodSeconds: seconds },
  };
}

/** The object with a deletionTimestamp. */
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

/** The finalizers, with those of the garbage collector added or removed as the options and the kind require. */
function desiredFinalizers(kind: Kind, object: JsonObject, options: DeleteOptions): readonly string[] {
  const present = metadataTexts(object, "finalizers");
  const policy = kind.deletion?.propagation ?? "Background";
  const others = present.filter((finalizer) => finalizer !== orphan && finalizer !== foreground);
  const added = policy === "Unsupported" ? undefined : collectorFinalizer(present, policy, options);
  const next = added === undefined ? others : [...others, added];
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
