/** Devices that containers ask for by the names their Pod gives them. */
import type { JsonObject } from "../../model/mod.ts";
import { objectsAt, textAt } from "../fields.ts";
import { labelErrors } from "../formats.ts";
import type { FieldPath, Problems } from "../problems.ts";

/** Checks `claims` of the resources of a container or of a Pod. @param spec the Pod's */
export function checkClaimNames(resources: JsonObject, spec: JsonObject, path: FieldPath, problems: Problems): void {
  const known = [...new Set(objectsAt(spec, "resourceClaims").map((claim) => textAt(claim, "name")))].filter((name) =>
    name !== ""
  ).sort();
  const tail = known.length === 0 ? " which is empty" : `: ${known.join(", ")}`;
  const seen = new Set<string>();
  objectsAt(resources, "claims").forEach((claim, index) => {
    const place = path.index(index);
    const [name, request] = [textAt(claim, "name"), textAt(claim, "request")];
    if (name === "") return problems.required(place);
    checkRepeated(name, request, seen, place, problems);
    if (!known.includes(name)) {
      problems.notFound(place, name, `must be one of the names in pod.spec.resourceClaims${tail}`);
    }
  });
}

function checkRepeated(name: string, request: string, seen: Set<string>, path: FieldPath, problems: Problems): void {
  if (seen.has(name)) return problems.duplicate(path, name);
  if (request !== "") problems.invalidAll(path.child("request"), request, labelErrors(request));
  const key = request === "" ? name : `${name}/${request}`;
  if (seen.has(key)) problems.duplicate(path, key);
  else if (request === "" && [...seen].some((one) => one.startsWith(`${name}/`))) problems.duplicate(path, name);
  seen.add(key);
}
