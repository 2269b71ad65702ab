/**
 * Reads kinds whose objects the server computes instead of storing them: ComponentStatus. They have no resourceVersion, so
 * options about versions and pages change nothing. No such kind can be written.
 */
import { isJsonObject, type JsonObject, read } from "../model/mod.ts";
import { type ComputedObjects, type Representation, represented } from "./call.ts";
import { metadataText, readMetadata } from "./metadata.ts";
import type { Selection } from "./selection.ts";

/** The object with a name. */
export function computedObject({ objects }: ComputedObjects, name: string): Representation | undefined {
  const found = objects().find((object) => metadataText(object, "name") === name);
  return found === undefined ? undefined : represented(found);
}

/** All selected objects. */
export function selectComputed(
  { objects }: ComputedObjects,
  { name, matches }: Selection,
): readonly Representation[] {
  return objects()
    .filter((object) => name === undefined || metadataText(object, "name") === name)
    .filter((object) => matches === undefined || matches({ object, labels: labelsOf(object) }))
    .map(represented);
}

function labelsOf(object: JsonObject): JsonObject {
  const labels = read(readMetadata(object), "labels");
  return isJsonObject(labels) ? labels : {};
}
