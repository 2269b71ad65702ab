/** Rules of Pods: what the server sets when one is made, what may change, and what selectors may ask for. */
import { type Draft, draftOf, type JsonObject, read, type WriteContext } from "../../model/mod.ts";
import { hasBadValue } from "../checks.ts";
import {
  draftAt,
  draftsAt,
  findDraft,
  findNumber,
  flagAt,
  metadataOf,
  nameOf,
  objectAt,
  objectIn,
  objectsAt,
  textAt,
} from "../fields.ts";
import { labelErrors } from "../formats.ts";
import { ipWarnings } from "../ip.ts";
import { keepField, keepMetadata } from "../kept_fields.ts";
import type { KindRules } from "../kind_rules.ts";
import { serviceClassOf } from "../pods/aggregate.ts";
import { checkImageSpace } from "../pods/containers.ts";
import { containersOf } from "../pods/containers_of.ts";
import { dropDisabled } from "../pods/disabled_fields.ts";
import { checkPodAnnotations, checkPodSpec, type PodSpecOptions } from "../pods/pod_spec.ts";
import { podWarnings } from "../pods/warnings.ts";
import { FieldPath, type Problems } from "../problems.ts";
import { formatTime } from "../times.ts";
import { applyLabelKeys } from "./pod_label_keys.ts";
import { checkEphemeralChange, checkPodAnnotationChange, checkPodChange } from "./pod_changes.ts";
import { checkPodResize, keepAllButResources } from "./pod_resize.ts";
import { checkPodStatus, keepObservedGenerations } from "./pod_status.ts";

/** Pod. */
export const podRules: KindRules = {
  depth: "full",
  generation: ["spec"],
  selectable: new Map([
    ["spec.nodeName", (pod) => textAt(objectAt(pod, "spec"), "nodeName")],
    ["spec.restartPolicy", (pod) => textAt(objectAt(pod, "spec"), "restartPolicy")],
    ["spec.schedulerName", (pod) => textAt(objectAt(pod, "spec"), "schedulerName")],
    ["spec.serviceAccountName", (pod) => textAt(objectAt(pod, "spec"), "serviceAccountName")],
    ["spec.hostNetwork", (pod) => String(flagAt(objectAt(pod, "spec"), "hostNetwork"))],
    ["status.phase", (pod) => textAt(objectAt(pod, "status"), "phase")],
    ["status.podIP", podIp],
    ["status.podIPs", podIp],
    ["status.nominatedNodeName", (pod) => textAt(objectAt(pod, "status"), "nominatedNodeName")],
  ]),
  deletion: { grace: graceOf },
  resetFields: new Map([["status", [["spec"], ["metadata", "deletionTimestamp"], ["metadata", "ownerReferences"]]]]),
  prepareForCreate: preparePod,
  prepareForUpdate: (draft, old) => dropDisabled(draftAt(draft, "spec"), objectAt(old, "spec")),
  prepareForStatus(draft, old) {
    keepMetadata(draft, old, ["ownerReferences"]);
    const status = draftAt(draft, "status");
    if (textAt(status, "qosClass") === "") keepField(status, objectAt(old, "status"), "qosClass");
    keepObservedGenerations(status, objectAt(old, "status"));
  },
  prepareForPart: preparePart,
  validate(pod, problems) {
    checkPod(pod, undefined, problems);
    const spec = objectAt(pod, "spec");
    const path = FieldPath.of("spec");
    if (objectsAt(spec, "ephemeralContainers").length > 0) {
      problems.forbidden(path.child("ephemeralContainers"), "cannot be set on create");
    }
    if (textAt(spec, "nodeName") !== "" && objectsAt(spec, "schedulingGates").length > 0) {
      problems.forbidden(path.child("nodeName"), "cannot be set until all schedulingGates have been cleared");
    }
  },
  validateUpdate(pod, old, problems) {
    checkPod(pod, old, problems);
    checkPodAnnotationChange(pod, old, problems);
    checkPodChange(pod, old, problems);
  },
  validateStatus: checkPodStatus,
  validatePart(pod, old, problems, context) {
    if (context.subresource === "resize") {
      checkPod(pod, old, problems);
      return checkPodResize(pod, old, problems);
    }
    if (context.subresource !== "ephemeralcontainers") return;
    checkPod(pod, old, problems);
    checkPodAnnotationChange(pod, old, problems);
    checkEphemeralChange(pod, old, problems);
  },
  warnings(pod, old) {
    if (old === undefined) return [...nameWarnings(pod), ...podWarnings(pod)];
    const status = objectAt(pod, "status");
    return ["podIPs", "hostIPs"].flatMap((key) =>
      objectsAt(status, key).flatMap((each, index) =>
        ipWarnings(FieldPath.of("status", key).index(index).child("ip"), textAt(each, "ip"))
      )
    );
  },
};

function podIp(pod: JsonObject): string {
  return textAt(objectsAt(objectAt(pod, "status"), "podIPs")[0] ?? {}, "ip");
}

/** A Pod is given time to end; one that no node runs needs none. */
function graceOf(pod: JsonObject, asked: number | undefined): number {
  const spec = objectAt(pod, "spec");
  const phase = textAt(objectAt(pod, "status"), "phase");
  if (textAt(spec, "nodeName") === "" || phase === "Failed" || phase === "Succeeded") return 0;
  const seconds = asked ?? findNumber(spec, "terminationGracePeriodSeconds") ?? 0;
  return seconds < 0 ? 1 : seconds;
}

function preparePod(draft: Draft, context: WriteContext): void {
  const spec = draftAt(draft, "spec");
  dropDisabled(spec);
  const status: Draft = { phase: "Pending", qosClass: serviceClassOf(spec) };
  if (draftsAt(spec, "schedulingGates").length > 0) {
    status["conditions"] = [{
      type: "PodScheduled",
      status: "False",
      lastProbeTime: null,
      lastTransitionTime: formatTime(context.now),
      reason: "SchedulingGated",
      message: "Scheduling is blocked due to non-empty scheduling gates",
    }];
  }
  draft["status"] = status;
  applyLabelKeys(spec, objectAt(metadataOf(draft), "labels"));
}

function preparePart(draft: Draft, old: JsonObject, context: WriteContext): void {
  switch (context.subresource) {
    case "ephemeralcontainers": {
      dropDisabled(draftAt(draft, "spec"), objectAt(old, "spec"));
      const added = read(findDraft(draft, "spec") ?? {}, "ephemeralContainers");
      const spec = draftOf(objectAt(old, "spec"));
      if (added === undefined) delete spec["ephemeralContainers"];
      else spec["ephemeralContainers"] = added;
      draft["spec"] = spec;
      keepField(draft, old, "status");
      return keepMetadata(draft, old);
    }
    case "resize":
      return keepAllButResources(draft, old);
  }
}

function checkPod(pod: JsonObject, old: JsonObject | undefined, problems: Problems): void {
  const spec = objectAt(pod, "spec");
  const path = FieldPath.of("spec");
  checkPodAnnotations(metadataOf(pod), spec, FieldPath.of("metadata", "annotations"), problems);
  const options: PodSpecOptions = {
    isPod: true,
    podName: nameOf(pod),
    allowsAnyValue: old !== undefined && hasBadValues(old),
  };
  checkPodSpec(spec, options, path, problems);
  if (textAt(spec, "serviceAccountName") === "") checkNoTokens(spec, path.child("volumes"), problems);
  for (const { container, path: place } of containersOf(spec, path)) {
    if (!place.toString().startsWith("spec.ephemeral")) checkImageSpace(container, place, problems);
  }
}

function checkNoTokens(spec: JsonObject, path: FieldPath, problems: Problems): void {
  objectsAt(spec, "volumes").forEach((volume, index) => {
    objectsAt(objectAt(volume, "projected"), "sources").forEach((source, at) => {
      if (read(source, "serviceAccountToken") === undefined) return;
      const place = path.index(index).child("projected", "sources").index(at).child("serviceAccountToken");
      problems.forbidden(place, "must not be specified when serviceAccountName is not set");
    });
  });
}

/** True where the affinity has a selector that would not be let in today. */
function hasBadValues(pod: JsonObject): boolean {
  return ["podAffinity", "podAntiAffinity"].some((key) => {
    const affinity = objectIn(pod, "spec", "affinity", key);
    const preferred = objectsAt(affinity, "preferredDuringSchedulingIgnoredDuringExecution");
    const terms = [
      ...objectsAt(affinity, "requiredDuringSchedulingIgnoredDuringExecution"),
      ...preferred.map((each) => objectAt(each, "podAffinityTerm")),
    ];
    return terms.some((term) => hasBadValue(objectAt(term, "labelSelector")));
  });
}

function nameWarnings(pod: JsonObject): readonly string[] {
  const errors = labelErrors(nameOf(pod));
  if (errors.length === 0) return [];
  const why = "this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended";
  return [`metadata.name: ${why}: [${errors.join(" ")}]`];
}
