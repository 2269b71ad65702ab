/**
 * applyCrd(): one CustomResourceDefinition by server-side apply, and what it changed.
 *
 * The definition of a kind belongs to the program that implements it. So it takes over fields that a person wrote with
 * kubectl, and says so; where another program owns them, and would write them again, it refuses unless told to.
 */
/* MERGED crds/print_crds.ts  How `install-crds` shows its results on stdout: as kubectl does. */
import type { Infer } from "../../api/mod.ts";
import { ApiError, isConflict, retryOnConflict } from "../../client/mod.ts";
import { type Crd, type CrdChange, crdChanges, CrdResource, type StoredCrd } from "../../schema/mod.ts";
import { commandFailure, type CrdContext, nameOf, withPermissionAdvice } from "./crd_context.ts";
import { escaped } from "../../observe/mod.ts";
import { printObjectList } from "../output/mod.ts";
import type { Session } from "../command/mod.ts";

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
  work: CrdContext,
): Promise<CrdResult> {
  const { clock, random } = work.session.processEnvironment;
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

async function applyOnce(crd: Crd, options: ApplyCrdOptions, work: CrdContext): Promise<Infer<typeof CrdResource>> {
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
  { connection, session, signal }: CrdContext,
): Promise<Infer<typeof CrdResource>> {
  const fieldManager = `${session.operator.name}-install-crds`;
  return await withPermissionAdvice(
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
  return commandFailure(
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

/** What became of one CustomResourceDefinition. */
export interface CrdResult {
  /** "unchecked": no server was asked. */
  readonly change: "created" | "configured" | "unchanged" | "unchecked";
  /** `customresourcedefinition.apiextensions.k8s.io/foos.example.dev` */
  readonly name: string;
  /** The definition, as the server returned it if one was asked. */
  readonly object: object;
  /** What is different now. */
  readonly changes: readonly CrdChange[];
}

/** How kubectl names a CRD in its output. */
export function crdName(crd: { readonly metadata: { readonly name?: string } }): string {
  return `customresourcedefinition.apiextensions.k8s.io/${crd.metadata.name ?? ""}`;
}

/** `customresourcedefinition.apiextensions.k8s.io/foos.example.dev created (server dry run)` */
export function resultLine(result: CrdResult, dryRun: "client" | "server" | undefined): string {
  const done = result.change === "unchecked" ? "applied" : result.change;
  const suffix = dryRun === undefined ? "" : dryRun === "client" ? " (dry run)" : " (server dry run)";
  return `${result.name} ${done}${suffix}\n`;
}

/** Prints the definitions themselves, or their names, where that was asked for. */
export function printObjects(
  results: readonly CrdResult[],
  format: "yaml" | "json" | "name" | undefined,
  session: Session,
): void {
  if (format === "name") return results.forEach((result) => session.print(`${result.name}\n`));
  if (format !== undefined) printObjectList(results.map(({ object }) => object), format, session);
}

/**
 * Prints what would change: the fields that go with `-`, those that come with `+`, under the name of the definition.
 * Nothing where nothing would.
 */
export function printChanges({ name, changes }: CrdResult, session: Session): void {
  if (changes.length === 0) return;
  const { paint } = session;
  session.print(`${paint(`--- ${name} (cluster)`, "strong")}\n${paint(`+++ ${name} (this program)`, "strong")}\n`);
  for (const change of changes) {
    if ("before" in change) session.print(`${paint(lineOf("-", change.path, change.before), "bad")}\n`);
    if ("after" in change) session.print(`${paint(lineOf("+", change.path, change.after), "good")}\n`);
  }
}

function lineOf(sign: "-" | "+", path: string, value: unknown): string {
  return escaped(`${sign} ${path}: ${JSON.stringify(value)}`);
}
