/**
 * createDefaultObjects(): the objects that kube-apiserver creates when it starts: roles and bindings, priority classes,
 * APIServices, the configuration of flow control, and the range of the cluster IPs. Objects that exist stay as they are.
 */
import type { Clock, Random } from "../../async/mod.ts";
import { bootstrapRbac } from "../access/mod.ts";
import { serviceCidr, systemPriorityClasses } from "../kinds/mod.ts";
import { isJsonObject, type JsonObject } from "../model/mod.ts";
import { priorityCollection } from "../plugins/mod.ts";
import { newUid, timestamp } from "../registry/mod.ts";
import type { ObjectStorage } from "../storage/mod.ts";
import { defaultObjectsText } from "./generated/default_objects_data.ts";

/** The source of what a server adds to a new object. */
export interface SystemSources {
  readonly clock: Clock;
  readonly random: Random;
}

interface DefaultObject extends JsonObject {
  readonly kind: string;
  readonly metadata: JsonObject & { readonly name: string };
}

const collections: Readonly<Record<string, string>> = {
  APIService: "apiservices.apiregistration.k8s.io",
  FlowSchema: "flowschemas.flowcontrol.apiserver.k8s.io",
  PriorityLevelConfiguration: "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io",
};

/** Creates the objects that are missing. */
export function createDefaultObjects(storage: ObjectStorage, sources: SystemSources): void {
  const now = timestamp(sources.clock.now());
  const system = () => systemMetadata(sources);
  for (const [collection, object] of bootstrapRbac(system)) {
    storage.create(collection, object.metadata.namespace ?? "", object.metadata.name, object);
  }
  for (const { name, object } of systemPriorityClasses(system)) storage.create(priorityCollection, "", name, object);
  const objects: readonly DefaultObject[] = JSON.parse(defaultObjectsText);
  for (const { kind, metadata, ...rest } of objects) {
    const created = { kind, ...withTimes(rest, now), metadata: { ...metadata, ...system() } };
    storage.create(collections[kind] ?? "", "", metadata.name, created);
  }
  storage.create("servicecidrs.networking.k8s.io", "", "kubernetes", serviceCidrObject(now, system()));
}

/** The metadata of a new object. */
export function systemMetadata({ clock, random }: SystemSources): JsonObject {
  return { uid: newUid(random), creationTimestamp: timestamp(clock.now()) };
}

/** The object with the time of its conditions. */
function withTimes(object: JsonObject, now: string): JsonObject {
  const { status } = object;
  if (!isJsonObject(status) || !Array.isArray(status["conditions"])) return object;
  const conditions = status["conditions"].filter(isJsonObject).map((one) => ({ lastTransitionTime: now, ...one }));
  return { ...object, status: { ...status, conditions } };
}

function serviceCidrObject(now: string, system: JsonObject): JsonObject {
  const message = "Kubernetes Service CIDR is ready";
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "ServiceCIDR",
    metadata: { name: "kubernetes", finalizers: ["networking.k8s.io/service-cidr-finalizer"], ...system },
    spec: { cidrs: [serviceCidr] },
    status: { conditions: [{ type: "Ready", status: "True", lastTransitionTime: now, reason: "", message }] },
  };
}
