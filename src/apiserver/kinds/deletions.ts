/** How built-in kinds are deleted, as far as that is one table for all of them. */
import type { DeletionRules } from "../model/mod.ts";
import type { KindRules } from "./kind_rules.ts";

/** Collections whose last DELETE answers the object, since clients of long ago relied on it (ReturnDeletedObject). */
const answersObject: ReadonlySet<string> = new Set([
  "csidrivers.storage.k8s.io",
  "csinodes.storage.k8s.io",
  "deviceclasses.resource.k8s.io",
  "namespaces",
  "persistentvolumeclaims",
  "persistentvolumes",
  "pods",
  "podtemplates",
  "resourceclaims.resource.k8s.io",
  "resourceclaimtemplates.resource.k8s.io",
  "resourcequotas",
  "resourceslices.resource.k8s.io",
  "serviceaccounts",
  "services",
  "storageclasses.storage.k8s.io",
  "volumeattachments.storage.k8s.io",
  "volumeattributesclasses.storage.k8s.io",
]);

/** The rules of deletion of a collection. */
export function deletionOf(collection: string, { deletion = {} }: KindRules): DeletionRules {
  return answersObject.has(collection) ? { ...deletion, answersObject: true } : deletion;
}
