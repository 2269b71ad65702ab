/** Rules of NetworkPolicies, Endpoints and EndpointSlices. */
import { isSameJson, type JsonObject, labelKeyErrors, labelValueErrors, read } from "../../model/mod.ts";
import { checkImmutable, checkSelector, hasBadValue } from "../checks.ts";
import {
  findNumber,
  findObject,
  has,
  metadataOf,
  numberAt,
  objectAt,
  objectsAt,
  textAt,
  textMapAt,
  textsAt,
} from "../fields.ts";
import { labelErrors, portErrors, portNameErrors, subdomainErrors } from "../formats.ts";
import {
  cidrErrors,
  cidrWarnings,
  endpointIpErrors,
  formatIp,
  ipErrors,
  ipWarnings,
  networkOf,
  parseCidr,
  parseIp,
} from "../ip.ts";
import type { KindRules } from "../kind_rules.ts";
import { FieldPath, type Problems } from "../problems.ts";

const protocols = ["TCP", "UDP", "SCTP"];
const sortedProtocols = ["SCTP", "TCP", "UDP"];
const managedBy = "endpointslice.kubernetes.io/managed-by";
const controllers = ["endpointslice-controller.k8s.io", "endpointslicemirroring-controller.k8s.io"];

/** Ingress and egress rules, with what the peers of each are called. */
const directions = [["ingress", "from"], ["egress", "to"]] as const;

/** NetworkPolicy. */
export const networkPolicyRules: KindRules = {
  depth: "full",
  generation: ["spec"],
  validate: (policy, problems) => checkNetworkPolicy(policy, [], false, problems),
  validateUpdate(policy, old, problems) {
    const known = blocksOf(old).flatMap(({ block }) => [textAt(block, "cidr"), ...textsAt(block, "except")]);
    checkNetworkPolicy(policy, known, hasBadValue(findObject(objectAt(old, "spec"), "podSelector")), problems);
  },
  warnings: (policy) =>
    blocksOf(policy).flatMap(({ block, path }) => [
      ...cidrWarnings(path.child("cidr"), textAt(block, "cidr")),
      ...textsAt(block, "except").flatMap((range, index) => cidrWarnings(path.child("except").index(index), range)),
    ]),
};

function blocksOf(policy: JsonObject): readonly { readonly block: JsonObject; readonly path: FieldPath }[] {
  const spec = objectAt(policy, "spec");
  return directions.flatMap(([direction, peers]) =>
    objectsAt(spec, direction).flatMap((rule, index) =>
      objectsAt(rule, peers).flatMap((peer, at) => {
        const block = findObject(peer, "ipBlock");
        const path = FieldPath.of("spec", direction).index(index).child(peers).index(at).child("ipBlock");
        return block === undefined ? [] : [{ block, path }];
      })
    )
  );
}

function checkNetworkPolicy(
  policy: JsonObject,
  known: readonly string[],
  allowsAnyValue: boolean,
  problems: Problems,
): void {
  const spec = objectAt(policy, "spec");
  const path = FieldPath.of("spec");
  checkSelector(findObject(spec, "podSelector"), path.child("podSelector"), problems, allowsAnyValue);
  for (const [direction, peers] of directions) {
    objectsAt(spec, direction).forEach((rule, index) => {
      const place = path.child(direction).index(index);
      objectsAt(rule, "ports").forEach((port, at) => checkPolicyPort(port, place.child("ports").index(at), problems));
      objectsAt(rule, peers).forEach((peer, at) =>
        checkPeer(peer, known, allowsAnyValue, place.child(peers).index(at), problems)
      );
    });
  }
  const types = textsAt(spec, "policyTypes");
  const place = path.child("policyTypes");
  if (types.length > 2) return problems.invalid(place, types, "may not specify more than two policyTypes");
  types.forEach((type, index) => {
    if (type !== "Ingress" && type !== "Egress") problems.notSupported(place.index(index), type, ["Ingress", "Egress"]);
  });
}

function checkPolicyPort(port: JsonObject, path: FieldPath, problems: Problems): void {
  const protocol = textAt(port, "protocol");
  if (!protocols.includes(protocol)) problems.notSupported(path.child("protocol"), protocol, protocols);
  const [number, end] = [read(port, "port") ?? null, findNumber(port, "endPort")];
  const place = path.child("endPort");
  if (typeof number === "number") {
    problems.invalidAll(path.child("port"), number, portErrors(number));
    if (end === undefined) return;
    if (end < number) problems.invalid(place, number, "must be greater than or equal to `port`");
    problems.invalidAll(place, end, portErrors(end));
    return;
  }
  const when = number === null ? "`port` is not specified" : "`port` is non-numeric";
  if (end !== undefined) problems.invalid(place, end, `may not be specified when ${when}`);
  if (typeof number === "string") problems.invalidAll(path.child("port"), number, portNameErrors(number));
}

function checkPeer(
  peer: JsonObject,
  known: readonly string[],
  allowsAnyValue: boolean,
  path: FieldPath,
  problems: Problems,
): void {
  const selectors = ["podSelector", "namespaceSelector"].filter((key) => has(peer, key));
  for (const key of selectors) checkSelector(findObject(peer, key), path.child(key), problems, allowsAnyValue);
  const block = findObject(peer, "ipBlock");
  if (block !== undefined) checkBlock(block, known, path.child("ipBlock"), problems);
  if (block === undefined && selectors.length === 0) problems.required(path, "must specify a peer");
  else if (block !== undefined && selectors.length > 0) {
    problems.forbidden(path, "may not specify both ipBlock and another peer");
  }
}

function checkBlock(block: JsonObject, known: readonly string[], path: FieldPath, problems: Problems): void {
  const cidr = textAt(block, "cidr");
  if (cidr === "") return problems.required(path.child("cidr"));
  problems.invalidAll(path.child("cidr"), cidr, cidrErrors(cidr, known));
  const whole = parseCidr(cidr);
  if (whole === undefined) return;
  textsAt(block, "except").forEach((text, index) => {
    const place = path.child("except").index(index);
    problems.invalidAll(place, text, cidrErrors(text, known));
    const part = parseCidr(text);
    if (part === undefined) return;
    const isWithin = part.address.family === whole.address.family && part.bits > whole.bits &&
      networkOf({ address: part.address, bits: whole.bits }) === networkOf(whole);
    if (!isWithin) problems.invalid(place, text, "must be a strict subset of `cidr`");
  });
}

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

function checkAppProtocol(port: JsonObject, path: FieldPath, problems: Problems): void {
  const protocol = textAt(port, "appProtocol");
  if (has(port, "appProtocol")) problems.invalidAll(path.child("appProtocol"), protocol, labelKeyErrors(protocol));
}

/** EndpointSlice. */
export const endpointSliceRules: KindRules = {
  depth: "full",
  generation: ["addressType", "endpoints", "ports"],
  countsLabels: true,
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
