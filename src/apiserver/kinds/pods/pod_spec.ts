/**
 * Rules of the specs of Pods, in Pods and in the templates of workloads; and the fields that are dropped since their feature
 * gates are off in Kubernetes 1.36.
 */
import { type Draft, type JsonObject, labelKeyErrors, read } from "../../model/mod.ts";
import {
  checkAnnotations,
  checkLabels,
  type FieldPath,
  ipErrors,
  labelErrors,
  maxInt32,
  type Problems,
  rangeErrors,
  subdomainErrors,
} from "../rules/mod.ts";
import {
  booleanAt,
  draftAt,
  draftsAt,
  findDraft,
  findNumber,
  findObject,
  has,
  metadataOf,
  objectAt,
  objectsAt,
  textAt,
  textMapAt,
  textsAt,
} from "../types/mod.ts";
import { checkContainers, checkEphemeralContainers, checkHostNetworkPorts, checkInitContainers } from "./containers.ts";
import { containersOf } from "./pod_containers.ts";
import { checkPodResources, checkResourceRequirements } from "./resources.ts";
import { checkAffinity, checkSpreading, checkTolerations } from "./scheduling.ts";
import { checkOs, checkPodSecurity } from "./security.ts";
import { checkVolumes } from "./volumes.ts";

const restartPolicies = ["Always", "OnFailure", "Never"];
const dnsPolicies = ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"];
const maxNameservers = 3;
const maxSearches = 32;
const maxSearchesLength = 2_048;
const maxHostnameLength = 64;
const searchPattern = /^_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*$/;

/** Where the spec is. */
export interface PodSpecOptions {
  readonly isPod: boolean;
  /** The name of the Pod; "" for a template. */
  readonly podName: string;
  /** True when the old object has a selector with an invalid label value. */
  readonly allowsInvalidValues: boolean;
}

/** The options for the spec of a template. */
const templateOptions: PodSpecOptions = { isPod: false, podName: "", allowsInvalidValues: false };

/** Checks a Pod template: labels, annotations and spec. */
export function checkPodTemplate(template: JsonObject, path: FieldPath, problems: Problems): void {
  const metadata = metadataOf(template);
  checkLabels(metadata, "labels", path.child("labels"), problems);
  checkAnnotations(metadata, "annotations", path.child("annotations"), problems);
  const spec = objectAt(template, "spec");
  checkPodAnnotations(metadata, spec, path.child("annotations"), problems);
  checkPodSpec(spec, templateOptions, path.child("spec"), problems);
  if (objectsAt(spec, "ephemeralContainers").length > 0) {
    problems.forbidden(path.child("spec", "ephemeralContainers"), "ephemeral containers not allowed in pod template");
  }
}

/** Checks the annotations that have a meaning for Pods. */
export function checkPodAnnotations(metadata: JsonObject, spec: JsonObject, path: FieldPath, problems: Problems): void {
  const annotations = textMapAt(metadata, "annotations");
  const [mirror, cost] = ["kubernetes.io/config.mirror", "controller.kubernetes.io/pod-deletion-cost"];
  const mirrored = annotations.get(mirror);
  if (mirrored !== undefined && textAt(spec, "nodeName") === "") {
    problems.invalid(path.key(mirror), mirrored, "must set spec.nodeName if mirror pod annotation is set");
  }
  const price = annotations.get(cost);
  if (price === undefined) return;
  const isRight = /^(?:0|-?[1-9]\d*)$/.test(price) && Math.abs(Number(price)) <= maxInt32;
  if (!isRight) problems.invalid(path.key(cost), price, "must be a 32bit integer");
}

/** Checks the spec of a Pod or of a template. */
export function checkPodSpec(spec: JsonObject, options: PodSpecOptions, path: FieldPath, problems: Problems): void {
  if (!has(spec, "terminationGracePeriodSeconds")) problems.required(path.child("terminationGracePeriodSeconds"));
  const volumes = checkVolumes(spec, options, path.child("volumes"), problems);
  const context = { spec, volumes };
  checkResourceClaims(spec, path.child("resourceClaims"), problems);
  checkContainers(context, path.child("containers"), problems);
  checkInitContainers(context, path.child("initContainers"), problems);
  checkEphemeralContainers(context, path.child("ephemeralContainers"), problems);
  checkPodResources(spec, path.child("resources"), problems);
  checkHostNetworkPorts(spec, options.isPod, path, problems);
  checkPolicy(spec, "restartPolicy", restartPolicies, path, problems);
  checkPolicy(spec, "dnsPolicy", dnsPolicies, path, problems);
  checkLabels(spec, "nodeSelector", path.child("nodeSelector"), problems);
  checkPodSecurity(spec, path, problems);
  const affinity = findObject(spec, "affinity");
  if (affinity !== undefined) checkAffinity(affinity, options.allowsInvalidValues, path.child("affinity"), problems);
  checkDns(spec, path.child("dnsConfig"), problems);
  checkGates(spec, path, problems);
  checkSpreading(spec, path.child("topologySpreadConstraints"), problems);
  checkHostUsers(spec, path, problems);
  checkHostname(spec, path, problems);
  checkNames(spec, path, problems);
  checkDeadline(spec, path.child("activeDeadlineSeconds"), problems);
  checkTolerations(objectsAt(spec, "tolerations"), path.child("tolerations"), problems);
  checkHostAliases(spec, path.child("hostAliases"), problems);
  checkOverhead(spec, path.child("overhead"), problems);
  checkOs(spec, path, problems);
  checkFileKeys(spec, path, problems);
}

function checkPolicy(
  spec: JsonObject,
  key: string,
  known: readonly string[],
  path: FieldPath,
  problems: Problems,
): void {
  const value = textAt(spec, key);
  if (value === "") problems.required(path.child(key));
  else if (!known.includes(value)) problems.notSupported(path.child(key), value, known);
}

function checkResourceClaims(spec: JsonObject, path: FieldPath, problems: Problems): void {
  const seen = new Set<string>();
  objectsAt(spec, "resourceClaims").forEach((claim, index) => {
    const name = textAt(claim, "name");
    const place = path.index(index);
    if (name === "") problems.required(place.child("name"));
    else if (seen.has(name)) problems.duplicate(place.child("name"), name);
    else problems.invalidAll(place.child("name"), name, labelErrors(name));
    seen.add(name);
    const given = ["resourceClaimName", "resourceClaimTemplateName"].filter((key) => has(claim, key));
    const which = "`resourceClaimName`, `resourceClaimTemplateName`";
    const both = "`resourceClaimName` or `resourceClaimTemplateName`";
    if (given.length > 1) problems.invalidStruct(place, shownClaim(claim), `at most one of ${both} may be specified`);
    if (given.length === 0) problems.invalidStruct(place, shownClaim(claim), `must specify one of: ${which}`);
    for (const key of given) {
      problems.invalidAll(place.child(key), textAt(claim, key), subdomainErrors(textAt(claim, key)));
    }
  });
}

function shownClaim(claim: JsonObject): JsonObject {
  return {
    Name: textAt(claim, "name"),
    ResourceClaimName: read(claim, "resourceClaimName") ?? null,
    ResourceClaimTemplateName: read(claim, "resourceClaimTemplateName") ?? null,
  };
}

function checkOverhead(spec: JsonObject, path: FieldPath, problems: Problems): void {
  const overhead = findObject(spec, "overhead");
  if (overhead !== undefined) checkResourceRequirements({ limits: overhead }, path, problems);
}

function checkDns(spec: JsonObject, path: FieldPath, problems: Problems): void {
  const config = findObject(spec, "dnsConfig");
  const servers = textsAt(config ?? {}, "nameservers");
  if (textAt(spec, "dnsPolicy") === "None") {
    if (config === undefined) return problems.required(path, "must provide `dnsConfig` when `dnsPolicy` is None");
    const why = "must provide at least one DNS nameserver when `dnsPolicy` is None";
    if (servers.length === 0) return problems.required(path.child("nameservers"), why);
  }
  if (config === undefined) return;
  if (servers.length > maxNameservers) {
    problems.invalid(path.child("nameservers"), servers, `must not have more than ${maxNameservers} nameservers`);
  }
  servers.forEach((ip, index) => problems.invalidAll(path.child("nameservers").index(index), ip, ipErrors(ip)));
  checkSearches(textsAt(config, "searches"), path.child("searches"), problems);
  objectsAt(config, "options").forEach((option, index) => {
    if (textAt(option, "name") === "") problems.required(path.child("options").index(index), "must not be empty");
  });
}

function checkSearches(searches: readonly string[], path: FieldPath, problems: Problems): void {
  if (searches.length > maxSearches) {
    problems.invalid(path, searches, `must not have more than ${maxSearches} search paths`);
  }
  if (searches.join(" ").length > maxSearchesLength) {
    const why = `must not have more than ${maxSearchesLength} characters (including spaces) in the search list`;
    problems.invalid(path, searches, why);
  }
  searches.forEach((search, index) => {
    const name = search === "." ? "a" : search.replace(/\.$/, "");
    if (searchPattern.test(name)) return;
    const label = "_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?";
    const why =
      "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and " +
      "must start and end with an alphanumeric character";
    const pattern = `${label}(\\.${label})*`;
    problems.invalid(path.index(index), name, `${why} (e.g. 'example.com', regex used for validation is '${pattern}')`);
  });
}

function checkGates(spec: JsonObject, path: FieldPath, problems: Problems): void {
  objectsAt(spec, "readinessGates").forEach((gate, index) => {
    const type = textAt(gate, "conditionType");
    problems.invalidAll(path.child("readinessGates").index(index).child("conditionType"), type, labelKeyErrors(type));
  });
  const seen = new Set<string>();
  objectsAt(spec, "schedulingGates").forEach((gate, index) => {
    const name = textAt(gate, "name");
    const place = path.child("schedulingGates").index(index);
    problems.invalidAll(place, name, labelKeyErrors(name));
    if (seen.has(name)) problems.duplicate(place, name);
    seen.add(name);
  });
}

function checkHostUsers(spec: JsonObject, path: FieldPath, problems: Problems): void {
  if (read(spec, "hostUsers") !== false) return;
  const why = "when `hostUsers` is false";
  if (booleanAt(spec, "hostNetwork")) problems.forbidden(path.child("hostNetwork"), why);
  if (booleanAt(spec, "hostPID")) problems.forbidden(path.child("HostPID"), why);
  if (booleanAt(spec, "hostIPC")) problems.forbidden(path.child("HostIPC"), why);
  for (const { container, path: place } of containersOf(spec, path)) {
    if (objectsAt(container, "volumeDevices").length > 0) problems.forbidden(place.child("volumeDevices"), why);
  }
}

function checkHostname(spec: JsonObject, path: FieldPath, problems: Problems): void {
  for (const key of ["hostname", "subdomain"]) {
    const name = textAt(spec, key);
    if (name !== "") problems.invalidAll(path.child(key), name, labelErrors(name));
  }
  if (!has(spec, "hostnameOverride")) return;
  const [name, place] = [textAt(spec, "hostnameOverride"), path.child("hostnameOverride")];
  if (booleanAt(spec, "setHostnameAsFQDN")) {
    problems.forbidden(place, "may not be specified when setHostnameAsFQDN is true");
  }
  if (booleanAt(spec, "hostNetwork")) problems.forbidden(place, "may not be specified when hostNetwork is true");
  if (name.length > maxHostnameLength) problems.tooLong(place, maxHostnameLength);
  problems.invalidAll(place, name, subdomainErrors(name));
}

function checkNames(spec: JsonObject, path: FieldPath, problems: Problems): void {
  for (const key of ["serviceAccountName", "nodeName", "priorityClassName"]) {
    const name = textAt(spec, key);
    if (name !== "") problems.invalidAll(path.child(key), name, subdomainErrors(name));
  }
  const runtime = textAt(spec, "runtimeClassName");
  if (has(spec, "runtimeClassName")) {
    problems.invalidAll(path.child("runtimeClassName"), runtime, subdomainErrors(runtime));
  }
  const preemption = textAt(spec, "preemptionPolicy");
  const known = ["PreemptLowerPriority", "Never"];
  if (has(spec, "preemptionPolicy") && !known.includes(preemption)) {
    problems.notSupported(path.child("preemptionPolicy"), preemption, known);
  }
}

function checkDeadline(spec: JsonObject, path: FieldPath, problems: Problems): void {
  const seconds = findNumber(spec, "activeDeadlineSeconds");
  if (seconds === undefined) return;
  // An int64 that no double holds is shown as it is.
  problems.invalidAll(path, read(spec, "activeDeadlineSeconds") ?? seconds, rangeErrors(seconds, 1, maxInt32));
}

function checkHostAliases(spec: JsonObject, path: FieldPath, problems: Problems): void {
  objectsAt(spec, "hostAliases").forEach((alias, index) => {
    const ip = textAt(alias, "ip");
    problems.invalidAll(path.index(index).child("ip"), ip, ipErrors(ip));
    textsAt(alias, "hostnames").forEach((name, at) =>
      problems.invalidAll(path.index(index).child("hostnames").index(at), name, subdomainErrors(name))
    );
  });
}

/** Checks that variables from a file refer to an emptyDir volume. */
function checkFileKeys(spec: JsonObject, path: FieldPath, problems: Problems): void {
  const volumes = new Map(objectsAt(spec, "volumes").map((volume) => [textAt(volume, "name"), volume]));
  for (const { container, path: place } of containersOf(spec, path)) {
    objectsAt(container, "env").forEach((variable, index) => {
      const file = findObject(objectAt(variable, "valueFrom"), "fileKeyRef");
      if (file === undefined) return;
      const name = textAt(file, "volumeName");
      const at = place.child("env").index(index).child("valueFrom", "fileKeyRef", "volumeName");
      const volume = volumes.get(name);
      if (volume === undefined) problems.notFound(at, name);
      else if (!has(volume, "emptyDir")) problems.invalid(at, name, "referenced volume must be of type emptyDir");
    });
  }
}

const projections = ["clusterTrustBundle", "podCertificate"];
const containerLists = ["containers", "initContainers", "ephemeralContainers"];

/** Drops disabled fields from the spec of a Pod or a template. @param before the old spec, whose fields are kept */
export function dropDisabled(spec: Draft, before: JsonObject = {}): void {
  if (!has(before, "schedulingGroup")) delete spec["schedulingGroup"];
  for (const key of projections) {
    if (sourcesOf(before).some((source) => has(source, key))) continue;
    for (const volume of draftsAt(spec, "volumes")) {
      for (const source of draftsAt(findDraft(volume, "projected") ?? {}, "sources")) delete source[key];
    }
  }
  const hadSignal = containerLists.some((key) =>
    objectsAt(before, key).some((container) => has(objectAt(container, "lifecycle"), "stopSignal"))
  );
  if (hadSignal) return;
  for (const container of containerLists.flatMap((key) => draftsAt(spec, key))) {
    if (findDraft(container, "lifecycle") !== undefined) delete draftAt(container, "lifecycle")["stopSignal"];
  }
}

function sourcesOf(spec: JsonObject): readonly JsonObject[] {
  return objectsAt(spec, "volumes").flatMap((volume) => objectsAt(objectAt(volume, "projected"), "sources"));
}
