/** Resources that a Pod asks for as a whole, beside what its containers ask for. */
import type { JsonObject } from "../../model/mod.ts";
import { findObject, has, objectAt, objectsAt, textMapAt } from "../fields.ts";
import type { FieldPath, Problems } from "../problems.ts";
import { compareQuantities } from "../quantity.ts";
import { checkPodResourceName, checkResourceRequirements, isHugePages } from "../resources.ts";
import { aggregated } from "./aggregate.ts";
import { checkClaimNames } from "./resource_claims.ts";

/** Checks `spec.resources`. */
export function checkPodResources(spec: JsonObject, path: FieldPath, problems: Problems): void {
  const resources = findObject(spec, "resources");
  if (resources === undefined) return;
  if (has(resources, "claims")) {
    problems.forbidden(path.child("claims"), "claims may not be set for Resources at pod-level");
  }
  checkResourceRequirements(resources, path, problems, checkPodResourceName);
  checkClaimNames(resources, spec, path.child("claims"), problems);
  for (const key of ["requests", "limits"] as const) checkSum(spec, resources, key, path.child(key), problems);
  checkEach(spec, resources, path, problems);
}

function checkSum(
  spec: JsonObject,
  resources: JsonObject,
  key: "limits" | "requests",
  path: FieldPath,
  problems: Problems,
): void {
  const whole = textMapAt(resources, key);
  for (const [name, sum] of aggregated(spec, key)) {
    const amount = whole.get(name);
    if (amount === undefined || (key === "limits" && !isHugePages(name)) || compareQuantities(sum, amount) <= 0) {
      continue;
    }
    problems.invalid(path.key(name), amount, `must be greater than or equal to aggregate container ${key} of ${sum}`);
  }
}

function checkEach(spec: JsonObject, resources: JsonObject, path: FieldPath, problems: Problems): void {
  const limits = textMapAt(resources, "limits");
  objectsAt(spec, "containers").forEach((container, index) => {
    for (const [name, amount] of textMapAt(objectAt(container, "resources"), "limits")) {
      const limit = limits.get(name);
      if (limit === undefined || compareQuantities(amount, limit) <= 0) continue;
      const place = path.child("containers").index(index).key(name).child("limits");
      problems.invalid(place, amount, `must be less than or equal to pod limits of ${limit}`);
    }
  });
}
