/** Prints a CRD as a YAML file: keys in alphabetical order, the same bytes for the same CRD. */
import { printYaml } from "../yaml/mod.ts";
import type { Crd } from "./crd.ts";

/**
 * Prints a CRD as one YAML document, as `kubectl apply -f` takes it. The same CRD gives the same bytes, so that the text
 * can be compared with a golden file.
 *
 * @param crd The CRD, e.g. that of `defineResource()`.
 *
 * @example
 * ```ts
 * import { defineResource, z } from "@pintle/controller";
 * import { printCrd } from "@pintle/controller/schema";
 *
 * const Site = defineResource({
 *   group: "example.dev",
 *   version: "v1",
 *   kind: "Site",
 *   scope: "Namespaced",
 *   spec: z.object({ host: z.string() }),
 * });
 * console.assert(printCrd(Site.crd).startsWith("---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition"));
 * ```
 */
export function printCrd(crd: Crd): string {
  return `---\n${printYaml(crd)}`;
}
