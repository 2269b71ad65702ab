/**
 * Duplicate owner references: kube-apiserver drops them since 1.20 and warns.
 */
import { type Draft, isSameJson, read } from "../model/mod.ts";
import { metadataOf } from "./metadata.ts";

/** Drops owner references that are there twice. @param warn told of the UIDs */
export function dropDuplicateOwners(draft: Draft, isAfterAdmission: boolean, warn: (text: string) => void): void {
  const metadata = metadataOf(draft);
  const references = read(metadata, "ownerReferences");
  if (!Array.isArray(references) || references.length < 2) return;
  const kept = references.filter((reference, index) =>
    references.findIndex((other) => isSameJson(other, reference)) === index
  );
  if (kept.length === references.length) return;
  const uids = references.filter((reference) => !kept.includes(reference)).map((reference) => uidOf(reference));
  metadata["ownerReferences"] = kept;
  const when = isAfterAdmission ? "duplicate entries after mutating admission happens" : "duplicate entries";
  warn(
    `.metadata.ownerReferences contains ${when}; API server dedups owner references in 1.20+, and may reject such ` +
      `requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${uids.join(", ")}`,
  );
}

function uidOf(reference: unknown): string {
  if (typeof reference !== "object" || reference === null || !("uid" in reference)) return "";
  return typeof reference.uid === "string" ? reference.uid : "";
}
