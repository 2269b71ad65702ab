/** Defaults of Services, Endpoints, EndpointSlices, NetworkPolicies and IngressClasses. */
import type { Draft } from "../../model/mod.ts";
import type { Defaulter } from "../filler.ts";
import {
  draftAt,
  draftsAt,
  findDraft,
  has,
  numberAt,
  objectAt,
  setIfAbsent,
  setIfEmpty,
  textAt,
  valuesAt,
} from "../fields.ts";

/** Three hours: how long a client stays with its endpoint. */
const affinitySeconds = 10_800;

function service(draft: Draft): void {
  const spec = draftAt(draft, "spec");
  setIfEmpty(spec, "sessionAffinity", "None");
  sessionAffinity(spec);
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

function sessionAffinity(spec: Draft): void {
  const affinity = textAt(spec, "sessionAffinity");
  if (affinity === "None") delete spec["sessionAffinityConfig"];
  if (affinity !== "ClientIP") return;
  const clientIp = objectAt(objectAt(spec, "sessionAffinityConfig"), "clientIP");
  if (!has(clientIp, "timeoutSeconds")) {
    spec["sessionAffinityConfig"] = { clientIP: { timeoutSeconds: affinitySeconds } };
  }
}

function endpoints(draft: Draft): void {
  for (const subset of draftsAt(draft, "subsets")) {
    for (const port of draftsAt(subset, "ports")) setIfEmpty(port, "protocol", "TCP");
  }
}

function networkPolicy(draft: Draft): void {
  const spec = draftAt(draft, "spec");
  if (valuesAt(spec, "policyTypes").length > 0) return;
  spec["policyTypes"] = valuesAt(spec, "egress").length === 0 ? ["Ingress"] : ["Ingress", "Egress"];
}

function ingressClass(draft: Draft): void {
  const parameters = findDraft(draftAt(draft, "spec"), "parameters");
  if (parameters !== undefined) setIfAbsent(parameters, "scope", "Cluster");
}

/** The defaulters of this file, by type. */
export const networkDefaults: ReadonlyMap<string, Defaulter> = new Map<string, Defaulter>([
  ["core/v1.Service", service],
  ["core/v1.Endpoints", endpoints],
  ["discovery/v1.EndpointPort", (draft) => {
    setIfAbsent(draft, "name", "");
    setIfAbsent(draft, "protocol", "TCP");
  }],
  ["networking/v1.NetworkPolicyPort", (draft) => setIfAbsent(draft, "protocol", "TCP")],
  ["networking/v1.NetworkPolicy", networkPolicy],
  ["networking/v1.IngressClass", ingressClass],
]);
