/**
 * PodSecurity: rejects Pods that violate the level of their namespace's labels, and warns about templates whose Pods would be
 * rejected. Source: k8s.io/pod-security-admission `admission` and `api` of 1.36.
 *
 * Caveats: the checks are those of 1.36, whatever version a label names; existing Pods are not checked when a label changes.
 */
import { findObject, objectAt, objectsAt, textAt, textMapAt } from "../kinds/mod.ts";
import { type AdmissionPlugin, goQuote, invalid, type JsonObject, type ObjectReader } from "../model/mod.ts";
import { metadataText, readMetadata } from "../registry/mod.ts";
import { forbiddenError } from "./_request.ts";
import { baseline, restricted, viewOf } from "./pod_security_checks.ts";

/** The subresources that can make a Pod less secure. */
const parts: ReadonlySet<string> = new Set(["", "ephemeralcontainers", "resize"]);

/** The plugin for Pods. */
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
      if (violations !== undefined) throw forbiddenError(request, `violates ${violations}`);
      const warned = violationsOf(object, policy.warn);
      if (warned !== undefined) request.warn(`would violate ${warned}`);
    },
  };
}

/** The plugin for workloads, which are warned about, never rejected. */
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

/** The plugin for Namespaces: checks their labels. */
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

/** The policy of a namespace; undefined for a namespace without such labels. */
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

/** True when an update changes images or adds containers, which is all that can make an existing Pod less secure. */
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

/** The levels, from the least strict to the strictest. */
export type Level = "privileged" | "baseline" | "restricted";

/** A level, and the version of its checks. */
interface LeveledVersion {
  readonly level: Level;
  /** `latest` or `v1.25`. It is only shown: the checks are always those of 1.36. */
  readonly version: string;
}

/** The levels of a namespace. */
interface SecurityPolicy {
  readonly enforce: LeveledVersion;
  readonly warn: LeveledVersion;
  /** Invalid labels, with their errors. */
  readonly errors: readonly { readonly label: string; readonly value: string; readonly detail: string }[];
}

const prefix = "pod-security.kubernetes.io/";
const levels: readonly Level[] = ["privileged", "baseline", "restricted"];

/** Reads the labels of a namespace. */
export function policyOf(labels: ReadonlyMap<string, string>): SecurityPolicy {
  const errors: { label: string; value: string; detail: string }[] = [];
  const read = (mode: string, otherwise: Level): { level: Level; isSet: boolean } => {
    const value = labels.get(`${prefix}${mode}`);
    if (value === undefined) return { level: "privileged", isSet: false };
    const level = levels.find((each) => each === value);
    if (level !== undefined) return { level, isSet: true };
    errors.push({ label: `${prefix}${mode}`, value, detail: `must be one of ${levels.join(", ")}` });
    return { level: otherwise, isSet: mode === "warn" };
  };
  const readVersion = (mode: string): string => {
    const value = labels.get(`${prefix}${mode}-version`);
    if (value === undefined || value === "latest" || /^v1\.(0|[1-9]\d*)$/.test(value)) return value ?? "latest";
    errors.push({ label: `${prefix}${mode}-version`, value, detail: 'must be "latest" or "v1.x"' });
    return "latest";
  };
  const [enforce, enforceVersion] = [read("enforce", "restricted"), readVersion("enforce")];
  read("audit", "privileged");
  readVersion("audit");
  const [warn, warnVersion] = [read("warn", "privileged"), readVersion("warn")];
  // Without a label for warnings, templates are warned about as Pods are rejected.
  const isTaken = !warn.isSet && enforce.isSet;
  const hasOwnVersion = labels.has(`${prefix}warn-version`);
  return {
    enforce: { level: enforce.level, version: enforceVersion },
    warn: {
      level: isTaken ? enforce.level : warn.level,
      version: isTaken && !hasOwnVersion ? enforceVersion : warnVersion,
    },
    errors,
  };
}

/** A quoted policy, e.g. `restricted:latest`. */
function shownPolicy({ level, version }: LeveledVersion): string {
  return goQuote(`${level}:${version}`);
}

/**
 * @param pod a Pod, or the template of one
 * @returns `PodSecurity "baseline:latest": privileged (container "a" must not ...)`; undefined when it is allowed
 */
export function violationsOf(pod: JsonObject, policy: LeveledVersion): string | undefined {
  if (policy.level === "privileged") return undefined;
  const view = viewOf(pod);
  const found = (policy.level === "baseline" ? baseline : restricted).map((check) => check(view))
    .filter((violation) => violation !== undefined);
  if (found.length === 0) return undefined;
  return `PodSecurity ${shownPolicy(policy)}: ${found.map(({ reason, detail }) => `${reason} (${detail})`).join(", ")}`;
}
