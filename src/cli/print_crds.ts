/** How `install-crds` shows its results on stdout: as kubectl does. */
import { stringify } from "yaml";
import type { Session } from "./session.ts";

/** What became of one CustomResourceDefinition. */
export interface CrdResult {
  /** "unchecked": no server was asked. */
  readonly change: "created" | "configured" | "unchanged" | "unchecked";
  /** `customresourcedefinition.apiextensions.k8s.io/foos.example.dev` */
  readonly name: string;
  /** The definition, as the server returned it if one was asked. */
  readonly object: object;
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
  const objects = results.map((result) => result.object);
  switch (format) {
    case undefined:
      return;
    case "name":
      return results.forEach((result) => session.print(`${result.name}\n`));
    case "yaml":
      return session.print(objects.map((object) => yamlOf(object)).join("---\n"));
    case "json": {
      const [only] = objects;
      const whole = objects.length === 1 ? only : { apiVersion: "v1", kind: "List", items: objects };
      return session.print(`${JSON.stringify(whole, undefined, 4)}\n`);
    }
    default:
      format satisfies never;
  }
}

function yamlOf(object: object): string {
  return stringify(object, { lineWidth: 0, aliasDuplicateObjects: false, sortMapEntries: true });
}
