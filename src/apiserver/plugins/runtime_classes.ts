/**
 * RuntimeClass: sets the overhead, the node selector and the tolerations that the RuntimeClass of a Pod defines. Source:
 * kubernetes `plugin/pkg/admission/runtimeclass` of 1.36.
 */
import { draftAt, draftsAt, findObject, has, objectAt, objectsAt, textAt, textMapAt } from "../kinds/mod.ts";
import {
  type AdmissionPlugin,
  type AdmissionRequest,
  type Draft,
  draftOf,
  isSameJson,
  type JsonObject,
  type ObjectReader,
} from "../model/mod.ts";
import { forbiddenError, newObject } from "./_request.ts";

/** The plugin for Pods. */
export function runtimeClasses(objects: ObjectReader): AdmissionPlugin {
  return {
    name: "RuntimeClass",
    admit(request) {
      const pod = newObject(request);
      if (pod === undefined) return;
      const spec = draftAt(pod, "spec");
      const found = classOf(objects, request, spec);
      if (found === undefined) return;
      setOverhead(request, spec, found);
      schedule(request, spec, found);
    },
    validate(request) {
      const pod = newObject(request);
      if (pod === undefined) return;
      const spec = objectAt(pod, "spec");
      const overhead = overheadOf(classOf(objects, request, spec));
      const own = findObject(spec, "overhead");
      if (overhead === undefined && own !== undefined) {
        throw forbiddenError(
          request,
          "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead",
        );
      }
      if (overhead !== undefined && !isSameJson(overhead, own ?? {})) throw mismatch(request);
    },
  };
}

function classOf(objects: ObjectReader, request: AdmissionRequest, spec: JsonObject): JsonObject | undefined {
  const name = textAt(spec, "runtimeClassName");
  if (name === "") return undefined;
  const found = objects.get("runtimeclasses.node.k8s.io", "", name);
  if (found === undefined) {
    throw forbiddenError(request, `pod rejected: RuntimeClass ${JSON.stringify(name)} not found`);
  }
  return found;
}

function overheadOf(found: JsonObject | undefined): JsonObject | undefined {
  const overhead = found === undefined ? undefined : findObject(found, "overhead");
  return overhead === undefined ? undefined : objectAt(overhead, "podFixed");
}

function mismatch(request: AdmissionRequest) {
  return forbiddenError(request, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead");
}

function setOverhead(request: AdmissionRequest, spec: Draft, found: JsonObject): void {
  const overhead = overheadOf(found);
  if (overhead === undefined) return;
  if (textMapAt(spec, "overhead").size > 0 && !isSameJson(overhead, objectAt(spec, "overhead"))) {
    throw mismatch(request);
  }
  spec["overhead"] = draftOf(overhead);
}

function schedule(request: AdmissionRequest, spec: Draft, found: JsonObject): void {
  if (!has(found, "scheduling")) return;
  const scheduling = objectAt(found, "scheduling");
  const own = textMapAt(spec, "nodeSelector");
  const required = textMapAt(scheduling, "nodeSelector");
  for (const [key, value] of required) {
    const held = own.get(key);
    if (held === undefined || held === value) continue;
    const [theirs, ours] = [`runtimeClass.scheduling.nodeSelector[${key}] = ${value}`, `pod.spec.nodeSelector[${key}]`];
    throw forbiddenError(request, `conflict: ${theirs}; ${ours} = ${held}`);
  }
  if (required.size > 0) spec["nodeSelector"] = Object.fromEntries([...own, ...required]);
  const tolerations = draftsAt(spec, "tolerations");
  const added = objectsAt(scheduling, "tolerations").filter((each) =>
    !tolerations.some((held) => isSameJson(held, each))
  );
  if (added.length > 0) spec["tolerations"] = [...tolerations, ...added.map((each) => draftOf(each))];
}
