/** The rows of what a cluster itself is made of: storage, scheduling, leases, flow control, devices, APIs. */
import { findObject, nameOf, objectAt, objectsAt, textAt } from "../kinds/mod.ts";
import { type Json, type JsonObject, read } from "../model/mod.ts";
import { age, count, createdAt, flag, integer, integerOr, joined, name, row, type Rows, text } from "./_cells.ts";
import { annotationOf, conditionOf, isDeleted } from "./_values.ts";

const storage = "storage.k8s.io";
const resource = "resource.k8s.io";
const flowcontrol = "flowcontrol.apiserver.k8s.io";
const queuing = "spec.limited.limitResponse.queuing";

export const systemRows: Rows = {
  [`csidrivers.${storage}`]: row(
    name,
    flag("spec.attachRequired", true),
    flag("spec.podInfoOnMount"),
    flag("spec.storageCapacity"),
    tokenRequests,
    flag("spec.requiresRepublish"),
    joined("spec.volumeLifecycleModes", "<none>"),
    age,
  ),
  [`csinodes.${storage}`]: row(name, count("spec.drivers"), age),
  [`csistoragecapacities.${storage}`]: row(name, createdAt),
  [`storageclasses.${storage}`]: row(
    storageClassName,
    text("provisioner"),
    text("reclaimPolicy", "Delete"),
    text("volumeBindingMode", "Immediate"),
    flag("allowVolumeExpansion"),
    age,
  ),
  [`volumeattachments.${storage}`]: row(
    name,
    text("spec.attacher"),
    text("spec.source.persistentVolumeName"),
    text("spec.nodeName"),
    flag("status.attached"),
    age,
  ),
  [`volumeattributesclasses.${storage}`]: row(name, text("driverName"), age),
  "apiservices.apiregistration.k8s.io": row(name, apiServiceTarget, apiServiceState, age),
  "customresourcedefinitions.apiextensions.k8s.io": row(name, createdAt),
  "leases.coordination.k8s.io": row(name, text("spec.holderIdentity"), age),
  "priorityclasses.scheduling.k8s.io": row(
    name,
    integer("value"),
    flag("globalDefault"),
    age,
    text("preemptionPolicy"),
  ),
  "runtimeclasses.node.k8s.io": row(name, text("handler"), age),
  [`deviceclasses.${resource}`]: row(name, age),
  [`resourceclaims.${resource}`]: row(name, claimState, age),
  [`resourceclaimtemplates.${resource}`]: row(name, age),
  [`resourceslices.${resource}`]: row(name, text("spec.nodeName"), text("spec.driver"), text("spec.pool.name"), age),
  [`flowschemas.${flowcontrol}`]: row(
    name,
    text("spec.priorityLevelConfiguration.name"),
    integer("spec.matchingPrecedence"),
    text("spec.distinguisherMethod.type", "<none>"),
    age,
    missingLevel,
  ),
  [`prioritylevelconfigurations.${flowcontrol}`]: row(
    name,
    text("spec.type"),
    integerOr("spec.limited.nominalConcurrencyShares", "<none>"),
    integerOr(`${queuing}.queues`, "<none>"),
    integerOr(`${queuing}.handSize`, "<none>"),
    integerOr(`${queuing}.queueLengthLimit`, "<none>"),
    age,
  ),
};

function tokenRequests(object: JsonObject): Json {
  const spec = objectAt(object, "spec");
  if (read(spec, "tokenRequests") === undefined) return "<unset>";
  return objectsAt(spec, "tokenRequests").map((request) => textAt(request, "audience")).join(",");
}

const defaultClass = [
  "storageclass.kubernetes.io/is-default-class",
  "storageclass.beta.kubernetes.io/is-default-class",
];

function storageClassName(object: JsonObject): Json {
  const isDefault = defaultClass.some((annotation) => annotationOf(object, annotation) === "true");
  return isDefault ? `${nameOf(object)} (default)` : nameOf(object);
}

function apiServiceTarget(object: JsonObject): Json {
  const service = findObject(objectAt(object, "spec"), "service");
  return service === undefined ? "Local" : `${textAt(service, "namespace")}/${textAt(service, "name")}`;
}

function apiServiceState(object: JsonObject): Json {
  const available = conditionOf(objectAt(object, "status"), "Available");
  if (available === undefined) return "Unknown";
  const [status, reason] = [textAt(available, "status"), textAt(available, "reason")];
  return status === "True" || reason === "" ? status : `${status} (${reason})`;
}

function claimState(object: JsonObject): Json {
  const status = objectAt(object, "status");
  const isAllocated = findObject(status, "allocation") !== undefined;
  const states = isDeleted(object) ? ["deleted"] : isAllocated ? [] : ["pending"];
  if (isAllocated) states.push("allocated");
  if (isAllocated && objectsAt(status, "reservedFor").length > 0) states.push("reserved");
  return states.join(",");
}

function missingLevel(object: JsonObject): Json {
  const dangling = conditionOf(objectAt(object, "status"), "Dangling");
  return dangling === undefined ? "?" : textAt(dangling, "status");
}
