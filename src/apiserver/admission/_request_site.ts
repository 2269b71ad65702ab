/** What surrounds a request: the labels of its namespace and the other versions of its kind. */
import type { AdmissionRequest, Kind, ObjectReader } from "../model/mod.ts";
import { type HookSite, labelsOf } from "./_hook.ts";

/** Looks around. */
export function siteOf(
  { namespace, kind, object, oldObject }: AdmissionRequest,
  parts: { readonly objects: ObjectReader; readonly otherKinds: (kind: Kind) => readonly Kind[] },
): HookSite {
  const otherKinds = parts.otherKinds(kind);
  if (kind.collection === "namespaces") {
    const itself = object ?? oldObject;
    return { namespaceLabels: itself === undefined ? undefined : labelsOf(itself), otherKinds };
  }
  const holder = namespace === "" ? undefined : parts.objects.get("namespaces", "", namespace);
  return { namespaceLabels: holder === undefined ? undefined : labelsOf(holder), otherKinds };
}

/** True for what no webhook and no policy is asked about, so that a broken one can always be taken away. */
export function isBeyond({ group, plural }: Kind): boolean {
  if (group !== "admissionregistration.k8s.io") return false;
  return /(webhookconfigurations|admissionpolic(ies|ybindings))$/.test(plural);
}
