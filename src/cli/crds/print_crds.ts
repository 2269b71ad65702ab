/** How `install-crds` shows its results on stdout: as kubectl does. */
import { escaped } from "../../observe/mod.ts";
import type { CrdChange } from "../../schema/mod.ts";
import { printObjectList } from "../print_objects.ts";
import type { Session } from "../session.ts";

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
