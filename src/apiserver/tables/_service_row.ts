/** The rows of Services and Endpoints: addresses and ports. */
import { nameOf, numberAt, objectAt, objectsAt, textAt } from "../kinds/mod.ts";
import { type Json, type JsonObject, read } from "../model/mod.ts";
import { age, labelsText } from "./_cells.ts";
import { textsIn } from "./_values.ts";

/** The cells of a Service. */
export function serviceRow(service: JsonObject, now: number): readonly Json[] {
  const spec = objectAt(service, "spec");
  const [clusterIp = "<none>"] = textsIn(read(spec, "clusterIPs"));
  const ports = objectsAt(spec, "ports").map(portText).join(",");
  return [
    nameOf(service),
    textAt(spec, "type"),
    clusterIp,
    externalText(service),
    ports === "" ? "<none>" : ports,
    age(service, now),
    labelsText(read(spec, "selector")),
  ];
}

function portText(port: JsonObject): string {
  const nodePort = numberAt(port, "nodePort");
  return `${numberAt(port, "port")}${nodePort > 0 ? `:${nodePort}` : ""}/${textAt(port, "protocol")}`;
}

function externalText(service: JsonObject): string {
  const spec = objectAt(service, "spec");
  const external = textsIn(read(spec, "externalIPs"));
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

/** Where a load balancer listens, of a Service or an Ingress. */
export function loadBalancerAddresses(object: JsonObject): readonly string[] {
  const ingress = objectsAt(objectAt(objectAt(object, "status"), "loadBalancer"), "ingress");
  const addresses = ingress.map((item) => textAt(item, "ip") === "" ? textAt(item, "hostname") : textAt(item, "ip"));
  return [...new Set(addresses.filter((address) => address !== ""))].sort();
}

/** The cells of Endpoints. */
export function endpointsRow(endpoints: JsonObject, now: number): readonly Json[] {
  return [nameOf(endpoints), endpointsText(objectsAt(endpoints, "subsets")), age(endpoints, now)];
}

const mostEndpoints = 3;

function endpointsText(subsets: readonly JsonObject[]): string {
  if (subsets.length === 0) return "<none>";
  const all = subsets.flatMap((subset) => {
    const ips = objectsAt(subset, "addresses").map((address) => textAt(address, "ip"));
    const ports = objectsAt(subset, "ports");
    return ports.length === 0 ? ips : ports.flatMap((port) => ips.map((ip) => withPort(ip, numberAt(port, "port"))));
  });
  const shown = all.slice(0, mostEndpoints).join(",");
  return all.length > mostEndpoints ? `${shown} + ${all.length - mostEndpoints} more...` : shown;
}

function withPort(ip: string, port: number): string {
  return ip.includes(":") ? `[${ip}]:${port}` : `${ip}:${port}`;
}
