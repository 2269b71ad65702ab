/**
 * PodSecurity: a namespace refuses Pods that are less secure than its labels say, and warns of templates that would be
 * refused. Source: k8s.io/pod-security-admission `admission` of 1.36.
 *
 * The rules are those of 1.36 whatever version a label names; what a new label would mean for the Pods that are there is
 * not looked at.
 */
import { findObject, objectAt, objectsAt, textAt, textMapAt } from "../kinds/mod.ts";
import { type AdmissionPlugin, invalid, type JsonObject, type ObjectReader } from "../model/mod.ts";
import { metadataText, readMetadata } from "../registry/mod.ts";
import { policyOf, type SecurityPolicy, violationsOf } from "../pod_security/mod.ts";
import { refused } from "./_request.ts";

/** The parts of a Pod that can make it less secure; the rest is about Pods that run already. */
const parts: ReadonlySet<string> = new Set(["", "ephemeralcontainers", "resize"]);

/** The plugin, for Pods. */
export function podSecurity(objects: ObjectReader): AdmissionPlugin {
  return {
    name: "PodSecurity",
    validate(request) {
      const { object, oldObject, subresource, namespace } = request;
      if (object === undefined || !parts.has(subresource)) return;
      if (oldObject !== undefined && !isNewImage(object, oldObject)) return;
      const policy = policyIn(objects, namespace);
      if (policy === undefined) return;
      const violations = violationsOf(object, policy.enforce);
      if (violations !== undefined) throw refused(request, `violates ${violations}`);
      const warned = violationsOf(object, policy.warn);
      if (warned !== undefined) request.warn(`would violate ${warned}`);
    },
  };
}

/** The plugin, for what makes Pods: it is warned, never refused. */
export function templateSecurity(objects: ObjectReader): AdmissionPlugin {
  return {
    name: "PodSecurity",
    validate(request) {
      const { object, subresource, namespace } = request;
      const template = object === undefined || subresource !== "" ? undefined : templateOf(object);
      const policy = template === undefined ? undefined : policyIn(objects, namespace);
      if (template === undefined || policy === undefined) return;
      const warned = violationsOf(template, policy.warn);
      if (warned !== undefined) request.warn(`would violate ${warned}`);
    },
  };
}

/** The plugin, for Namespaces: their labels mean something. */
export const namespaceSecurity: AdmissionPlugin = {
  name: "PodSecurity",
  validate({ object, oldObject, subresource, kind }) {
    if (object === undefined || subresource !== "") return;
    const { errors } = policyOf(textMapAt(readMetadata(object), "labels"));
    const before = textMapAt(readMetadata(oldObject ?? {}), "labels");
    const fresh = errors.filter(({ label, value }) => before.get(label) !== value);
    if (fresh.length === 0) return;
    throw invalid(
      { group: kind.group, resource: kind.kind, name: metadataText(object, "name") },
      fresh.map(({ label, value, detail }) => ({ type: "Invalid", field: `metadata.labels[${label}]`, value, detail })),
    );
  },
};

/** Undefined for a namespace without any such label, which is nearly all of them. */
function policyIn(objects: ObjectReader, namespace: string): SecurityPolicy | undefined {
  const found = objects.get("namespaces", "", namespace);
  const labels = found === undefined ? {} : objectAt(readMetadata(found), "labels");
  for (const label in labels) {
    if (label.startsWith("pod-security.")) return policyOf(textMapAt(readMetadata(found ?? {}), "labels"));
  }
  return undefined;
}

function templateOf(object: JsonObject): JsonObject | undefined {
  const spec = objectAt(object, "spec");
  const job = findObject(spec, "jobTemplate");
  return findObject(object, "template") ?? findObject(job === undefined ? spec : objectAt(job, "spec"), "template");
}

/** Of a Pod that is there only images and further containers can change. */
function isNewImage(pod: JsonObject, old: JsonObject): boolean {
  return ["containers", "initContainers", "ephemeralContainers"].some((list) => {
    const images = (object: JsonObject) =>
      objectsAt(objectAt(object, "spec"), list).map((container) =>
        `${textAt(container, "name")} ${textAt(container, "image")}`
      );
    const before = images(old);
    const now = images(pod);
    return now.length !== before.length || now.some((image) => !before.includes(image));
  });
}
