/** What the server warns of when a Service is written. */
import type { JsonObject } from "../../model/mod.ts";
import { metadataOf, objectAt, textAt, textMapAt, textsAt } from "../fields.ts";
import { cidrWarnings, ipWarnings } from "../ip.ts";
import { FieldPath } from "../problems.ts";
import { isHeadless } from "./service_cluster_ips.ts";

const topologyHints = "service.kubernetes.io/topology-aware-hints";
const topologyMode = "service.kubernetes.io/topology-mode";

/** The warnings that a Service earns. */
export function serviceWarnings(service: JsonObject): readonly string[] {
  const spec = objectAt(service, "spec");
  const isMarked = textMapAt(metadataOf(service), "annotations").has(topologyHints);
  return [
    ...(isMarked ? [`annotation ${topologyHints} is deprecated, please use ${topologyMode} instead`] : []),
    ...addressWarnings(spec),
    ...ignoredWarnings(spec),
  ];
}

function addressWarnings(spec: JsonObject): readonly string[] {
  const path = FieldPath.of("spec");
  const each = (key: string, check: (place: FieldPath, value: string) => readonly string[]) =>
    textsAt(spec, key).flatMap((value, index) => check(path.child(key).index(index), value));
  const balancerIp = textAt(spec, "loadBalancerIP");
  return [
    ...(isHeadless(spec) ? [] : each("clusterIPs", ipWarnings)),
    ...each("externalIPs", ipWarnings),
    ...(balancerIp === "" ? [] : ipWarnings(path.child("loadBalancerIP"), balancerIp)),
    ...each("loadBalancerSourceRanges", cidrWarnings),
  ];
}

function ignoredWarnings(spec: JsonObject): readonly string[] {
  const warnings: string[] = [];
  const type = textAt(spec, "type");
  const hasExternalIps = textsAt(spec, "externalIPs").length > 0;
  if (isHeadless(spec)) {
    const ignored = "is ignored for headless services";
    if (textAt(spec, "loadBalancerIP") !== "") warnings.push(`spec.loadBalancerIP ${ignored}`);
    if (hasExternalIps) warnings.push(`spec.externalIPs ${ignored}`);
    if (textAt(spec, "sessionAffinity") !== "None") warnings.push(`spec.SessionAffinity ${ignored}`);
  } else if (hasExternalIps && type !== "ExternalName") {
    warnings.push("spec.externalIPs is deprecated and may no longer be implemented in some clusters");
  }
  if (type === "ExternalName" && hasExternalIps) {
    warnings.push('spec.externalIPs is ignored when spec.type is "ExternalName"');
  }
  if (type !== "ExternalName" && textAt(spec, "externalName") !== "") {
    warnings.push('spec.externalName is ignored when spec.type is not "ExternalName"');
  }
  if (textAt(spec, "trafficDistribution") === "PreferClose") {
    warnings.push('spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"');
  }
  return warnings;
}
