/**
 * LimitRanger: sets the defaults of a namespace's LimitRanges for containers without requests or limits, and rejects Pods and
 * claims beyond their bounds. Source: kubernetes `plugin/pkg/admission/limitranger` of 1.36.
 */
import {
  aggregateResources,
  type Amounts,
  compareQuantities,
  draftAt,
  draftsAt,
  has,
  objectAt,
  objectsAt,
  parseQuantity,
  textAt,
  textMapAt,
} from "../kinds/mod.ts";
import type { AdmissionPlugin, AdmissionRequest, Draft, JsonObject, ObjectReader } from "../model/mod.ts";
import { readMetadata } from "../registry/mod.ts";
import { forbiddenError } from "./_request.ts";

const annotation = "kubernetes.io/limit-ranger";

/** The plugin for Pods and PersistentVolumeClaims. */
export function limitRanges(objects: ObjectReader): AdmissionPlugin {
  return {
    name: "LimitRanger",
    admit(request) {
      if (request.object === undefined || request.kind.collection !== "pods" || !isLimited(request)) return;
      for (const range of objects.list("limitranges", request.namespace)) setResourceDefaults(request.object, range);
    },
    validate(request) {
      const { object, kind, namespace } = request;
      if (object === undefined || !isLimited(request)) return;
      for (const range of objects.list("limitranges", namespace)) {
        const errors = kind.collection === "pods" ? podErrors(range, object) : claimErrors(range, object);
        const unique = [...new Set(errors)];
        if (unique.length === 1) throw forbiddenError(request, `${unique[0]}`);
        if (unique.length > 1) throw forbiddenError(request, `[${unique.join(", ")}]`);
      }
    },
  };
}

function isLimited({ operation, subresource, kind, oldObject }: AdmissionRequest): boolean {
  if (operation !== "CREATE" && operation !== "UPDATE") return false;
  if (oldObject !== undefined && has(readMetadata(oldObject), "deletionTimestamp")) return false;
  if (kind.collection !== "pods") return subresource === "";
  // Later only a resize can change resources.
  return operation === "CREATE" ? subresource === "" : subresource === "resize";
}

function limitsOf(range: JsonObject, type: string): readonly JsonObject[] {
  return objectsAt(objectAt(range, "spec"), "limits").filter((limit) => textAt(limit, "type") === type);
}

/** Sets default requests and limits of containers, and records them in an annotation. */
function setResourceDefaults(pod: Draft, range: JsonObject): void {
  const limits = limitsOf(range, "Container");
  const [defaultRequests, defaultLimits] = [merged(limits, "defaultRequest"), merged(limits, "default")];
  const changes: string[] = [];
  const spec = draftAt(pod, "spec");
  for (const [title, list] of [["container", "containers"], ["init container", "initContainers"]] as const) {
    for (const container of draftsAt(spec, list)) {
      const where = `for ${title} ${textAt(container, "name")}`;
      const resources = draftAt(container, "resources");
      const limited = addMissing(resources, "limits", defaultLimits);
      const requested = addMissing(resources, "requests", defaultRequests);
      if (requested.length > 0) changes.push(`${requested.join(", ")} request ${where}`);
      if (limited.length > 0) changes.push(`${limited.join(", ")} limit ${where}`);
    }
  }
  if (changes.length === 0) return;
  draftAt(draftAt(pod, "metadata"), "annotations")[annotation] = `LimitRanger plugin set: ${changes.join("; ")}`;
}

function merged(limits: readonly JsonObject[], key: string): Amounts {
  return new Map(limits.flatMap((limit) => [...textMapAt(limit, key)]));
}

function addMissing(resources: Draft, key: "limits" | "requests", amounts: Amounts): readonly string[] {
  const held = textMapAt(resources, key);
  const names = [...amounts.keys()].filter((name) => !held.has(name)).sort();
  if (names.length === 0) return names;
  const target = draftAt(resources, key);
  for (const name of names) target[name] = amounts.get(name) ?? "0";
  return names;
}

function podErrors(range: JsonObject, pod: JsonObject): readonly string[] {
  const spec = objectAt(pod, "spec");
  const containers = [...objectsAt(spec, "containers"), ...objectsAt(spec, "initContainers")];
  const ofContainers = limitsOf(range, "Container").flatMap((limit) =>
    containers.flatMap((container) => {
      const resources = objectAt(container, "resources");
      return bounds("Container", limit, textMapAt(resources, "requests"), textMapAt(resources, "limits"));
    })
  );
  const ofPod = limitsOf(range, "Pod").flatMap((limit) => {
    const whole = objectAt(spec, "resources");
    const amounts = (key: "requests" | "limits") =>
      new Map([...aggregateResources(spec, key), ...textMapAt(whole, key)]);
    return bounds("Pod", limit, amounts("requests"), amounts("limits"));
  });
  return [...ofContainers, ...ofPod];
}

function bounds(type: string, limit: JsonObject, requests: Amounts, limits: Amounts): readonly string[] {
  const each = (key: string, check: (name: string, bound: string) => string | undefined) =>
    [...textMapAt(limit, key)].toSorted().map(([name, bound]) => check(name, bound)).filter((text) =>
      text !== undefined
    );
  return [
    ...each("min", (name, bound) => belowMinimum({ type, name, bound }, requests.get(name), limits.get(name))),
    ...each("max", (name, bound) => aboveMaximum({ type, name, bound }, requests.get(name), limits.get(name))),
    ...each(
      "maxLimitRequestRatio",
      (name, bound) => aboveRatio({ type, name, bound }, requests.get(name), limits.get(name)),
    ),
  ];
}

/** One bound of one resource. */
interface Bound {
  readonly type: string;
  readonly name: string;
  readonly bound: string;
}

function belowMinimum({ type, name, bound }: Bound, request?: string, limit?: string): string | undefined {
  const title = `minimum ${name} usage per ${type} is ${bound}`;
  if (request === undefined) return `${title}.  No request is specified`;
  if (compareQuantities(request, bound) < 0) return `${title}, but request is ${request}`;
  if (limit !== undefined && compareQuantities(limit, bound) < 0) return `${title}, but limit is ${limit}`;
  return undefined;
}

function aboveMaximum({ type, name, bound }: Bound, request?: string, limit?: string): string | undefined {
  const title = `maximum ${name} usage per ${type} is ${bound}`;
  if (limit === undefined) return `${title}.  No limit is specified`;
  if (compareQuantities(limit, bound) > 0) return `${title}, but limit is ${limit}`;
  if (request !== undefined && compareQuantities(request, bound) > 0) return `${title}, but request is ${request}`;
  return undefined;
}

function aboveRatio({ type, name, bound }: Bound, request?: string, limit?: string): string | undefined {
  const title = `${name} max limit to request ratio per ${type} is ${bound}`;
  const amount = (text: string | undefined) => text === undefined ? 0 : Number(parseQuantity(text).nano);
  if (amount(request) === 0) return `${title}, but no request is specified or request is 0`;
  if (amount(limit) === 0) return `${title}, but no limit is specified or limit is 0`;
  const ratio = amount(limit) / amount(request);
  return ratio > amount(bound) / 1e9 ? `${title}, but provided ratio is ${ratio.toFixed(6)}` : undefined;
}

/** Only the requests of a claim are limited. */
function claimErrors(range: JsonObject, claim: JsonObject): readonly string[] {
  const requests = textMapAt(objectAt(objectAt(claim, "spec"), "resources"), "requests");
  return limitsOf(range, "PersistentVolumeClaim").flatMap((limit) => {
    const below = [...textMapAt(limit, "min")].toSorted()
      .map(([name, bound]) => belowMinimum({ type: "PersistentVolumeClaim", name, bound }, requests.get(name)));
    const above = [...textMapAt(limit, "max")].toSorted().map(([name, bound]) => {
      const request = requests.get(name);
      const title = `maximum ${name} usage per PersistentVolumeClaim is ${bound}`;
      if (request === undefined) return `${title}.  No request is specified`;
      return compareQuantities(request, bound) > 0 ? `${title}, but request is ${request}` : undefined;
    });
    return [...below, ...above].filter((text) => text !== undefined);
  });
}
