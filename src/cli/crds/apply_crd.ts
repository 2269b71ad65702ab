/**
 * applyCrd(): applies one CustomResourceDefinition by server-side apply; and how its result is printed, as kubectl does.
 *
 * A definition belongs to the program that implements the kind. Fields that a user wrote with kubectl are therefore taken
 * over, with a message. Fields of another program are not: that program would write them again. --force-conflicts takes
 * these, too.
 */
import { type Infer, printExactJson } from "../../api/mod.ts";
import { ApiError, isConflict, retryOnConflict } from "../../client/mod.ts";
import { type Crd, type CrdChange, crdChanges, CrdResource, type StoredCrd } from "../../schema/mod.ts";
import { commandFailure, type CrdContext, definitionName, withPermissionAdvice } from "./crd_context.ts";
import { formatObjects } from "../output/mod.ts";
import type { Session } from "../command/mod.ts";

/** Options of {@link applyCrd}. */
export interface ApplyCrdOptions {
  /** The server checks everything and stores nothing. */
  readonly isDryRun: boolean;
  /** Takes over fields of every other manager. */
  readonly forceConflicts: boolean;
  /** The final definition, where the applied one has more versions. @default the applied definition */
  readonly desired?: Crd;
}

/** Field managers of kubectl: kubectl, kubectl-client-side-apply, kubectl-edit and others. */
const kubectlManager = /^kubectl(-|$)/;

/**
 * Applies a definition.
 *
 * @param live The live definition; undefined when there is none.
 * @throws CommandError when it is forbidden, or another program owns fields; ApiError when the server rejects it
 */
export async function applyCrd(
  live: StoredCrd | undefined,
  crd: Crd,
  options: ApplyCrdOptions,
  context: CrdContext,
): Promise<CrdResult> {
  const { clock, random } = context.session.processEnvironment;
  const { signal } = context;
  const after = await retryOnConflict(() => applyOnce(crd, options, context), { clock, random, signal });
  const { desired = crd } = options;
  const changes = crdChanges(live, { ...after, spec: { ...after.spec, versions: versionsOf(after, desired) } });
  const change = live === undefined ? "created" : changes.length === 0 ? "unchanged" : "configured";
  return { change, name: crdName(crd), object: withoutManagedFields(after), changes };
}

/** The versions that the server returned, without those that are removed later. */
function versionsOf(after: StoredCrd, desired: Crd): StoredCrd["spec"]["versions"] {
  const kept = new Set(desired.spec.versions.map(({ name }) => name));
  return after.spec.versions.filter(({ name }) => kept.has(name));
}

async function applyOnce(crd: Crd, options: ApplyCrdOptions, context: CrdContext): Promise<Infer<typeof CrdResource>> {
  try {
    return await send(crd, options.forceConflicts, options, context);
  } catch (error) {
    const conflicts = conflictsOf(error);
    if (conflicts.length === 0) throw error;
    const foreign = conflicts.filter(({ manager }) => !kubectlManager.test(manager));
    if (foreign.length > 0) throw foreignFieldsError(crd, foreign, error);
    context.session.info(
      `${definitionName(crd)}: ${options.isDryRun ? "would take" : "taking"} over ${conflictsText(conflicts)}`,
    );
    return await send(crd, true, options, context);
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

/** A field that another manager owns with another value. */
interface Conflict {
  readonly manager: string;
  /** `.spec.versions`. */
  readonly field: string;
}

/** Returns the conflicting fields; none when the whole object conflicts, which a retry resolves. */
function conflictsOf(error: unknown): readonly Conflict[] {
  if (!(error instanceof ApiError) || !isConflict(error)) return [];
  const causes = error.status.details?.causes ?? [];
  return causes.filter(({ reason }) => reason === "FieldManagerConflict").map(({ message = "", field = "" }) => ({
    manager: /^conflict with "([^"]*)"/.exec(message)?.[1] ?? message,
    field,
  }));
}

function foreignFieldsError(crd: Crd, conflicts: readonly Conflict[], cause: unknown): Error {
  return commandFailure(
    `Cannot install ${definitionName(crd)}: another program writes ${conflictsText(conflicts)}`,
    "Let that program install the output of install-crds --dry-run=client -o yaml, or use --force-conflicts",
    cause,
  );
}

/** `.spec.versions of kubectl-edit, .spec.names of argocd`. */
function conflictsText(conflicts: readonly Conflict[]): string {
  const managers = Map.groupBy(conflicts, ({ manager }) => manager);
  return [...managers].map(([manager, fields]) => `${fields.map(({ field }) => field).join(", ")} of ${manager}`)
    .join(" and ");
}

function withoutManagedFields(object: Infer<typeof CrdResource>): object {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

/** The result for one CustomResourceDefinition. */
export interface CrdResult {
  /** "unchecked": without a request to the server. */
  readonly change: "created" | "configured" | "unchanged" | "unchecked";
  /** `customresourcedefinition.apiextensions.k8s.io/foos.example.dev` */
  readonly name: string;
  /** The definition that the server returned; without a request, the one of this program. */
  readonly object: object;
  /** The fields that changed. */
  readonly changes: readonly CrdChange[];
}

/** The name of a definition in the output of kubectl. */
export function crdName(crd: { readonly metadata: { readonly name?: string } }): string {
  return `customresourcedefinition.apiextensions.k8s.io/${crd.metadata.name ?? ""}`;
}

/** `customresourcedefinition.apiextensions.k8s.io/foos.example.dev created (server dry run)` */
export function resultLine(result: CrdResult, dryRun: "client" | "server" | undefined): string {
  const done = result.change === "unchecked" ? "applied" : result.change;
  const suffix = dryRun === undefined ? "" : dryRun === "client" ? " (dry run)" : " (server dry run)";
  return `${result.name} ${done}${suffix}`;
}

/** Prints the definitions or their names, for --output. */
export function printObjects(
  results: readonly CrdResult[],
  format: "yaml" | "json" | "name" | undefined,
  session: Session,
): void {
  if (format === "name") return results.forEach((result) => session.print(result.name));
  if (format !== undefined) session.printDocument(formatObjects(results.map(({ object }) => object), format));
}

/** Prints the fields that would change, under the name of the definition: `-` before, `+` after. */
export function printChanges({ name, changes }: CrdResult, session: Session): void {
  if (changes.length === 0) return;
  const headers = [`--- ${name} (cluster)`, `+++ ${name} (this program)`];
  session.print(...headers.map((text) => ({ text, tone: "strong" } as const)));
  for (const change of changes) {
    if ("before" in change) session.print({ text: lineOf("-", change.path, change.before), tone: "error" });
    if ("after" in change) session.print({ text: lineOf("+", change.path, change.after), tone: "success" });
  }
}

function lineOf(sign: "-" | "+", path: string, value: unknown): string {
  return `${sign} ${path}: ${printExactJson(value)}`;
}
