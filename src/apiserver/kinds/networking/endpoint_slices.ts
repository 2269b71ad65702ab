/** EndpointSlices: rules, defaults and table row. */
import { isSameJson, type Json, type JsonObject, labelValueErrors, read } from "../../model/mod.ts";
import { checkAppProtocol, sortedProtocols } from "../core/mod.ts";
import {
  ageCell,
  asTexts,
  checkImmutable,
  type DefaultsByType,
  endpointIpErrors,
  FieldPath,
  firstOf,
  formatIp,
  ipErrors,
  ipWarnings,
  type KindRules,
  labelErrors,
  nameCell,
  parseIp,
  type Problems,
  type Row,
  rowOf,
  subdomainErrors,
  textCell,
} from "../rules/mod.ts";
import { has, metadataOf, objectAt, objectsAt, setIfAbsent, textAt, textMapAt, textsAt } from "../types/mod.ts";

const managedBy = "endpointslice.kubernetes.io/managed-by";
const controllers = ["endpointslice-controller.k8s.io", "endpointslicemirroring-controller.k8s.io"];

/** EndpointSlice. */
export const endpointSliceRules: KindRules = {
  depth: "full",
  generationFields: ["addressType", "endpoints", "ports"],
  labelsIncrementGeneration: true,
  prepareForCreate(draft) {
    for (const endpoint of Array.isArray(draft["endpoints"]) ? draft["endpoints"] : []) dropTopology(endpoint);
  },
  validate: (slice, problems) => checkSlice(slice, undefined, problems),
  validateUpdate(slice, old, problems) {
    checkSlice(slice, old, problems);
    checkImmutable(slice, old, "addressType", FieldPath.of("addressType"), problems);
  },
  warnings(slice, old) {
    const isFqdn = old === undefined && textAt(slice, "addressType") === "FQDN";
    const manager = textMapAt(metadataOf(slice), "labels").get(managedBy) ?? "";
    const addresses = controllers.includes(manager)
      ? []
      : objectsAt(slice, "endpoints").flatMap((endpoint, index) =>
        textsAt(endpoint, "addresses").flatMap((address, at) =>
          ipWarnings(FieldPath.of("endpoints").index(index).child("addresses").index(at), address)
        )
      );
    return [...(isFqdn ? ["spec.addressType: FQDN endpoints are deprecated"] : []), ...addresses];
  },
};

function dropTopology(endpoint: unknown): void {
  if (typeof endpoint === "object" && endpoint !== null) Reflect.deleteProperty(endpoint, "deprecatedTopology");
}

function checkSlice(slice: JsonObject, old: JsonObject | undefined, problems: Problems): void {
  const type = textAt(slice, "addressType");
  if (type === "") problems.required(FieldPath.of("addressType"));
  else if (!["FQDN", "IPv4", "IPv6"].includes(type)) {
    problems.notSupported(FieldPath.of("addressType"), type, ["FQDN", "IPv4", "IPv6"]);
  }
  checkSlicePorts(objectsAt(slice, "ports"), FieldPath.of("ports"), problems);
  if (old !== undefined && isSameJson(read(slice, "endpoints") ?? null, read(old, "endpoints") ?? null)) return;
  const endpoints = objectsAt(slice, "endpoints");
  const path = FieldPath.of("endpoints");
  if (endpoints.length > 1_000) return problems.tooMany(path, endpoints.length, 1_000);
  endpoints.forEach((endpoint, index) => checkEndpoint(endpoint, type, path.index(index), problems));
}

function checkSlicePorts(ports: readonly JsonObject[], path: FieldPath, problems: Problems): void {
  if (ports.length > 20_000) return problems.tooMany(path, ports.length, 20_000);
  const names = new Set<string>();
  ports.forEach((port, index) => {
    const place = path.index(index);
    const [name, protocol] = [textAt(port, "name"), textAt(port, "protocol")];
    if (name !== "") problems.invalidAll(place.child("name"), name, labelErrors(name));
    if (names.has(name)) problems.duplicate(place.child("name"), name);
    names.add(name);
    if (!sortedProtocols.includes(protocol)) problems.notSupported(place.child("protocol"), protocol, sortedProtocols);
    checkAppProtocol(port, place, problems);
  });
}

function checkEndpoint(endpoint: JsonObject, type: string, path: FieldPath, problems: Problems): void {
  const addresses = textsAt(endpoint, "addresses");
  const place = path.child("addresses");
  if (addresses.length === 0) problems.required(place, "must contain at least 1 address");
  else if (addresses.length > 100) problems.tooMany(place, addresses.length, 100);
  addresses.forEach((address, index) => checkSliceAddress(address, type, place, index, problems));
  const [node, hostname] = [textAt(endpoint, "nodeName"), textAt(endpoint, "hostname")];
  if (has(endpoint, "nodeName")) problems.invalidAll(path.child("nodeName"), node, subdomainErrors(node));
  if (has(endpoint, "hostname")) problems.invalidAll(path.child("hostname"), hostname, labelErrors(hostname));
  const hints = objectAt(endpoint, "hints");
  checkHints(objectsAt(hints, "forZones"), path.child("hints", "forZones"), problems, labelValueErrors);
  checkHints(objectsAt(hints, "forNodes"), path.child("hints", "forNodes"), problems, subdomainErrors);
}

function checkSliceAddress(address: string, type: string, path: FieldPath, index: number, problems: Problems): void {
  const place = path.index(index);
  if (type === "FQDN") return checkDomain(address, place, problems);
  if (type !== "IPv4" && type !== "IPv6") return;
  const ip = parseIp(address);
  const errors = ipErrors(address);
  if (ip === undefined || errors.length > 0) return problems.invalidAll(place, address, errors);
  const canonical = formatIp(ip);
  if (type === "IPv6" && canonical !== address) {
    return problems.invalid(place, address, `must be in canonical form (${JSON.stringify(canonical)})`);
  }
  if (ip.family !== type) problems.invalid(path, address, `must be an ${type} address`);
  problems.invalidAll(place, address, endpointIpErrors(address));
}

function checkDomain(address: string, path: FieldPath, problems: Problems): void {
  const name = address.replace(/\.$/, "");
  const errors = subdomainErrors(name);
  if (address === "") return problems.required(path);
  if (errors.length > 0) return problems.invalid(path, name, errors.join(","));
  const labels = name.split(".");
  if (labels.length < 2) {
    return problems.invalid(path, name, "should be a domain with at least two segments separated by dots");
  }
  const wrong = labels.find((label) => labelErrors(label).length > 0);
  if (wrong !== undefined) problems.invalid(path, wrong, labelErrors(wrong).join(","));
}

function checkHints(
  hints: readonly JsonObject[],
  path: FieldPath,
  problems: Problems,
  check: (name: string) => readonly string[],
): void {
  if (hints.length > 8) return problems.tooMany(path, hints.length, 8);
  const seen = new Set<string>();
  hints.forEach((hint, index) => {
    const place = path.index(index).child("name");
    const name = textAt(hint, "name");
    if (seen.has(name)) problems.duplicate(place, name);
    seen.add(name);
    problems.invalidAll(place, name, check(name));
  });
}

/** The defaults of EndpointSlices. */
export const endpointSliceDefaults: DefaultsByType = {
  "discovery/v1.EndpointPort": (draft) => {
    setIfAbsent(draft, "name", "");
    setIfAbsent(draft, "protocol", "TCP");
  },
};

/** The cells of an EndpointSlice. */
export const endpointSliceRow: Row = rowOf(nameCell, textCell("addressType"), slicePorts, sliceEndpoints, ageCell);

function slicePorts(object: JsonObject): Json {
  const shown = objectsAt(object, "ports").map((port) => {
    const number = read(port, "port");
    if (typeof number === "number") return `${number}`;
    const name = read(port, "name");
    return typeof name === "string" ? name : "*";
  });
  return orUnset(firstOf(shown));
}

function sliceEndpoints(object: JsonObject): Json {
  return orUnset(
    firstOf(objectsAt(object, "endpoints").flatMap((endpoint) => asTexts(read(endpoint, "addresses")))),
  );
}

function orUnset(text: string): string {
  return text === "" ? "<unset>" : text;
}
