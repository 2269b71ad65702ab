/**
 * migrateStorage(): rewrites objects that are stored in an older version of their kind, then takes that version off the
 * definition's status.storedVersions, so that it can be removed.
 *
 * Guarantees: can be killed at any point and run again. A mark on the definition says from which resourceVersion on
 * everything was written in the new version, so that a second run passes over what the first one did; storedVersions
 * is changed last, and only while the definition is the one the objects were rewritten under. No object is changed.
 * The same order as that of Kubernetes' own storage version migrator (KEP-4192).
 */
/* MERGED crds/migration_mark.ts
 * The mark of a storage migration that is under way, as an annotation of the definition: which version objects are
 * rewritten in, and from which resourceVersion on they were written in it anyway.
 *
 * It counts only for the generation it was made under: whatever changes the definition's spec, the storage version
 * among it, makes it worthless, and the migration begins anew.
 */
import { compareResourceVersions, keyOf, type KubeObject, type ResourceVersion } from "../../api/mod.ts";
import { type ApiError, isConflict, isForbidden, isInvalid, isNotFound, retryOnConflict } from "../../client/mod.ts";
import { CrdResource, type StoredCrd } from "../../schema/mod.ts";
import {
  commandFailure,
  type CrdContext,
  nameOf,
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
 * Until every API server of a highly available control plane has taken notice of a new storage version: what
 * kube-apiserver itself allows for that before it calls a definition established (customresource_handler.go).
 */
const handoverMs = 5_000;
/** Rewrites that are under way at the same time. */
const workers = 8;
/** How many objects a message names. */
const named = 3;

/** The versions, besides the one that is written in now, in which objects may still be stored. */
export function staleVersionsOf(crd: StoredCrd): readonly string[] {
  const target = storageVersionOf(crd);
  return (crd.status?.storedVersions ?? []).filter((version) => version !== target);
}

/**
 * Rewrites what has to be, and says so.
 *
 * @param name That of the definition.
 * @throws CommandError when objects cannot be rewritten; it names them
 */
export async function migrateStorage(name: string, work: CrdContext): Promise<void> {
  const crd = await readCrd(work, name);
  if (crd === undefined) throw commandFailure(`Cannot migrate ${name}: it is gone`);
  const stale = staleVersionsOf(crd);
  if (stale.length === 0) return await clearMark(crd, work);
  const kind = storedKindOf(crd);
  if (kind === undefined) {
    const advice = "Serve one of them, so that objects can be read and written";
    throw commandFailure(`Cannot migrate ${name}: the server serves no version of it`, advice);
  }
  const mark = readMark(crd) ?? await begin(crd, kind, work);
  const total = await rewriteAll(kind, mark, work);
  await prune(crd, work);
  const target = storageVersionOf(crd);
  work.session.say(`${name}: ${count(total, "object")} rewritten, all are stored in ${target} now`);
}

/** Finds out since when all writes are in the new version. */
async function begin(crd: StoredCrd, kind: StoredKind, work: CrdContext): Promise<MigrationMark> {
  const { connection, session, signal } = work;
  using progress = session.progress();
  progress.report(`waiting until every API server stores ${nameOf(crd)} in ${storageVersionOf(crd)}`);
  await session.processEnvironment.clock.sleep(handoverMs, signal);
  const page = await withPermissionAdvice(
    { resource: kind, verbs: ["get", "list", "patch"] },
    () => connection.client.list(kind, { metadataOnly: true, limit: 1, signal }),
  );
  return await writeMark(crd, page.resourceVersion, work);
}

async function rewriteAll(kind: StoredKind, mark: MigrationMark, work: CrdContext): Promise<number> {
  const refused: string[] = [];
  let [seen, rewritten] = [0, 0];
  using progress = work.session.progress();
  for await (const page of storedObjects(work, kind, { metadataOnly: true })) {
    const old = page.filter((object) => isOlder(object, mark));
    await each(old, async (object) => {
      const refusal = await rewrite(kind, object, work);
      if (refusal === undefined) rewritten++;
      else refused.push(`${keyOf(object)}: ${refusal}`);
    });
    seen += page.length;
    progress.report(`rewriting ${kind.plural}.${kind.group}: ${count(seen, "object")} done`);
  }
  if (refused.length === 0) return rewritten;
  const more = refused.length > named ? `; and ${refused.length - named} more` : "";
  throw commandFailure(
    `Cannot migrate ${kind.plural}.${kind.group}: the server refuses ${count(refused.length, "object")}: ` +
      refused.slice(0, named).join("; ") + more,
    "Put them right, then run this again: it goes on where it stopped",
  );
}

/** What cannot be put in order is rewritten once more, which changes nothing. */
function isOlder({ metadata: { resourceVersion } }: KubeObject, { since }: MigrationMark): boolean {
  return (compareResourceVersions(resourceVersion ?? "", since) ?? 0) <= 0;
}

/**
 * A patch of nothing: the server stores the object as it is, in the new version. It is for this very state of the
 * object, since any other was written in the new version already.
 *
 * @returns Why the server refuses the object; undefined when it is in order.
 */
async function rewrite(kind: StoredKind, object: KubeObject, work: CrdContext): Promise<string | undefined> {
  const { connection, signal } = work;
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

/** A webhook's no has the code and the reason the webhook gave it; only its words tell it from the server's own. */
function isDeniedByWebhook(error: unknown): error is ApiError {
  return (isForbidden(error) || isInvalid(error)) && (error.status.message ?? "").startsWith("admission webhook ");
}

/** Calls `act` for each, some at a time. */
async function each<T>(items: readonly T[], act: (item: T) => Promise<void>): Promise<void> {
  const left = items.values();
  const worker = async () => {
    for (const item of left) await act(item);
  };
  await Promise.all(Array.from({ length: workers }, worker));
}

/** The storage version is the only stored one from now on, unless the definition changed meanwhile. */
async function prune(migrated: StoredCrd, work: CrdContext): Promise<void> {
  const { connection, session, signal } = work;
  const { name = "", generation } = migrated.metadata;
  const { clock, random } = session.processEnvironment;
  await retryOnConflict(async () => {
    const crd = await readCrd(work, name);
    if (crd === undefined || crd.metadata.generation !== generation) {
      const advice = "Run this again";
      throw commandFailure(`Cannot migrate ${name}: somebody changed the definition meanwhile`, advice);
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
    await clearMark(pruned, work);
  }, { clock, random, signal });
}

/** The annotation. */
export const migrationAnnotation = "pintle.dev/storage-migration";

const markText = z.object({ to: z.string(), generation: z.number(), since: z.string() });

/** How far a migration is. */
type MigrationMark = Readonly<z.infer<typeof markText>>;

/** The mark of a migration that was begun under this very definition. */
function readMark(crd: StoredCrd): MigrationMark | undefined {
  const text = crd.metadata.annotations?.[migrationAnnotation];
  if (text === undefined) return undefined;
  const parsed = markText.safeParse(parseJson(text));
  if (!parsed.success) return undefined;
  const { to, generation } = parsed.data;
  return to === storageVersionOf(crd) && generation === crd.metadata.generation ? parsed.data : undefined;
}

/** Leaves a mark. @param since Everything after it is stored in the new version */
async function writeMark(crd: StoredCrd, since: ResourceVersion, work: CrdContext): Promise<MigrationMark> {
  const mark = { to: storageVersionOf(crd), generation: crd.metadata.generation ?? 0, since };
  await annotate(crd, JSON.stringify(mark), work);
  return mark;
}

/** Takes the mark away, if there is one. */
async function clearMark(crd: StoredCrd, work: CrdContext): Promise<void> {
  if (crd.metadata.annotations?.[migrationAnnotation] !== undefined) await annotate(crd, null, work);
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
