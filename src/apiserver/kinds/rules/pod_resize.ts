/** `pods/resize`: the CPU and the memory of a running Pod change, and nothing else. */
import { type Draft, draftOf, isSameJson, type JsonObject } from "../../model/mod.ts";
import { draftAt, draftsAt, findObject, has, metadataOf, objectAt, objectsAt, textAt, textMapAt } from "../fields.ts";
import { keepField, keepMetadata } from "../kept_fields.ts";
import { isSidecar, serviceClassOf } from "../pods/aggregate.ts";
import { FieldPath, type Problems } from "../problems.ts";

const lists = ["containers", "initContainers"] as const;

/** Leaves of a draft what may be resized. Containers that do not fit the old ones stay, for validation to say so. */
export function keepAllButResources(draft: Draft, old: JsonObject): void {
  const [spec, before] = [draftAt(draft, "spec"), objectAt(old, "spec")];
  if (lists.some((key) => draftsAt(spec, key).length !== objectsAt(before, key).length)) return;
  const kept = draftOf(before);
  for (const key of lists) {
    const containers = draftsAt(spec, key);
    const olds = draftsAt(kept, key);
    if (containers.some((container, index) => textAt(container, "name") !== textAt(olds[index] ?? {}, "name"))) {
      kept[key] = [...containers];
      continue;
    }
    containers.forEach((container, index) => {
      const into = olds[index] ?? {};
      for (const field of ["resources", "resizePolicy"]) keepField(into, container, field);
    });
  }
  keepField(kept, spec, "resources");
  draft["spec"] = kept;
  keepField(draft, old, "status");
  keepMetadata(draft, old);
}

/** Checks a change of the resources. */
export function checkPodResize(pod: JsonObject, old: JsonObject, problems: Problems): void {
  const [spec, before] = [objectAt(pod, "spec"), objectAt(old, "spec")];
  const path = FieldPath.of("spec");
  if (textMapAt(metadataOf(old), "annotations").has("kubernetes.io/config.mirror")) {
    return problems.forbidden(FieldPath.root, "static pods cannot be resized");
  }
  if (textAt(objectAt(before, "os"), "name") === "windows") {
    return problems.forbidden(FieldPath.root, "windows pods cannot be resized");
  }
  const serviceClass = textAt(objectAt(old, "status"), "qosClass");
  if (serviceClass !== serviceClassOf(spec)) {
    problems.invalid(path, serviceClass, "Pod QOS Class may not change as a result of resizing");
  }
  if (!isSupported(old)) problems.forbidden(path, "Pod running on node without support for resize");
  checkWhole(spec, before, path, problems);
  if (!checkOrder(spec, before, path, problems)) return;
  const count = problems.count;
  for (const key of lists) {
    objectsAt(before, key).forEach((container, index) =>
      checkContainer(
        objectsAt(spec, key)[index] ?? {},
        container,
        key === "initContainers",
        path.child(key).index(index),
        problems,
      )
    );
  }
  if (problems.count > count) return;
  const rest = draftOf(spec);
  for (const key of ["resources", ...lists]) keepField(rest, before, key);
  if (!isSameJson(rest, before)) problems.forbidden(path, "only cpu and memory resources are mutable");
}

function isSupported(pod: JsonObject): boolean {
  const running = objectsAt(objectAt(pod, "status"), "containerStatuses").find((one) =>
    has(objectAt(one, "state"), "running")
  );
  return running === undefined || has(running, "resources");
}

function checkWhole(spec: JsonObject, before: JsonObject, path: FieldPath, problems: Problems): void {
  const [now, then] = [findObject(spec, "resources"), findObject(before, "resources")];
  const place = path.child("resources");
  if (then !== undefined && now === undefined) {
    return problems.forbidden(place, "pod-level resources cannot be removed");
  }
  if (now === undefined) return;
  if (then !== undefined) checkRemoved(now, then, "pod-level resource", place, problems);
  if (!isSameJson(withoutComputes(now), withoutComputes(then ?? {}))) {
    problems.forbidden(path, "only cpu and memory resources are mutable at pod-level");
  }
}

/** @returns false where containers cannot be compared */
function checkOrder(spec: JsonObject, before: JsonObject, path: FieldPath, problems: Problems): boolean {
  const count = problems.count;
  for (const key of lists) {
    const containers = objectsAt(spec, key);
    if (containers.length !== objectsAt(before, key).length) {
      problems.forbidden(path.child(key), `${key} may not be added or removed on resize`);
      continue;
    }
    objectsAt(before, key).forEach((old, index) => {
      if (textAt(containers[index] ?? {}, "name") === textAt(old, "name")) return;
      problems.forbidden(
        path.child(key).index(index).child("name"),
        `${key} may not be renamed or reordered on resize`,
      );
    });
  }
  return problems.count === count;
}

function checkContainer(
  container: JsonObject,
  old: JsonObject,
  isInit: boolean,
  path: FieldPath,
  problems: Problems,
): void {
  const isChanged = !isSameJson(container, old);
  if (isInit && !isSidecar(container)) {
    if (isChanged) problems.forbidden(FieldPath.of("spec"), "resources for non-sidecar init containers are immutable");
    return;
  }
  const [now, then] = [objectAt(container, "resources"), objectAt(old, "resources")];
  checkRemoved(now, then, "resource", path.child("resources"), problems);
  const rest = (one: JsonObject) => ({ ...one, resources: withoutComputes(objectAt(one, "resources")) });
  if (isSameJson(rest(container), rest(old))) return;
  if (isInit) problems.forbidden(path, "only cpu and memory resources for init or sidecar containers are mutable");
  else problems.forbidden(FieldPath.of("spec"), "only cpu and memory resources are mutable");
}

function checkRemoved(now: JsonObject, then: JsonObject, what: string, path: FieldPath, problems: Problems): void {
  for (const key of ["requests", "limits"]) {
    const kept = textMapAt(now, key);
    const isGone = [...textMapAt(then, key).keys()].some((name) => !kept.has(name));
    if (isGone) problems.forbidden(path.child(key), `${what} ${key} cannot be removed`);
  }
}

function withoutComputes(resources: JsonObject): JsonObject {
  const rest: Draft = {};
  for (const key of ["limits", "requests"]) {
    const others = draftOf(objectAt(resources, key));
    delete others["cpu"];
    delete others["memory"];
    if (Object.keys(others).length > 0) rest[key] = others;
  }
  return rest;
}
