/** What a write of a part of an object leaves as it was. */
import { type Draft, draftOf, type JsonObject, read } from "../model/mod.ts";
import { draftAt, metadataOf, setOrDelete } from "./fields.ts";

/** The parts of the metadata that a write of a status leaves alone, where the kind says so. */
const keptMetadata = [
  "deletionTimestamp",
  "generation",
  "selfLink",
  "labels",
  "annotations",
  "finalizers",
  "ownerReferences",
];

/** Puts what the old object has into the draft. */
export function keepField(draft: Draft, old: JsonObject, name: string): void {
  const value = read(old, name);
  setOrDelete(draft, name, value === undefined ? undefined : draftOf(value));
}

/** Puts back the metadata that people write. */
export function keepMetadata(draft: Draft, old: JsonObject, names: readonly string[] = keptMetadata): void {
  const [metadata, before] = [draftAt(draft, "metadata"), metadataOf(old)];
  for (const name of names) keepField(metadata, before, name);
}
