/**
 * migrateStorage(): rewrites the objects that are stored in an older version of their kind, and then removes that version
 * from the definition's status.storedVersions, so that it can be removed from the definition, too.
 *
 * Guarantees: it can be killed at any point and run again. An annotation of the definition, the mark, contains the
 * resourceVersion since which all writes use the new version, so that a second run skips what the first one rewrote.
 * storedVersions is changed last, and only while the definition has the generation that the objects were rewritten under.
 * The content of objects does not change. The order of steps is that of Kubernetes' storage version migrator (KEP-4192).
 */
import { compareResourceVersions, keyOf, type KubeObject, type ResourceVersion } from "../../api/mod.ts";
import { type ApiError, isConflict, isForbidden, isInvalid, isNotFound, retryOnConflict } from "../../client/mod.ts";
import { boundedParse, CrdResource, type StoredCrd } from "../../schema/mod.ts";
import {
  commandFailure,
  type CrdContext,
  definitionName,
  permissionError,
  readCrd,
  storageVersionOf,
  type StoredKind,
  storedKindOf,
  storedObjects,
  withPermissionAdvice,
} from "./crd_context.ts";
import { count } from "../output/mod.ts";
import { z } from "zod";

/**
 * The time until every API server of a highly available control plane uses a new storage version: 5 s, the delay of
 * kube-apiserver before it calls a definition established (customresource_handler.go).
 */
const handoverMs = 5_000;
/** Concurrent rewrites. */
const maxConcurrentRewrites = 8;
/** Objects that a message names. */
const maxNamed = 3;

/** Returns the versions, other than the storage version, that objects may still be stored in. */
export function staleVersionsOf(crd: StoredCrd): readonly string[] {
  const target = storageVersionOf(crd);
  return (crd.status?.storedVersions ?? []).filter((version) => version !== target);
}

/**
 * Rewrites the objects of a kind where that is necessary, and prints how many.
 *
 * @param name The name of the definition.
 * @throws CommandError when objects cannot be rewritten; its message names them
 */
export async function migrateStorage(name: string, context: CrdContext): Promise<void> {
  const crd = await readCrd(context, name);
  if (crd === undefined) throw commandFailure(`Cannot migrate ${name}: it was deleted`);
  const stale = staleVersionsOf(crd);
  if (stale.length === 0) return await clearMark(crd, context);
  const kind = storedKindOf(crd);
  if (kind === undefined) {
    const advice = "Serve one version, so that objects can be read and written";
    throw commandFailure(`Cannot migrate ${name}: the server serves no version of it`, advice);
  }
  const mark = readMark(crd) ?? await startMigration(crd, kind, context);
  const total = await rewriteAll(kind, mark, context);
  await pruneStoredVersions(crd, context);
  const target = storageVersionOf(crd);
  context.session.info(`${name}: ${count(total, "object")} rewritten, all objects are stored in ${target} now`);
}

/** Waits until all writes use the new version, and marks the definition with the resourceVersion of that moment. */
async function startMigration(crd: StoredCrd, kind: StoredKind, context: CrdContext): Promise<MigrationMark> {
  const { connection, session, signal } = context;
  using progress = session.progress();
  progress.report(`waiting until every API server stores ${definitionName(crd)} in ${storageVersionOf(crd)}`);
  await session.processEnvironment.clock.sleep(handoverMs, signal);
  const page = await withPermissionAdvice(
    { resource: kind, verbs: ["get", "list", "patch"] },
    () => connection.client.list(kind, { metadataOnly: true, limit: 1, signal }),
  );
  return await writeMark(crd, page.resourceVersion, context);
}

async function rewriteAll(kind: StoredKind, mark: MigrationMark, context: CrdContext): Promise<number> {
  const rejected: string[] = [];
  let [seen, rewritten] = [0, 0];
  using progress = context.session.progress();
  for await (const page of storedObjects(context, kind, { metadataOnly: true })) {
    const old = page.filter((object) => isOlder(object, mark));
    await each(old, async (object) => {
      const problem = await rewrite(kind, object, context);
      if (problem === undefined) rewritten++;
      else rejected.push(`${keyOf(object)}: ${problem}`);
    });
    seen += page.length;
    progress.report(`rewriting ${kind.plural}.${kind.group}: ${count(seen, "object")} done`);
  }
  if (rejected.length === 0) return rewritten;
  const more = rejected.length > maxNamed ? `; and ${rejected.length - maxNamed} more` : "";
  throw commandFailure(
    `Cannot migrate ${kind.plural}.${kind.group}: the server rejects ${count(rejected.length, "object")}: ` +
      rejected.slice(0, maxNamed).join("; ") + more,
    "Correct them, then run the command again: it continues where it stopped",
  );
}

/** An object whose resourceVersion cannot be compared counts as older: an extra rewrite changes nothing. */
function isOlder({ metadata: { resourceVersion } }: KubeObject, { since }: MigrationMark): boolean {
  return (compareResourceVersions(resourceVersion ?? "", since) ?? 0) <= 0;
}

/**
 * Sends an empty patch: the server stores the unchanged object in the new version. The patch names the resourceVersion,
 * because a later state of the object is already stored in the new version.
 *
 * @returns Why the server rejects the object; undefined when it does not.
 */
async function rewrite(kind: StoredKind, object: KubeObject, context: CrdContext): Promise<string | undefined> {
  const { connection, signal } = context;
  const { uid, resourceVersion } = object.metadata;
  try {
    const value = { metadata: { uid, resourceVersion } };
    await connection.client.patch(kind, keyOf(object), { kind: "merge", value }, { signal });
    return undefined;
  } catch (error) {
    if (isConflict(error) || isNotFound(error)) return undefined;
    if (isInvalid(error) || isDeniedByWebhook(error)) return error.status.message ?? error.message;
    throw isForbidden(error) ? permissionError({ resource: kind, verbs: ["get", "list", "patch"] }, error) : error;
  }
}

/** A webhook chooses the code and the reason of its denial; only the message differs from a denial of the server. */
function isDeniedByWebhook(error: unknown): error is ApiError {
  return (isForbidden(error) || isInvalid(error)) && (error.status.message ?? "").startsWith("admission webhook ");
}

/** Calls `act` for each item, several at a time. */
async function each<T>(items: readonly T[], act: (item: T) => Promise<void>): Promise<void> {
  const left = items.values();
  const worker = async () => {
    for (const item of left) await act(item);
  };
  await Promise.all(Array.from({ length: maxConcurrentRewrites }, worker));
}

/** Makes the storage version the only stored version, unless the definition changed in the meantime. */
async function pruneStoredVersions(migrated: StoredCrd, context: CrdContext): Promise<void> {
  const { connection, session, signal } = context;
  const { name = "", generation } = migrated.metadata;
  const { clock, random } = session.processEnvironment;
  await retryOnConflict(async () => {
    const crd = await readCrd(context, name);
    if (crd === undefined || crd.metadata.generation !== generation) {
      throw commandFailure(`Cannot migrate ${name}: the definition changed in the meantime`, "Run the command again");
    }
    const value = {
      metadata: { resourceVersion: crd.metadata.resourceVersion },
      status: { storedVersions: [storageVersionOf(crd)] },
    };
    const rule = { resource: CrdResource, verbs: ["get", "patch"], subresource: "status" };
    const pruned = await withPermissionAdvice(
      rule,
      () => connection.client.patch(CrdResource, name, { kind: "merge", value }, { subresource: "status", signal }),
    );
    await clearMark(pruned, context);
  }, { clock, random, signal });
}

/** The annotation with the mark. */
export const migrationAnnotation = "pintle.dev/storage-migration";

const markText = z.object({ to: z.string(), generation: z.number(), since: z.string() });

/**
 * The mark of an unfinished migration: the version that objects are rewritten in, and the resourceVersion since which all
 * writes use it. It is valid for one generation only: a later change of the spec may change the storage version again.
 */
type MigrationMark = Readonly<z.infer<typeof markText>>;

/** Returns the mark; undefined when it was made under another generation or for another version. */
function readMark(crd: StoredCrd): MigrationMark | undefined {
  const text = crd.metadata.annotations?.[migrationAnnotation];
  if (text === undefined) return undefined;
  const parsed = boundedParse(markText, parseJson(text));
  if (parsed.kind === "invalid") return undefined;
  const { to, generation } = parsed.value;
  return to === storageVersionOf(crd) && generation === crd.metadata.generation ? parsed.value : undefined;
}

/** Adds the mark. @param since Objects with a later resourceVersion are stored in the new version */
async function writeMark(crd: StoredCrd, since: ResourceVersion, context: CrdContext): Promise<MigrationMark> {
  const mark = { to: storageVersionOf(crd), generation: crd.metadata.generation ?? 0, since };
  await annotate(crd, JSON.stringify(mark), context);
  return mark;
}

/** Removes the mark, if there is one. */
async function clearMark(crd: StoredCrd, context: CrdContext): Promise<void> {
  if (crd.metadata.annotations?.[migrationAnnotation] !== undefined) await annotate(crd, null, context);
}

async function annotate(crd: StoredCrd, text: string | null, { connection, signal }: CrdContext): Promise<void> {
  const value = { metadata: { annotations: { [migrationAnnotation]: text } } };
  const key = crd.metadata.name ?? "";
  await withPermissionAdvice(
    { resource: CrdResource, verbs: ["get", "create", "patch"] },
    () => connection.client.patch(CrdResource, key, { kind: "merge", value }, { signal }),
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
