/**
 * Prints Kubernetes objects as YAML files: keys in alphabetical order, the same bytes for the same object.
 *
 * kubectl and the API server read YAML 1.1, where `y`, `on` and `no` are booleans and an unquoted property `y` is lost.
 * This file quotes every text that YAML 1.1 could read as another value.
 */
import { Document, visit } from "yaml";
import type { Crd } from "./crd.ts";

/** `object` as one YAML document, without a `---` before it. */
export function printYaml(object: unknown): string {
  const document = new Document(object, { aliasDuplicateObjects: false, sortMapEntries: true });
  visit(document, {
    Scalar(_key, scalar) {
      if (typeof scalar.value === "string" && isSpecialIn11(scalar.value)) scalar.type = "QUOTE_DOUBLE";
    },
  });
  return document.toString({ lineWidth: 0 });
}

/**
 * Prints a CRD as one YAML document, as `kubectl apply -f` takes it. The same CRD gives the same bytes, so that the text
 * can be compared with a golden file.
 *
 * @param crd The CRD, e.g. that of {@link defineResource}.
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

/** True for texts with a meaning in YAML 1.1 but not in YAML 1.2, which the library writes. */
function isSpecialIn11(text: string): boolean {
  return /^(y|n|yes|no|on|off|<<|=)$/i.test(text) || /^[-+]?\.?[0-9]/.test(text);
}
