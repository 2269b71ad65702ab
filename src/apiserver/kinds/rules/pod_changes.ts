/** What may change in a Pod that exists: images, its deadline, tolerations that are added, gates that are taken away. */
import { type Draft, draftOf, isSameJson, type JsonObject, read } from "../../model/mod.ts";
import {
  draftAt,
  draftsAt,
  findDraft,
  findNumber,
  metadataOf,
  numberAt,
  objectAt,
  objectIn,
  objectsAt,
  textAt,
  textMapAt,
} from "../fields.ts";
import { rangeErrors } from "../formats.ts";
import { keepField } from "../kept_fields.ts";
import { checkImageSpace } from "../pods/containers.ts";
import { checkPodAnnotations } from "../pods/pod_spec.ts";
import { internalDiff } from "../internal_form.ts";
import { FieldPath, type Problems } from "../problems.ts";
import { checkOnlyAdded } from "../taints.ts";

const mirror = "kubernetes.io/config.mirror";
const appArmor = "container.apparmor.security.beta.kubernetes.io/";
const mostInt32 = 2_147_483_647;
const required = "requiredDuringSchedulingIgnoredDuringExecution";
const updatable = [
  "`spec.containers[*].image`",
  "`spec.initContainers[*].image`",
  "`spec.activeDeadlineSeconds`",
  "`spec.tolerations` (only additions to existing tolerations)",
  "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)",
].join(",");

/** Checks the annotations that are part of what a Pod is. */
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

/** Checks a change of the spec. */
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
  putBack(rest, before);
  if (objectsAt(before, "schedulingGates").length > 0) putBackPlacement(rest, before, path, problems);
  if (isSameJson(rest, before)) return;
  problems.forbidden(
    path,
    `pod updates may not change fields other than ${updatable}\n${internalDiff("PodSpec", before, rest)}`,
  );
}

/** @returns false where there is nothing to compare */
function checkImages(spec: JsonObject, before: JsonObject, key: string, path: FieldPath, problems: Problems): boolean {
  const containers = objectsAt(spec, key);
  if (containers.length !== objectsAt(before, key).length) {
    problems.forbidden(path, "pod updates may not add or remove containers");
    return false;
  }
  containers.forEach((container, index) => {
    if (textAt(container, "image") === "") problems.required(path.index(index).child("image"));
    checkImageSpace(container, path.index(index), problems);
  });
  return true;
}

/** @returns false where it is wrong */
function checkDeadlineChange(spec: JsonObject, before: JsonObject, path: FieldPath, problems: Problems): boolean {
  const [now, then] = [findNumber(spec, "activeDeadlineSeconds"), findNumber(before, "activeDeadlineSeconds")];
  if (now === undefined) {
    if (then !== undefined) problems.invalid(path, null, "must not update from a positive integer to nil value");
    return true;
  }
  if (now < 0 || now > mostInt32) {
    problems.invalidAll(path, now, rangeErrors(now, 0, mostInt32));
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

/** Puts back what may change, so that what is left is what may not. */
function putBack(rest: Draft, before: JsonObject): void {
  for (const key of ["containers", "initContainers"]) {
    const images = objectsAt(before, key);
    draftsAt(rest, key).forEach((container, index) => keepField(container, images[index] ?? {}, "image"));
  }
  for (const key of ["activeDeadlineSeconds", "schedulingGates", "tolerations"]) keepField(rest, before, key);
  const grace = "terminationGracePeriodSeconds";
  if (numberAt(before, grace) < 0 && findNumber(rest, grace) === 1) keepField(rest, before, grace);
}

/** A Pod that waits at a gate may still be told more of where it is to run. */
function putBackPlacement(rest: Draft, before: JsonObject, path: FieldPath, problems: Problems): void {
  const [now, then] = [textMapAt(rest, "nodeSelector"), textMapAt(before, "nodeSelector")];
  if ([...then].some(([key, value]) => now.get(key) !== value)) {
    const why = "only additions to spec.nodeSelector are allowed (no mutations or deletions)";
    problems.invalid(path.child("nodeSelector"), objectAt(rest, "nodeSelector"), why);
  }
  keepField(rest, before, "nodeSelector");
  checkNodeAffinity(rest, before, path.child("affinity", "nodeAffinity"), problems);
  const affinity = objectAt(before, "affinity");
  if (!isSameJson(read(objectAt(rest, "affinity"), "nodeAffinity") ?? null, read(affinity, "nodeAffinity") ?? null)) {
    const kept = draftAt(rest, "affinity");
    keepField(kept, affinity, "nodeAffinity");
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

/** Containers that joined a Pod stay as they are. */
export function checkEphemeralChange(pod: JsonObject, old: JsonObject, problems: Problems): void {
  const path = FieldPath.of("spec", "ephemeralContainers");
  const now = objectsAt(objectAt(pod, "spec"), "ephemeralContainers");
  for (const before of objectsAt(objectAt(old, "spec"), "ephemeralContainers")) {
    const name = textAt(before, "name");
    const container = now.find((one) => textAt(one, "name") === name);
    const start = `existing ephemeral containers ${JSON.stringify(name)} may not be`;
    if (container === undefined) problems.forbidden(path, `${start} removed\n`);
    else if (!isSameJson(container, before)) {
      problems.forbidden(path, `${start} changed\n${internalDiff("EphemeralContainer", before, container)}`);
    }
  }
}
