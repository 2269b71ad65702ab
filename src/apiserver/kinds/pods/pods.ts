/**
 * Rules of Pods: the fields that the server sets at creation, validation, field selectors, graceful deletion, and the amounts
 * that count for ResourceQuotas. Updates of a Pod are in pod_updates.ts and pod_status.ts.
 */
import { type Draft, draftOf, type JsonObject, read, type WriteContext } from "../../model/mod.ts";
import {
  addAmounts,
  type Amounts,
  FieldPath,
  hasInvalidLabelValue,
  ipWarnings,
  type KindRules,
  labelErrors,
  type Problems,
  type QuotaMeter,
} from "../rules/mod.ts";
import {
  booleanAt,
  draftAt,
  draftsAt,
  findDraft,
  findNumber,
  formatTime,
  has,
  metadataOf,
  nameOf,
  objectAt,
  objectIn,
  objectsAt,
  restoreField,
  restoreMetadata,
  textAt,
  textMapAt,
  textsAt,
} from "../types/mod.ts";
import { checkImageWhitespace } from "./containers.ts";
import { aggregateResources, containersOf, qosClassOf } from "./pod_containers.ts";
import { checkPodAnnotations, checkPodSpec, dropDisabled, type PodSpecOptions } from "./pod_spec.ts";
import { checkPodStatus, restoreObservedGenerations } from "./pod_status.ts";
import {
  checkEphemeralChange,
  checkPodAnnotationChange,
  checkPodChange,
  checkPodResize,
  restoreAllButResources,
} from "./pod_updates.ts";
import { podWarnings } from "./pod_warnings.ts";

/** Pod. */
export const podRules: KindRules = {
  depth: "full",
  generationFields: ["spec"],
  fieldSelectors: new Map([
    ["spec.nodeName", (pod) => textAt(objectAt(pod, "spec"), "nodeName")],
    ["spec.restartPolicy", (pod) => textAt(objectAt(pod, "spec"), "restartPolicy")],
    ["spec.schedulerName", (pod) => textAt(objectAt(pod, "spec"), "schedulerName")],
    ["spec.serviceAccountName", (pod) => textAt(objectAt(pod, "spec"), "serviceAccountName")],
    ["spec.hostNetwork", (pod) => String(booleanAt(objectAt(pod, "spec"), "hostNetwork"))],
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
    restoreMetadata(draft, old, ["ownerReferences"]);
    const status = draftAt(draft, "status");
    if (textAt(status, "qosClass") === "") restoreField(status, objectAt(old, "status"), "qosClass");
    restoreObservedGenerations(status, objectAt(old, "status"));
  },
  prepareForSubresource,
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
  validateSubresource(pod, old, problems, context) {
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

/** The grace period of a deletion: 0 for a Pod that no node runs. */
function graceOf(pod: JsonObject, requestedSeconds: number | undefined): number {
  const spec = objectAt(pod, "spec");
  const phase = textAt(objectAt(pod, "status"), "phase");
  if (textAt(spec, "nodeName") === "" || phase === "Failed" || phase === "Succeeded") return 0;
  const seconds = requestedSeconds ?? findNumber(spec, "terminationGracePeriodSeconds") ?? 0;
  return seconds < 0 ? 1 : seconds;
}

function preparePod(draft: Draft, context: WriteContext): void {
  const spec = draftAt(draft, "spec");
  dropDisabled(spec);
  const status: Draft = { phase: "Pending", qosClass: qosClassOf(spec) };
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

function prepareForSubresource(draft: Draft, old: JsonObject, context: WriteContext): void {
  switch (context.subresource) {
    case "ephemeralcontainers": {
      dropDisabled(draftAt(draft, "spec"), objectAt(old, "spec"));
      const added = read(findDraft(draft, "spec") ?? {}, "ephemeralContainers");
      const spec = draftOf(objectAt(old, "spec"));
      if (added === undefined) delete spec["ephemeralContainers"];
      else spec["ephemeralContainers"] = added;
      draft["spec"] = spec;
      restoreField(draft, old, "status");
      return restoreMetadata(draft, old);
    }
    case "resize":
      return restoreAllButResources(draft, old);
  }
}

function checkPod(pod: JsonObject, old: JsonObject | undefined, problems: Problems): void {
  const spec = objectAt(pod, "spec");
  const path = FieldPath.of("spec");
  checkPodAnnotations(metadataOf(pod), spec, FieldPath.of("metadata", "annotations"), problems);
  const options: PodSpecOptions = {
    isPod: true,
    podName: nameOf(pod),
    allowsInvalidValues: old !== undefined && hasInvalidSelector(old),
  };
  checkPodSpec(spec, options, path, problems);
  if (textAt(spec, "serviceAccountName") === "") checkNoTokens(spec, path.child("volumes"), problems);
  for (const { container, path: place } of containersOf(spec, path)) {
    if (!place.toString().startsWith("spec.ephemeral")) checkImageWhitespace(container, place, problems);
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

/** True when the affinity has a selector with an invalid label value, which was allowed in the past. */
function hasInvalidSelector(pod: JsonObject): boolean {
  return ["podAffinity", "podAntiAffinity"].some((key) => {
    const affinity = objectIn(pod, "spec", "affinity", key);
    const preferred = objectsAt(affinity, "preferredDuringSchedulingIgnoredDuringExecution");
    const terms = [
      ...objectsAt(affinity, "requiredDuringSchedulingIgnoredDuringExecution"),
      ...preferred.map((each) => objectAt(each, "podAffinityTerm")),
    ];
    return terms.some((term) => hasInvalidLabelValue(objectAt(term, "labelSelector")));
  });
}

function nameWarnings(pod: JsonObject): readonly string[] {
  const errors = labelErrors(nameOf(pod));
  if (errors.length === 0) return [];
  const why = "this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended";
  return [`metadata.name: ${why}: [${errors.join(" ")}]`];
}

/** Adds the values of `matchLabelKeys` and `mismatchLabelKeys` in the Pod's labels to the label selectors. */
function applyLabelKeys(spec: Draft, labels: JsonObject): void {
  const affinity = findDraft(spec, "affinity");
  for (const key of affinity === undefined ? [] : ["podAffinity", "podAntiAffinity"]) {
    for (const term of termsOf(findDraft(affinity ?? {}, key) ?? {})) {
      addKeys(term, "matchLabelKeys", "In", labels);
      addKeys(term, "mismatchLabelKeys", "NotIn", labels);
    }
  }
  for (const constraint of draftsAt(spec, "topologySpreadConstraints")) {
    addKeys(constraint, "matchLabelKeys", "In", labels);
  }
}

function termsOf(affinity: Draft): readonly Draft[] {
  const preferred = draftsAt(affinity, "preferredDuringSchedulingIgnoredDuringExecution");
  return [
    ...preferred.map((each) => findDraft(each, "podAffinityTerm")).filter((term) => term !== undefined),
    ...draftsAt(affinity, "requiredDuringSchedulingIgnoredDuringExecution"),
  ];
}

function addKeys(holder: Draft, key: string, operator: string, labels: JsonObject): void {
  const selector = findDraft(holder, "labelSelector");
  if (selector === undefined) return;
  const added = textsAt(holder, key).filter((name) => read(labels, name) !== undefined)
    .map((name): Draft => ({ key: name, operator, values: [textAt(labels, name)] }));
  if (added.length > 0) selector["matchExpressions"] = [...draftsAt(selector, "matchExpressions"), ...added];
}

const computes = ["cpu", "memory", "ephemeral-storage"];

const podResources: ReadonlySet<string> = new Set([
  "count/pods",
  "pods",
  ...computes.flatMap((name) => [name, `requests.${name}`, `limits.${name}`]),
]);

const required = ["cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"];

/** Matches requests of native resources; a quota can limit the requests of all other resources. */
const native = /^requests\.(cpu|memory|ephemeral-storage|storage|[^/]*|([^/]*\.)?kubernetes\.io\/.*)$/;

/** The quota meter of Pods: their number, requests and limits. */
export const podMeter: QuotaMeter = {
  usage(pod, now) {
    const counted: Amounts = new Map([["count/pods", "1"]]);
    if (!usesResources(pod, now)) return counted;
    const spec = objectAt(pod, "spec");
    const whole = objectAt(spec, "resources");
    const amounts = (key: "requests" | "limits") =>
      new Map([...aggregateResources(spec, key), ...textMapAt(whole, key)]);
    const overhead = textMapAt(spec, "overhead");
    const requests = addAmounts(amounts("requests"), overhead);
    const limits = amounts("limits");
    const overheadLimits = new Map([...overhead].filter(([name]) => limits.has(name)));
    return new Map([...counted, ...podUsage(requests, addAmounts(limits, overheadLimits))]);
  },
  measures: (resource) =>
    podResources.has(resource) || /^(requests\.)?hugepages-/.test(resource) ||
    (resource.startsWith("requests.") && !native.test(resource)),
  missingFieldsError(resources, pod) {
    const spec = objectAt(pod, "spec");
    if (has(spec, "resources")) return undefined;
    const limited = required.filter((name) => resources.includes(name)).sort();
    const lacking = new Map<string, Set<string>>();
    for (const container of [...objectsAt(spec, "containers"), ...objectsAt(spec, "initContainers")]) {
      const own = objectAt(container, "resources");
      const specified = podUsage(textMapAt(own, "requests"), textMapAt(own, "limits"));
      for (const name of limited.filter((each) => !specified.has(each))) {
        lacking.set(name, (lacking.get(name) ?? new Set()).add(textAt(container, "name")));
      }
    }
    if (lacking.size === 0) return undefined;
    const parts = limited.flatMap((name) => {
      const containers = lacking.get(name);
      return containers === undefined ? [] : [`${name} for: ${[...containers].sort().join(",")}`];
    });
    return `must specify ${parts.join("; ")}`;
  },
};

/** The usage under each name that a quota can limit. */
function podUsage(requests: Amounts, limits: Amounts): Amounts {
  const usage = new Map([["pods", "1"]]);
  for (const [name, amount] of requests) {
    if (computes.includes(name) || name.startsWith("hugepages-")) usage.set(name, amount);
    if (computes.includes(name) || name.startsWith("hugepages-") || name.includes("/")) {
      usage.set(`requests.${name}`, amount);
    }
  }
  for (const [name, amount] of limits) if (computes.includes(name)) usage.set(`limits.${name}`, amount);
  return usage;
}

/** A Pod that has finished, or whose grace period is over, uses nothing. */
function usesResources(pod: JsonObject, now: number): boolean {
  const phase = textAt(objectAt(pod, "status"), "phase");
  if (phase === "Failed" || phase === "Succeeded") return false;
  const metadata = objectAt(pod, "metadata");
  const at = textAt(metadata, "deletionTimestamp");
  const grace = findNumber(metadata, "deletionGracePeriodSeconds");
  return at === "" || grace === undefined || now <= Date.parse(at) + grace * 1000;
}
