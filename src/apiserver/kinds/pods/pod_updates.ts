/**
 * Rules of updates of an existing Pod: an update may change images and the deadline, add tolerations and remove scheduling
 * gates; an update of `pods/resize` may change only CPU and memory.
 */
import { type Draft, draftOf, isSameJson, type JsonObject, read } from "../../model/mod.ts";
import { changedFields, FieldPath, maxInt32, type Problems, rangeErrors } from "../rules/mod.ts";
import {
  draftAt,
  draftsAt,
  findDraft,
  findNumber,
  findObject,
  has,
  metadataOf,
  numberAt,
  objectAt,
  objectIn,
  objectsAt,
  restoreField,
  restoreMetadata,
  textAt,
  textMapAt,
} from "../types/mod.ts";
import { checkImageWhitespace } from "./containers.ts";
import { isSidecar, qosClassOf } from "./pod_containers.ts";
import { checkPodAnnotations } from "./pod_spec.ts";
import { checkOnlyAdded } from "./scheduling.ts";

const mirror = "kubernetes.io/config.mirror";
const appArmor = "container.apparmor.security.beta.kubernetes.io/";
const required = "requiredDuringSchedulingIgnoredDuringExecution";

const updatable = [
  "`spec.containers[*].image`",
  "`spec.initContainers[*].image`",
  "`spec.activeDeadlineSeconds`",
  "`spec.tolerations` (only additions to existing tolerations)",
  "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)",
].join(",");

/** Checks an update of the annotations that have a meaning for Pods. */
export function checkPodAnnotationChange(pod: JsonObject, old: JsonObject, problems: Problems): void {
  const [now, before] = [textMapAt(metadataOf(pod), "annotations"), textMapAt(metadataOf(old), "annotations")];
  const path = FieldPath.of("metadata", "annotations");
  for (const [key, value] of before) {
    if (now.get(key) === value) continue;
    if (key.startsWith(appArmor)) problems.forbidden(path.key(key), "may not remove or update AppArmor annotations");
    if (key === mirror) problems.forbidden(path.key(key), "may not remove or update mirror pod annotation");
  }
  for (const key of now.keys()) {
    if (before.has(key)) continue;
    if (key.startsWith(appArmor)) problems.forbidden(path.key(key), "may not add AppArmor annotations");
    if (key === mirror) problems.forbidden(path.key(key), "may not add mirror pod annotation");
  }
  checkPodAnnotations(metadataOf(pod), objectAt(pod, "spec"), path, problems);
}

/** Checks an update of the spec. */
export function checkPodChange(pod: JsonObject, old: JsonObject, problems: Problems): void {
  const [spec, before] = [objectAt(pod, "spec"), objectAt(old, "spec")];
  const path = FieldPath.of("spec");
  for (const key of ["containers", "initContainers"]) {
    if (!checkImages(spec, before, key, path.child(key), problems)) return;
  }
  if (!checkDeadlineChange(spec, before, path.child("activeDeadlineSeconds"), problems)) return;
  checkOnlyAdded(objectsAt(spec, "tolerations"), objectsAt(before, "tolerations"), path.child("tolerations"), problems);
  checkGates(spec, before, path.child("schedulingGates"), problems);
  if (isSameJson(spec, before)) return;
  const rest = draftOf(spec);
  restoreMutableFields(rest, before);
  if (objectsAt(before, "schedulingGates").length > 0) restoreScheduling(rest, before, path, problems);
  if (isSameJson(rest, before)) return;
  problems.forbidden(
    path,
    `pod updates may not change fields other than ${updatable}; ${changedFields(before, rest, path)}`,
  );
}

/** @returns false when the containers cannot be compared */
function checkImages(spec: JsonObject, before: JsonObject, key: string, path: FieldPath, problems: Problems): boolean {
  const containers = objectsAt(spec, key);
  if (containers.length !== objectsAt(before, key).length) {
    problems.forbidden(path, "pod updates may not add or remove containers");
    return false;
  }
  containers.forEach((container, index) => {
    if (textAt(container, "image") === "") problems.required(path.index(index).child("image"));
    checkImageWhitespace(container, path.index(index), problems);
  });
  return true;
}

/** @returns false when the deadline is invalid */
function checkDeadlineChange(spec: JsonObject, before: JsonObject, path: FieldPath, problems: Problems): boolean {
  const [now, then] = [findNumber(spec, "activeDeadlineSeconds"), findNumber(before, "activeDeadlineSeconds")];
  if (now === undefined) {
    if (then !== undefined) problems.invalid(path, null, "must not update from a positive integer to nil value");
    return true;
  }
  if (now < 0 || now > maxInt32) {
    problems.invalidAll(path, now, rangeErrors(now, 0, maxInt32));
    return false;
  }
  if (then === undefined || then >= now) return true;
  problems.invalid(path, now, "must be less than or equal to previous value");
  return false;
}

function checkGates(spec: JsonObject, before: JsonObject, path: FieldPath, problems: Problems): void {
  const known = objectsAt(before, "schedulingGates").map((gate) => textAt(gate, "name"));
  objectsAt(spec, "schedulingGates").forEach((gate, index) => {
    const name = textAt(gate, "name");
    if (known.includes(name)) return;
    problems.forbidden(
      path.index(index).child("name"),
      `only deletion is allowed, but found new scheduling gate '${name}'`,
    );
  });
}

/** Restores the fields that may change, so that any other difference is an error. */
function restoreMutableFields(rest: Draft, before: JsonObject): void {
  for (const key of ["containers", "initContainers"]) {
    const images = objectsAt(before, key);
    draftsAt(rest, key).forEach((container, index) => restoreField(container, images[index] ?? {}, "image"));
  }
  for (const key of ["activeDeadlineSeconds", "schedulingGates", "tolerations"]) restoreField(rest, before, key);
  const grace = "terminationGracePeriodSeconds";
  if (numberAt(before, grace) < 0 && findNumber(rest, grace) === 1) restoreField(rest, before, grace);
}

/** Restores the scheduling fields, to which a Pod with scheduling gates may add. */
function restoreScheduling(rest: Draft, before: JsonObject, path: FieldPath, problems: Problems): void {
  const [now, then] = [textMapAt(rest, "nodeSelector"), textMapAt(before, "nodeSelector")];
  if ([...then].some(([key, value]) => now.get(key) !== value)) {
    const why = "only additions to spec.nodeSelector are allowed (no mutations or deletions)";
    problems.invalid(path.child("nodeSelector"), objectAt(rest, "nodeSelector"), why);
  }
  restoreField(rest, before, "nodeSelector");
  checkNodeAffinity(rest, before, path.child("affinity", "nodeAffinity"), problems);
  const affinity = objectAt(before, "affinity");
  if (!isSameJson(read(objectAt(rest, "affinity"), "nodeAffinity") ?? null, read(affinity, "nodeAffinity") ?? null)) {
    const kept = draftAt(rest, "affinity");
    restoreField(kept, affinity, "nodeAffinity");
    if (Object.keys(kept).length === 0 && findDraft(draftOf(before), "affinity") === undefined) delete rest["affinity"];
  }
}

function checkNodeAffinity(rest: JsonObject, before: JsonObject, path: FieldPath, problems: Problems): void {
  const termsOf = (spec: JsonObject) =>
    objectsAt(objectIn(spec, "affinity", "nodeAffinity", required), "nodeSelectorTerms");
  const [now, then] = [termsOf(rest), termsOf(before)];
  const place = path.child(required, "nodeSelectorTerms");
  if (then.length > 0 && then.length !== now.length) {
    problems.invalid(place, now, "no additions/deletions to non-empty NodeSelectorTerms list are allowed");
    return;
  }
  then.forEach((old, index) => {
    const term = now[index] ?? {};
    if (!hasOnlyAdditions(term, old)) {
      problems.invalid(place.index(index), term, "only additions are allowed (no mutations or deletions)");
    }
  });
}

function hasOnlyAdditions(term: JsonObject, old: JsonObject): boolean {
  const keys = ["matchExpressions", "matchFields"];
  const isEmpty = (one: JsonObject) => keys.every((key) => objectsAt(one, key).length === 0);
  if (isEmpty(old) && !isEmpty(term)) return false;
  return keys.every((key) => {
    const before = objectsAt(old, key);
    return isSameJson(objectsAt(term, key).slice(0, before.length), before);
  });
}

/** Checks that existing ephemeral containers have not changed. */
export function checkEphemeralChange(pod: JsonObject, old: JsonObject, problems: Problems): void {
  const path = FieldPath.of("spec", "ephemeralContainers");
  const now = objectsAt(objectAt(pod, "spec"), "ephemeralContainers");
  for (const before of objectsAt(objectAt(old, "spec"), "ephemeralContainers")) {
    const name = textAt(before, "name");
    const container = now.find((one) => textAt(one, "name") === name);
    const start = `existing ephemeral containers ${JSON.stringify(name)} may not be`;
    if (container === undefined) problems.forbidden(path, `${start} removed\n`);
    else if (!isSameJson(container, before)) {
      problems.forbidden(path, `${start} changed; ${changedFields(before, container, path.key(name))}`);
    }
  }
}

const lists = ["containers", "initContainers"] as const;

/**
 * Restores all fields except for resources. Containers that do not match the old ones stay, so that validation rejects
 * them.
 */
export function restoreAllButResources(draft: Draft, old: JsonObject): void {
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
      for (const field of ["resources", "resizePolicy"]) restoreField(into, container, field);
    });
  }
  restoreField(kept, spec, "resources");
  draft["spec"] = kept;
  restoreField(draft, old, "status");
  restoreMetadata(draft, old);
}

/** Checks a resize. */
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
  if (serviceClass !== qosClassOf(spec)) {
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
  for (const key of ["resources", ...lists]) restoreField(rest, before, key);
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

/** @returns false when the containers cannot be compared */
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
