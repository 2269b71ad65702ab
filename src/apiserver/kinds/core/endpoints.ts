/** Endpoints: rules, defaults and table row. EndpointSlices are in networking/endpoint_slices.ts. */
import { type Draft, isSameJson, type Json, type JsonObject, labelKeyErrors, read } from "../../model/mod.ts";
import {
  ageCell,
  type DefaultsByType,
  endpointIpErrors,
  FieldPath,
  ipErrors,
  ipWarnings,
  type KindRules,
  labelErrors,
  portErrors,
  type Problems,
  subdomainErrors,
} from "../rules/mod.ts";
import { draftsAt, has, metadataOf, nameOf, numberAt, objectsAt, setIfEmpty, textAt, textMapAt } from "../types/mod.ts";

/** Endpoints. */
export const endpointsRules: KindRules = {
  depth: "full",
  deprecation: "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
  allowsCreateOnUpdate: true,
  validate: (object, problems) => checkSubsets(object, problems),
  validateUpdate(object, old, problems) {
    if (!isSameJson(read(object, "subsets") ?? null, read(old, "subsets") ?? null)) checkSubsets(object, problems);
  },
  warnings(object) {
    if (textMapAt(metadataOf(object), "labels").get("endpoints.kubernetes.io/managed-by") === "endpoint-controller") {
      return [];
    }
    return objectsAt(object, "subsets").flatMap((subset, index) =>
      ["addresses", "notReadyAddresses"].flatMap((key) =>
        objectsAt(subset, key).flatMap((address, at) =>
          ipWarnings(FieldPath.of("subsets").index(index).child(key).index(at).child("ip"), textAt(address, "ip"))
        )
      )
    );
  },
};

function checkSubsets(object: JsonObject, problems: Problems): void {
  objectsAt(object, "subsets").forEach((subset, index) => {
    const path = FieldPath.of("subsets").index(index);
    const keys = ["addresses", "notReadyAddresses"];
    if (keys.every((key) => objectsAt(subset, key).length === 0)) {
      problems.required(path, "must specify `addresses` or `notReadyAddresses`");
    }
    for (const key of keys) {
      objectsAt(subset, key).forEach((address, at) => checkAddress(address, path.child(key).index(at), problems));
    }
    const ports = objectsAt(subset, "ports");
    ports.forEach((port, at) => checkEndpointPort(port, ports.length > 1, path.child("ports").index(at), problems));
  });
}

function checkAddress(address: JsonObject, path: FieldPath, problems: Problems): void {
  const [ip, hostname] = [textAt(address, "ip"), textAt(address, "hostname")];
  problems.invalidAll(path.child("ip"), ip, ipErrors(ip));
  if (hostname !== "") problems.invalidAll(path.child("hostname"), hostname, labelErrors(hostname));
  if (has(address, "nodeName")) {
    problems.invalidAll(
      path.child("nodeName"),
      textAt(address, "nodeName"),
      subdomainErrors(textAt(address, "nodeName")),
    );
  }
  problems.invalidAll(path.child("ip"), ip, endpointIpErrors(ip));
}

function checkEndpointPort(port: JsonObject, needsName: boolean, path: FieldPath, problems: Problems): void {
  const [name, protocol, number] = [textAt(port, "name"), textAt(port, "protocol"), numberAt(port, "port")];
  if (name !== "") problems.invalidAll(path.child("name"), name, labelErrors(name));
  else if (needsName) problems.required(path.child("name"));
  problems.invalidAll(path.child("port"), number, portErrors(number));
  if (!sortedProtocols.includes(protocol)) problems.notSupported(path.child("protocol"), protocol, sortedProtocols);
  checkAppProtocol(port, path, problems);
}

export function checkAppProtocol(port: JsonObject, path: FieldPath, problems: Problems): void {
  const protocol = textAt(port, "appProtocol");
  if (has(port, "appProtocol")) problems.invalidAll(path.child("appProtocol"), protocol, labelKeyErrors(protocol));
}

export const sortedProtocols = ["SCTP", "TCP", "UDP"];

/** The defaults of Endpoints. */
export const endpointsDefaults: DefaultsByType = { "core/v1.Endpoints": setEndpointsDefaults };

function setEndpointsDefaults(draft: Draft): void {
  for (const subset of draftsAt(draft, "subsets")) {
    for (const port of draftsAt(subset, "ports")) setIfEmpty(port, "protocol", "TCP");
  }
}

/** The cells of Endpoints. */
export function endpointsRow(endpoints: JsonObject, now: number): readonly Json[] {
  return [nameOf(endpoints), endpointsText(objectsAt(endpoints, "subsets")), ageCell(endpoints, now)];
}

const maxEndpoints = 3;

function endpointsText(subsets: readonly JsonObject[]): string {
  if (subsets.length === 0) return "<none>";
  const all = subsets.flatMap((subset) => {
    const ips = objectsAt(subset, "addresses").map((address) => textAt(address, "ip"));
    const ports = objectsAt(subset, "ports");
    return ports.length === 0 ? ips : ports.flatMap((port) => ips.map((ip) => withPort(ip, numberAt(port, "port"))));
  });
  const shown = all.slice(0, maxEndpoints).join(",");
  return all.length > maxEndpoints ? `${shown} + ${all.length - maxEndpoints} more...` : shown;
}

function withPort(ip: string, port: number): string {
  return ip.includes(":") ? `[${ip}]:${port}` : `${ip}:${port}`;
}
