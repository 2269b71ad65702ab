/**
 * applyCrd(): one CustomResourceDefinition by server-side apply, and what it changed.
 *
 * The definition of a kind belongs to the program that implements it. So it takes over fields that a person wrote with
 * kubectl, and says so; where another program owns them, and would write them again, it refuses unless told to.
 */
import type { Infer } from "../../api/mod.ts";
import { ApiError, isConflict, retryOnConflict } from "../../client/mod.ts";
import { type Crd, crdChanges, CrdResource, type StoredCrd } from "../../schema/mod.ts";
import { asking, type CrdWork, failedCommand, nameOf } from "./crd_work.ts";
import { crdName, type CrdResult } from "./print_crds.ts";

/** Options of {@link applyCrd}. */
export interface ApplyCrdOptions {
  /** Has the server check everything and store nothing. */
  readonly isDryRun: boolean;
  /** Takes fields over from whoever owns them. */
  readonly forceConflicts: boolean;
  /** What it shall say in the end, where that is less than what is applied now. @default what is applied */
  readonly wanted?: Crd;
}

/** Field managers of a person at a terminal: kubectl, kubectl-client-side-apply, kubectl-edit and others. */
const personal = /^kubectl(-|$)/;

/**
 * Applies a definition.
 *
 * @param live What the cluster has; undefined for nothing.
 * @throws CommandError when that is forbidden, or another program owns fields; ApiError when the server refuses it
 */
export async function applyCrd(
  live: StoredCrd | undefined,
  crd: Crd,
  options: ApplyCrdOptions,
  work: CrdWork,
): Promise<CrdResult> {
  const { clock, random } = work.session.surroundings;
  const { signal } = work;
  const after = await retryOnConflict(() => applyOnce(crd, options, work), { clock, random, signal });
  const { wanted = crd } = options;
  const changes = crdChanges(live, { ...after, spec: { ...after.spec, versions: versionsOf(after, wanted) } });
  const change = live === undefined ? "created" : changes.length === 0 ? "unchanged" : "configured";
  return { change, name: crdName(crd), object: withoutManagedFields(after), changes };
}

/** The versions as the server returned them, without those that go later. */
function versionsOf(after: StoredCrd, wanted: Crd): StoredCrd["spec"]["versions"] {
  const kept = new Set(wanted.spec.versions.map(({ name }) => name));
  return after.spec.versions.filter(({ name }) => kept.has(name));
}

async function applyOnce(crd: Crd, options: ApplyCrdOptions, work: CrdWork): Promise<Infer<typeof CrdResource>> {
  try {
    return await send(crd, options.forceConflicts, options, work);
  } catch (error) {
    const conflicts = conflictsOf(error);
    if (conflicts.length === 0) throw error;
    const foreign = conflicts.filter(({ manager }) => !personal.test(manager));
    if (foreign.length > 0) throw ownedByOthers(crd, foreign, error);
    work.session.say(`${nameOf(crd)}: ${options.isDryRun ? "would take" : "taking"} over ${listOf(conflicts)}`);
    return await send(crd, true, options, work);
  }
}

async function send(
  crd: Crd,
  force: boolean,
  { isDryRun: dryRun }: ApplyCrdOptions,
  { connection, session, signal }: CrdWork,
): Promise<Infer<typeof CrdResource>> {
  const fieldManager = `${session.operator.name}-install-crds`;
  return await asking(
    { resource: CrdResource, verbs: ["get", "create", "patch"] },
    () => connection.client.apply(CrdResource, crd, { fieldManager, force, dryRun, signal }),
  );
}

/** A field that somebody else owns with another value. */
interface Conflict {
  readonly manager: string;
  /** `.spec.versions`. */
  readonly field: string;
}

/** Whose fields are in the way; none when the conflict is about the whole object, which time heals. */
function conflictsOf(error: unknown): readonly Conflict[] {
  if (!(error instanceof ApiError) || !isConflict(error)) return [];
  const causes = error.status.details?.causes ?? [];
  return causes.filter(({ reason }) => reason === "FieldManagerConflict").map(({ message = "", field = "" }) => ({
    manager: /^conflict with "([^"]*)"/.exec(message)?.[1] ?? message,
    field,
  }));
}

function ownedByOthers(crd: Crd, conflicts: readonly Conflict[], cause: unknown): Error {
  return failedCommand(
    `Cannot install ${nameOf(crd)}: another program writes ${listOf(conflicts)}`,
    "Let that program install what install-crds --dry-run=client -o yaml prints, or take the fields with --force-conflicts",
    cause,
  );
}

/** `.spec.versions of kubectl-edit, .spec.names of argocd`. */
function listOf(conflicts: readonly Conflict[]): string {
  const managers = Map.groupBy(conflicts, ({ manager }) => manager);
  return [...managers].map(([manager, fields]) => `${fields.map(({ field }) => field).join(", ")} of ${manager}`)
    .join(" and ");
}

function withoutManagedFields(object: Infer<typeof CrdResource>): object {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}
