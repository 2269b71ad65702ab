/** Reads an APIService: which version of a group it is for, and how another API server is reached that serves it. */
import type { Clock } from "../../async/mod.ts";
import { fromBase64 } from "../../runtime/mod.ts";
import { booleanAt, findObject, nameOf, numberAt, objectAt, objectsAt, textAt } from "../kinds/mod.ts";
import { draftOf, type JsonObject, StatusError } from "../model/mod.ts";
import { loopbackCall, type Registry, timestamp } from "../registry/mod.ts";
import type { ObjectStorage } from "../storage/mod.ts";

/** Where APIServices are stored. */
export const apiServices = "apiservices.apiregistration.k8s.io";

/** The Service of another API server. */
export interface ServiceReference {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
}

/** An APIService for a version of a group. */
export interface ApiService {
  /** `v1.example.com`. */
  readonly name: string;
  readonly group: string;
  readonly version: string;
  readonly groupPriority: number;
  readonly versionPriority: number;
  /** Undefined if this server itself serves the version. */
  readonly service: ServiceReference | undefined;
  /** PEM text of the authorities; "" for those of the system. */
  readonly ca: string;
  readonly isInsecure: boolean;
}

/** Reads an APIService. */
export function apiServiceOf(object: JsonObject): ApiService {
  const spec = objectAt(object, "spec");
  const service = findObject(spec, "service");
  const bundle = textAt(spec, "caBundle");
  return {
    name: nameOf(object),
    group: textAt(spec, "group"),
    version: textAt(spec, "version"),
    groupPriority: numberAt(spec, "groupPriorityMinimum"),
    versionPriority: numberAt(spec, "versionPriority"),
    service: service === undefined ? undefined : {
      namespace: textAt(service, "namespace"),
      name: textAt(service, "name"),
      port: numberAt(service, "port"),
    },
    ca: bundle === "" ? "" : new TextDecoder().decode(fromBase64(bundle)),
    isInsecure: booleanAt(spec, "insecureSkipTLSVerify"),
  };
}

/** The condition `Available`, without its time. */
export interface Availability {
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly message: string;
}

/** The condition of a version that this server serves itself. */
export const localAvailability: Availability = {
  status: "True",
  reason: "Local",
  message: "Local APIServices are always available",
};

/** True when the condition `Available` is. */
export function isAvailable(object: JsonObject): boolean {
  return conditionsOf(object).some((one) => textAt(one, "type") === "Available" && textAt(one, "status") === "True");
}

function conditionsOf(object: JsonObject): readonly JsonObject[] {
  return objectsAt(objectAt(object, "status"), "conditions");
}

/** The object with a condition; its time changes only with its status. @returns undefined if it has the condition */
function withAvailability(object: JsonObject, next: Availability, now: string): JsonObject | undefined {
  const conditions = conditionsOf(object);
  const known = conditions.find((one) => textAt(one, "type") === "Available");
  const isSameStatus = known !== undefined && textAt(known, "status") === next.status;
  const lastTransitionTime = isSameStatus ? textAt(known, "lastTransitionTime") : now;
  if (isSameStatus && textAt(known, "reason") === next.reason && textAt(known, "message") === next.message) {
    return undefined;
  }
  const changed = { ...known, type: "Available", lastTransitionTime, ...next };
  const all = known === undefined ? [...conditions, changed] : conditions.map((one) => one === known ? changed : one);
  return { ...object, status: { ...objectAt(object, "status"), conditions: all } };
}

/** What a write of a condition needs. */
export interface ConditionWriter {
  readonly storage: ObjectStorage;
  readonly registry: () => Registry;
  readonly clock: Clock;
}

/** Writes the condition of an APIService, as a request of the server itself. */
export async function writeAvailability(name: string, next: Availability, writer: ConditionWriter): Promise<void> {
  const { storage, clock } = writer;
  const registry = writer.registry();
  const known = registry.kinds.find("apiregistration.k8s.io", "v1", "apiservices");
  for (let tries = 0; tries < 5 && known !== undefined; tries++) {
    const live = storage.get(apiServices, "", name);
    const changed = live && withAvailability(live, next, timestamp(clock.now()));
    if (changed === undefined) return;
    try {
      await registry.put(loopbackCall(known, { subresource: "status" }), name, () => draftOf(changed));
      return;
    } catch (error) {
      // Another one has written it, or it is gone: then nothing is to be written.
      if (!(error instanceof StatusError) || ![404, 409].includes(error.status.code)) throw error;
    }
  }
}
