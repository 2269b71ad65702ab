/**
 * Kubernetes objects as YAML for files, the same bytes for the same object, keys in alphabetical order.
 *
 * kubectl and the API server read YAML 1.1, where `y`, `on` and `no` are booleans and a property named `y` is lost
 * unless it is quoted; whatever 1.1 could take for something else is quoted here.
 */
import { Document, visit } from "yaml";
import type { Crd } from "./crd.ts";

/** `object` as one YAML document, without a `---` before it. */
export function printYaml(object: unknown): string {
  const document = new Document(object, { aliasDuplicateObjects: false, sortMapEntries: true });
  visit(document, {
    Scalar(_key, scalar) {
      if (typeof scalar.value === "string" && isOddIn11(scalar.value)) scalar.type = "QUOTE_DOUBLE";
    },
  });
  return document.toString({ lineWidth: 0 });
}

/** The YAML of a CRD, one document of a stream: what `kubectl apply -f` takes. */
export function printCrd(crd: Crd): string {
  return `---\n${printYaml(crd)}`;
}

/** Words, numbers, dates and keys that mean something in YAML 1.1 and nothing in 1.2, which the library writes. */
function isOddIn11(text: string): boolean {
  return /^(y|n|yes|no|on|off|<<|=)$/i.test(text) || /^[-+]?\.?[0-9]/.test(text);
}
