/**
 * Services: rules, defaults, table row and quota meter. The allocation of addresses and ports is in service_addresses.ts.
 */
import { type Draft, isSameJson, type Json, type JsonObject, labelKeyErrors, read } from "../../model/mod.ts";
import {
  ageCell,
  asTexts,
  checkLabels,
  checkPortNumberOrName,
  cidrErrors,
  type DefaultsByType,
  endpointIpErrors,
  fieldIsImmutable,
  FieldPath,
  ipErrors,
  type KindRules,
  labelErrors,
  labelName,
  labelsText,
  portErrors,
  type Problems,
  type QuotaMeter,
  subdomainErrors,
} from "../rules/mod.ts";
import {
  draftAt,
  draftsAt,
  findDraft,
  findNumber,
  findObject,
  has,
  metadataOf,
  nameOf,
  numberAt,
  objectAt,
  objectsAt,
  setIfAbsent,
  setIfEmpty,
  textAt,
  textMapAt,
  textsAt,
  valuesAt,
} from "../types/mod.ts";
import { balancerWarnings, checkBalancer, loadBalancerAddresses } from "./load_balancers.ts";
import {
  allocateForCreate,
  allocateForUpdate,
  needsClusterIp,
  needsHealthCheck,
  needsNodePorts,
} from "./service_addresses.ts";
import { checkClusterIpChange, checkClusterIps, isHeadless, serviceWarnings } from "./service_cluster_ips.ts";

const types = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
const protocols = ["SCTP", "TCP", "UDP"];
const maxAffinitySeconds = 86_400;
const sourceRanges = "service.beta.kubernetes.io/load-balancer-source-ranges";
const topologyHints = "service.kubernetes.io/topology-aware-hints";
const topologyMode = "service.kubernetes.io/topology-mode";
const onlyForBalancer = "may only be used when `type` is 'LoadBalancer'";

/** Service. */
export const serviceRules: KindRules = {
  depth: "full",
  validateName: labelName,
  allowsCreateOnUpdate: true,
  fieldSelectors: new Map([
    ["spec.clusterIP", (service) => textAt(objectAt(service, "spec"), "clusterIP")],
    ["spec.type", (service) => textAt(objectAt(service, "spec"), "type")],
  ]),
  shown: withoutUnusedPolicy,
  prepareForCreate: allocateForCreate,
  prepareForUpdate(draft, old, context) {
    dropFieldsOfOldType(draft, old);
    allocateForUpdate(draft, old, context);
  },
  validate: (service, problems) => checkService(service, undefined, problems),
  validateUpdate(service, old, problems) {
    checkClusterIpChange(objectAt(service, "spec"), objectAt(old, "spec"), problems);
    checkClassChange(objectAt(service, "spec"), objectAt(old, "spec"), problems);
    const [now, before] = [objectAt(service, "spec"), objectAt(old, "spec")];
    if (needsHealthCheck(now) && needsHealthCheck(before)) {
      if (numberAt(now, "healthCheckNodePort") !== numberAt(before, "healthCheckNodePort")) {
        problems.forbidden(FieldPath.of("spec", "healthCheckNodePort"), fieldIsImmutable);
      }
    }
    checkService(service, old, problems);
  },
  validateStatus: checkStatus,
  warnings: serviceWarnings,
  statusWarnings: balancerWarnings,
};

/** An ExternalName has no traffic inside of the cluster; a policy that is stored counts again with the next type. */
function withoutUnusedPolicy(service: JsonObject): JsonObject {
  const { internalTrafficPolicy, ...spec } = objectAt(service, "spec");
  return spec["type"] !== "ExternalName" || internalTrafficPolicy === undefined ? service : { ...service, spec };
}

/** Drops the fields that the new type does not have, unless the client changed them. */
function dropFieldsOfOldType(draft: Draft, old: JsonObject): void {
  const [spec, before] = [draftAt(draft, "spec"), objectAt(old, "spec")];
  const dropSame = (...keys: readonly string[]) => {
    for (const key of keys) if (isSameJson(read(spec, key), read(before, key))) delete spec[key];
  };
  if (needsClusterIp(before) && !needsClusterIp(spec)) {
    dropSame("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy");
  }
  if (needsNodePorts(before) && !needsNodePorts(spec)) {
    const known = new Set(objectsAt(before, "ports").map((port) => numberAt(port, "nodePort")));
    const isSame = objectsAt(spec, "ports").every((port) =>
      !has(port, "nodePort") || known.has(numberAt(port, "nodePort"))
    );
    if (isSame) { for (const port of draftsAt(spec, "ports")) delete port["nodePort"]; }
  }
  if (needsHealthCheck(before) && !needsHealthCheck(spec)) dropSame("healthCheckNodePort");
  const wasBalancer = textAt(before, "type") === "LoadBalancer";
  const isBalancer = textAt(spec, "type") === "LoadBalancer";
  if (wasBalancer && !isBalancer) dropSame("allocateLoadBalancerNodePorts", "loadBalancerClass");
  if (isExternal(before) && !isExternal(spec)) dropSame("externalTrafficPolicy");
  if (!isBalancer) draftAt(draft, "status")["loadBalancer"] = {};
}

function isExternal(spec: JsonObject): boolean {
  const type = textAt(spec, "type");
  return needsNodePorts(spec) || (type === "ClusterIP" && textsAt(spec, "externalIPs").length > 0);
}

function checkService(service: JsonObject, old: JsonObject | undefined, problems: Problems): void {
  const spec = objectAt(service, "spec");
  const path = FieldPath.of("spec");
  const before = objectAt(old ?? {}, "spec");
  checkTopology(service, problems);
  checkType(spec, path, problems);
  checkPorts(spec, path.child("ports"), problems);
  checkLabels(spec, "selector", path.child("selector"), problems);
  checkAffinity(spec, path, problems);
  checkClusterIps(spec, before, problems);
  textsAt(spec, "externalIPs").forEach((ip, index) => {
    const errors = ipErrors(ip, textsAt(before, "externalIPs"));
    problems.invalidAll(path.child("externalIPs").index(index), ip, errors.length > 0 ? errors : endpointIpErrors(ip));
  });
  if (!types.includes(textAt(spec, "type"))) problems.notSupported(path.child("type"), textAt(spec, "type"), types);
  checkNodePorts(spec, path.child("ports"), problems);
  checkSourceRanges(service, old, problems);
  if (has(spec, "allocateLoadBalancerNodePorts") && textAt(spec, "type") !== "LoadBalancer") {
    problems.forbidden(path.child("allocateLoadBalancerNodePorts"), onlyForBalancer);
  }
  checkClass(spec, problems);
  checkTraffic(spec, path, problems);
}

function checkTopology(service: JsonObject, problems: Problems): void {
  const annotations = textMapAt(metadataOf(service), "annotations");
  const [hints, mode] = [annotations.get(topologyHints), annotations.get(topologyMode)];
  if (hints === undefined || mode === undefined || hints === mode) return;
  const why = `must match annotations[${topologyHints}] when both are specified`;
  problems.invalid(FieldPath.of("metadata", "annotations").key(topologyMode), mode, why);
}

function checkType(spec: JsonObject, path: FieldPath, problems: Problems): void {
  const type = textAt(spec, "type");
  const headless = isHeadless(spec);
  if (objectsAt(spec, "ports").length === 0 && !headless && type !== "ExternalName") {
    problems.required(path.child("ports"));
  }
  if (headless && needsNodePorts(spec)) {
    problems.invalid(path.child("clusterIPs").index(0), "None", `may not be set to 'None' for ${type} services`);
  }
  if (type !== "ExternalName") return;
  for (const key of ["clusterIPs", "ipFamilies", "ipFamilyPolicy"]) {
    if (has(spec, key)) problems.forbidden(path.child(key), "may not be set for ExternalName services");
  }
  const name = textAt(spec, "externalName").replace(/\.$/, "");
  if (name === "") problems.required(path.child("externalName"));
  else problems.invalidAll(path.child("externalName"), name, subdomainErrors(name));
}

function checkPorts(spec: JsonObject, path: FieldPath, problems: Problems): void {
  const ports = objectsAt(spec, "ports");
  const names = new Set<string>();
  ports.forEach((port, index) => {
    const place = path.index(index);
    const name = textAt(port, "name");
    if (name === "") {
      if (ports.length > 1) problems.required(place.child("name"));
    } else {
      problems.invalidAll(place.child("name"), name, labelErrors(name));
      if (names.has(name)) problems.duplicate(place.child("name"), name);
      names.add(name);
    }
    problems.invalidAll(place.child("port"), numberAt(port, "port"), portErrors(numberAt(port, "port")));
    const protocol = textAt(port, "protocol");
    if (!protocols.includes(protocol)) problems.notSupported(place.child("protocol"), protocol, protocols);
    checkPortNumberOrName(read(port, "targetPort"), place.child("targetPort"), problems);
    const appProtocol = textAt(port, "appProtocol");
    if (has(port, "appProtocol")) {
      problems.invalidAll(place.child("appProtocol"), appProtocol, labelKeyErrors(appProtocol));
    }
  });
}

function checkAffinity(spec: JsonObject, path: FieldPath, problems: Problems): void {
  const affinity = textAt(spec, "sessionAffinity");
  const config = findObject(spec, "sessionAffinityConfig");
  if (affinity !== "ClientIP" && affinity !== "None") {
    problems.notSupported(path.child("sessionAffinity"), affinity, ["ClientIP", "None"]);
  }
  if (affinity === "None" && config !== undefined) {
    problems.forbidden(path.child("sessionAffinityConfig"), "must not be set when session affinity is None");
  }
  if (affinity !== "ClientIP") return;
  const seconds = numberAt(objectAt(config ?? {}, "clientIP"), "timeoutSeconds");
  if (seconds > 0 && seconds <= maxAffinitySeconds) return;
  const place = path.child("sessionAffinityConfig", "clientIP", "timeoutSeconds");
  problems.invalid(place, seconds, `must be greater than 0 and less than ${maxAffinitySeconds}`);
}

function checkNodePorts(spec: JsonObject, path: FieldPath, problems: Problems): void {
  const ports = objectsAt(spec, "ports");
  const [nodePorts, seen] = [new Set<string>(), new Set<string>()];
  if (textAt(spec, "type") === "ClusterIP") {
    ports.forEach((port, index) => {
      if (numberAt(port, "nodePort") === 0) return;
      problems.forbidden(path.index(index).child("nodePort"), "may not be used when `type` is 'ClusterIP'");
    });
  }
  ports.forEach((port, index) => {
    const number = numberAt(port, "nodePort");
    const key = `${textAt(port, "protocol")}/${number}`;
    if (number !== 0 && nodePorts.has(key)) problems.duplicate(path.index(index).child("nodePort"), number);
    nodePorts.add(key);
  });
  ports.forEach((port, index) => {
    const key = `${textAt(port, "protocol")}/${numberAt(port, "port")}`;
    if (seen.has(key)) problems.duplicate(path.index(index), shownPort(port));
    seen.add(key);
  });
}

/** A port in the form of the Go type. */
function shownPort(port: JsonObject): JsonObject {
  return {
    Name: "",
    Protocol: textAt(port, "protocol"),
    AppProtocol: null,
    Port: numberAt(port, "port"),
    TargetPort: 0,
    NodePort: 0,
  };
}

function checkSourceRanges(service: JsonObject, old: JsonObject | undefined, problems: Problems): void {
  const spec = objectAt(service, "spec");
  const isBalancer = textAt(spec, "type") === "LoadBalancer";
  const ranges = textsAt(spec, "loadBalancerSourceRanges");
  if (ranges.length > 0) {
    const path = FieldPath.of("spec", "LoadBalancerSourceRanges");
    if (!isBalancer) problems.forbidden(path, onlyForBalancer);
    const known = textsAt(objectAt(old ?? {}, "spec"), "loadBalancerSourceRanges").map((range) => range.trim());
    ranges.forEach((range, index) =>
      problems.invalidAll(path.index(index), range.trim(), cidrErrors(range.trim(), known))
    );
    return;
  }
  const marked = textMapAt(metadataOf(service), "annotations").get(sourceRanges);
  if (marked === undefined) return;
  const path = FieldPath.of("metadata", "annotations").key(sourceRanges);
  if (!isBalancer) problems.forbidden(path, onlyForBalancer);
  if (marked.trim() === "" || textMapAt(metadataOf(old ?? {}), "annotations").get(sourceRanges) === marked) return;
  for (const range of marked.split(",")) problems.invalidAll(path, range.trim(), cidrErrors(range.trim()));
}

function checkClass(spec: JsonObject, problems: Problems): void {
  if (!has(spec, "loadBalancerClass")) return;
  const path = FieldPath.of("spec", "loadBalancerClass");
  const name = textAt(spec, "loadBalancerClass");
  if (textAt(spec, "type") !== "LoadBalancer") problems.forbidden(path, onlyForBalancer);
  else problems.invalidAll(path, name, labelKeyErrors(name));
}

function checkClassChange(spec: JsonObject, before: JsonObject, problems: Problems): void {
  const areBalancers = [spec, before].every((each) => textAt(each, "type") === "LoadBalancer");
  const value = read(spec, "loadBalancerClass") ?? null;
  if (areBalancers && value !== (read(before, "loadBalancerClass") ?? null)) {
    problems.invalid(FieldPath.of("spec", "loadBalancerClass"), value, "may not change once set");
  }
  checkClass(spec, problems);
}

function checkTraffic(spec: JsonObject, path: FieldPath, problems: Problems): void {
  const external = textAt(spec, "externalTrafficPolicy");
  const place = path.child("externalTrafficPolicy");
  if (!isExternal(spec)) {
    if (external !== "") problems.invalid(place, external, "may only be set for externally-accessible services");
  } else if (external === "") problems.required(place);
  else if (external !== "Cluster" && external !== "Local") problems.notSupported(place, external, ["Cluster", "Local"]);
  checkHealthPort(spec, path.child("healthCheckNodePort"), problems);
  const internal = textAt(spec, "internalTrafficPolicy");
  if (has(spec, "internalTrafficPolicy") && internal !== "Cluster" && internal !== "Local") {
    problems.notSupported(path.child("internalTrafficPolicy"), internal, ["Cluster", "Local"]);
  }
  const distributions = ["PreferClose", "PreferSameZone", "PreferSameNode"];
  const distribution = textAt(spec, "trafficDistribution");
  if (has(spec, "trafficDistribution") && !distributions.includes(distribution)) {
    problems.notSupported(path.child("trafficDistribution"), distribution, distributions);
  }
}

function checkHealthPort(spec: JsonObject, path: FieldPath, problems: Problems): void {
  const port = findNumber(spec, "healthCheckNodePort") ?? 0;
  if (!needsHealthCheck(spec)) {
    const why = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
    if (port !== 0) problems.invalid(path, port, why);
  } else if (port === 0) problems.required(path);
  else problems.invalidAll(path, port, portErrors(port));
}

function checkStatus(service: JsonObject, old: JsonObject, problems: Problems): void {
  const path = FieldPath.of("status", "loadBalancer", "ingress");
  const [now, before] = [service, old].map((each) =>
    objectsAt(objectAt(objectAt(each, "status"), "loadBalancer"), "ingress")
  );
  const ingresses = now ?? [];
  if (textAt(objectAt(service, "spec"), "type") !== "LoadBalancer" && ingresses.length > 0) {
    return problems.forbidden(path, "may only be used when `spec.type` is 'LoadBalancer'");
  }
  checkBalancer(ingresses, before ?? [], path, problems);
  ingresses.forEach((ingress, index) => {
    const place = path.index(index).child("ipMode");
    const [hasIp, mode] = [textAt(ingress, "ip") !== "", textAt(ingress, "ipMode")];
    if (!has(ingress, "ipMode")) {
      if (hasIp) problems.required(place, "must be specified when `ip` is set");
    } else if (!hasIp) problems.forbidden(place, "may not be specified when `ip` is not set");
    else if (mode !== "Proxy" && mode !== "VIP") problems.notSupported(place, mode, ["Proxy", "VIP"]);
  });
}

/** The defaults of Services. */
export const serviceDefaults: DefaultsByType = { "core/v1.Service": setServiceDefaults };

function setServiceDefaults(draft: Draft): void {
  const spec = draftAt(draft, "spec");
  setIfEmpty(spec, "sessionAffinity", "None");
  setSessionAffinity(spec);
  setIfEmpty(spec, "type", "ClusterIP");
  const type = textAt(spec, "type");
  for (const port of draftsAt(spec, "ports")) {
    const target = port["targetPort"];
    if (target === undefined || target === 0 || target === "") port["targetPort"] = numberAt(port, "port");
  }
  const isExternal = type === "NodePort" || type === "LoadBalancer" ||
    (type === "ClusterIP" && valuesAt(spec, "externalIPs").length > 0);
  if (isExternal) setIfEmpty(spec, "externalTrafficPolicy", "Cluster");
  if (type !== "ExternalName") setIfAbsent(spec, "internalTrafficPolicy", "Cluster");
  if (type !== "LoadBalancer") return;
  setIfAbsent(spec, "allocateLoadBalancerNodePorts", true);
  const balancer = findDraft(findDraft(draft, "status") ?? {}, "loadBalancer") ?? {};
  for (const ingress of draftsAt(balancer, "ingress")) {
    if (textAt(ingress, "ip") !== "") setIfAbsent(ingress, "ipMode", "VIP");
  }
}

function setSessionAffinity(spec: Draft): void {
  const affinity = textAt(spec, "sessionAffinity");
  if (affinity === "None") delete spec["sessionAffinityConfig"];
  if (affinity !== "ClientIP") return;
  const clientIp = objectAt(objectAt(spec, "sessionAffinityConfig"), "clientIP");
  if (!has(clientIp, "timeoutSeconds")) {
    spec["sessionAffinityConfig"] = { clientIP: { timeoutSeconds: affinitySeconds } };
  }
}

/** Three hours. */
const affinitySeconds = 10_800;

/** The cells of a Service. */
export function serviceRow(service: JsonObject, now: number): readonly Json[] {
  const spec = objectAt(service, "spec");
  const [clusterIp = "<none>"] = asTexts(read(spec, "clusterIPs"));
  const ports = objectsAt(spec, "ports").map(portText).join(",");
  return [
    nameOf(service),
    textAt(spec, "type"),
    clusterIp,
    externalText(service),
    ports === "" ? "<none>" : ports,
    ageCell(service, now),
    labelsText(read(spec, "selector")),
  ];
}

function portText(port: JsonObject): string {
  const nodePort = numberAt(port, "nodePort");
  return `${numberAt(port, "port")}${nodePort > 0 ? `:${nodePort}` : ""}/${textAt(port, "protocol")}`;
}

function externalText(service: JsonObject): string {
  const spec = objectAt(service, "spec");
  const external = asTexts(read(spec, "externalIPs"));
  switch (textAt(spec, "type")) {
    case "ClusterIP":
    case "NodePort":
      return external.length === 0 ? "<none>" : external.join(",");
    case "LoadBalancer": {
      const all = [...loadBalancerAddresses(service), ...external];
      return all.length === 0 ? "<pending>" : all.join(",");
    }
    case "ExternalName":
      return textAt(spec, "externalName");
    default:
      return "<unknown>";
  }
}

/** The quota meter of Services: their number, node ports and load balancers. */
export const serviceMeter: QuotaMeter = {
  usage(service) {
    const spec = objectAt(service, "spec");
    const ports = objectsAt(spec, "ports");
    const isBalanced = textAt(spec, "type") === "LoadBalancer";
    const takesPorts = isBalanced
      ? spec["allocateLoadBalancerNodePorts"] !== false
      : textAt(spec, "type") === "NodePort";
    const requestedPorts = isBalanced ? ports.filter((port) => numberAt(port, "nodePort") !== 0).length : 0;
    return new Map([
      ["count/services", "1"],
      ["services", "1"],
      ["services.nodeports", `${takesPorts ? ports.length : requestedPorts}`],
      ["services.loadbalancers", isBalanced ? "1" : "0"],
    ]);
  },
  measures: (resource) => serviceResources.has(resource),
  missingFieldsError: () => undefined,
};

const serviceResources: ReadonlySet<string> = new Set([
  "count/services",
  "services",
  "services.nodeports",
  "services.loadbalancers",
]);
