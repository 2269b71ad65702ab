/** Goes through all containers of the spec of a Pod. */
import type { JsonObject } from "../../model/mod.ts";
import { objectsAt } from "../fields.ts";
import type { FieldPath } from "../problems.ts";

/** All containers of a spec with their paths: those before, the others, those that joined. */
export function containersOf(
  spec: JsonObject,
  path: FieldPath,
): readonly { readonly container: JsonObject; readonly path: FieldPath }[] {
  return ["initContainers", "containers", "ephemeralContainers"].flatMap((key) =>
    objectsAt(spec, key).map((container, index) => ({ container, path: path.child(key).index(index) }))
  );
}
