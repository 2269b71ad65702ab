/**
 * Rules of `clusterIP`, `clusterIPs` and `ipFamilies` of a Service and of their updates, and the warnings about a Service.
 */
import type { JsonObject } from "../../model/mod.ts";
import { cidrWarnings, FieldPath, ipErrors, ipWarnings, parseIp, type Problems } from "../rules/mod.ts";
import { has, metadataOf, objectAt, textAt, textMapAt, textsAt } from "../types/mod.ts";

const families = ["IPv4", "IPv6"];
const policies = ["PreferDualStack", "RequireDualStack", "SingleStack"];
const setOnce = "may not change once set";

/** True for a headless Service. */
export function isHeadless(spec: JsonObject): boolean {
  const ips = textsAt(spec, "clusterIPs");
  return ips.length === 1 && ips[0] === "None";
}

/** Checks the addresses. @param before the old spec; empty for a new Service */
export function checkClusterIps(spec: JsonObject, before: JsonObject, problems: Problems): void {
  if (textAt(spec, "type") === "ExternalName") return;
  const [ip, ips] = [textAt(spec, "clusterIP"), textsAt(spec, "clusterIPs")];
  const path = FieldPath.of("spec", "clusterIPs");
  if (ip === "") {
    if (ips.length > 0) problems.invalid(path, ips, "must be empty when `clusterIP` is not specified");
  } else if (ips.length === 0) problems.required(path);
  else if (ips[0] !== ip) problems.invalid(path, ips, "first value must match `clusterIP`");
  checkFamilies(spec, problems);
  let hasWrong = false;
  ips.forEach((each, index) => {
    if (index === 0 && each === "None") {
      if (ips.length > 1) problems.invalid(path, ips, "'None' must be the first and only value");
      hasWrong ||= ips.length > 1;
      return;
    }
    const errors = ipErrors(each, textsAt(before, "clusterIPs"));
    hasWrong ||= errors.length > 0;
    problems.invalidAll(path.index(index), each, errors);
  });
  if (ips.length > 2) problems.invalid(path, ips, "may only hold up to 2 values");
  if (!hasWrong) checkFamiliesOf(spec, ips, path, problems);
}

function checkFamilies(spec: JsonObject, problems: Problems): void {
  const seen = new Set<string>();
  textsAt(spec, "ipFamilies").forEach((family, index) => {
    const place = FieldPath.of("spec", "ipFamilies").index(index);
    if (!families.includes(family)) problems.notSupported(place, family, families);
    if (seen.has(family)) problems.duplicate(place, family);
    seen.add(family);
  });
  const policy = textAt(spec, "ipFamilyPolicy");
  if (has(spec, "ipFamilyPolicy") && !policies.includes(policy)) {
    problems.notSupported(FieldPath.of("spec", "ipFamilyPolicy"), policy, policies);
  }
}

function checkFamiliesOf(spec: JsonObject, ips: readonly string[], path: FieldPath, problems: Problems): void {
  const found = ips.map((each) => parseIp(each)?.family);
  if (ips.length > 1 && new Set(found).size < 2) {
    problems.invalid(path, ips, "may specify no more than one IP for each IP family");
  }
  if (isHeadless(spec)) return;
  textsAt(spec, "ipFamilies").forEach((family, index) => {
    const ip = ips[index];
    if (ip === undefined || found[index] === family || !families.includes(family)) return;
    problems.invalid(path.index(index), ip, `expected an ${family} value as indicated by \`ipFamilies[${index}]\``);
  });
}

/** Checks an update of the addresses. */
export function checkClusterIpChange(spec: JsonObject, before: JsonObject, problems: Problems): void {
  if (textAt(spec, "type") === "ExternalName" || textAt(before, "type") === "ExternalName") return;
  const [isNow, was] = [isHeadless(spec), isHeadless(before)];
  if (!(isNow && was)) checkIpChange(spec, before, problems);
  if (isNow === was && !isNow) checkFamilyChange(spec, before, problems);
}

function checkIpChange(spec: JsonObject, before: JsonObject, problems: Problems): void {
  const [now, then] = [textsAt(spec, "clusterIPs"), textsAt(before, "clusterIPs")];
  const path = FieldPath.of("spec", "clusterIPs");
  if (now.length === then.length) {
    then.forEach((ip, index) => {
      if (ip !== now[index]) problems.invalid(path.index(index), now, setOnce);
    });
    return;
  }
  if (now.length > 0 && then.length > 0 && now[0] !== then[0]) problems.invalid(path.index(0), now, setOnce);
  if (then.length < now.length) return;
  if (now.length === 0) problems.invalid(path.index(0), null, "primary clusterIP can not be unset");
  if (now.length === 1) checkRelease(spec, "clusterIP", problems);
}

function checkFamilyChange(spec: JsonObject, before: JsonObject, problems: Problems): void {
  const [now, then] = [textsAt(spec, "ipFamilies"), textsAt(before, "ipFamilies")];
  const place = FieldPath.of("spec", "ipFamilies").index(0);
  if (now.length === then.length) {
    then.forEach((family, index) => {
      if (family !== now[index]) problems.invalid(place, now, setOnce);
    });
    return;
  }
  const ips = textsAt(spec, "clusterIPs");
  if (now.length > 0 && then.length > 0 && now[0] !== then[0]) problems.invalid(place, ips, setOnce);
  if (then.length < now.length) return;
  if (ips.length === 0) problems.invalid(place, now, "primary ipFamily can not be unset");
  if (now.length === 1) checkRelease(spec, "ipFamily", problems);
}

function checkRelease(spec: JsonObject, what: string, problems: Problems): void {
  const policy = textAt(spec, "ipFamilyPolicy");
  if (policy === "SingleStack") return;
  const why = `must be set to 'SingleStack' when releasing the secondary ${what}`;
  problems.invalid(FieldPath.of("spec", "ipFamilyPolicy"), policy === "" ? null : policy, why);
}

const topologyHints = "service.kubernetes.io/topology-aware-hints";
const topologyMode = "service.kubernetes.io/topology-mode";

/** Returns the warnings about a Service. */
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
