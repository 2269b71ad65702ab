/**
 * Locations: where the proxies of Pods, Services and Nodes send a request, by the rules of kube-apiserver (`ResourceLocation` in
 * registry/core), to the programs that stand in for what these serve.
 */
import { numberAt, objectAt, objectsAt, textAt } from "../kinds/mod.ts";
import { badRequest, type JsonObject, notFound, StatusError } from "../model/mod.ts";
import type { Random } from "../../async/mod.ts";
import type { TcpAddress } from "../../runtime/mod.ts";
import type { ObjectStorage } from "../storage/mod.ts";
import { joinHostPort, RefusedConnection, standInOfNode, standInOfPod } from "./stand_ins.ts";

/** Where a request goes. */
export interface Location {
  readonly scheme: "http" | "https";
  /** Of the Pod or the Node, as kube-apiserver would write it. */
  readonly host: string;
  /** Finds the program. @throws RefusedConnection */
  standIn(): TcpAddress;
}

/** What a proxy may reach. */
export interface LocationSources {
  readonly storage: ObjectStorage;
  /** Chooses among endpoints. */
  readonly random: Random;
}

interface ProxyId {
  readonly scheme: "http" | "https";
  readonly name: string;
  readonly port: string;
}

/** `name`, `name:port` or `scheme:name:port`. */
function proxyIdOf(kind: string, id: string): ProxyId {
  const parts = id.split(":");
  const [scheme = "", name = "", port = ""] = parts.length === 3 ? parts : ["", ...parts];
  if (parts.length > 3 || name === "" || !["", "http", "https"].includes(scheme)) {
    throw badRequest(`invalid ${kind} request ${JSON.stringify(id)}`);
  }
  return { scheme: scheme === "https" ? "https" : "http", name, port };
}

/** Of a Pod; without a port the first one of its containers. @throws StatusError */
export function podLocation({ storage }: LocationSources, namespace: string, id: string): Location {
  const { scheme, name, port: asked } = proxyIdOf("pod", id);
  const pod = storage.get("pods", namespace, name);
  if (pod === undefined) throw notFound({ group: "", resource: "pods", name });
  const port = asked === "" ? firstPort(pod) : asked;
  const ip = podIp(pod);
  if (!isGlobalUnicast(ip)) throw badRequest("address not allowed");
  return locationOf(pod, { scheme, ip, port });
}

function locationOf(
  pod: JsonObject,
  { scheme, ip, port }: { readonly scheme: "http" | "https"; readonly ip: string; readonly port: string },
): Location {
  const number = port === "" ? (scheme === "https" ? 443 : 80) : portNumber(port);
  return {
    scheme,
    host: port === "" ? (ip.includes(":") ? `[${ip}]` : ip) : joinHostPort(ip, port),
    standIn() {
      if (number === undefined) throw new RefusedConnection(`dial tcp: lookup tcp/${port}: unknown port`);
      return standInOfPod(pod, number);
    },
  };
}

function firstPort(pod: JsonObject): string {
  const ports = objectsAt(objectAt(pod, "spec"), "containers").flatMap((container) => objectsAt(container, "ports"));
  const [first] = ports;
  return first === undefined ? "" : `${numberAt(first, "containerPort")}`;
}

function podIp(pod: JsonObject): string {
  const [first] = objectsAt(objectAt(pod, "status"), "podIPs");
  return first === undefined ? "" : textAt(first, "ip");
}

function portNumber(text: string): number | undefined {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  return port >= 1 && port <= 65_535 ? port : undefined;
}

/** Of a ready Pod behind a Service. @throws StatusError 404, 503 */
export function serviceLocation(sources: LocationSources, namespace: string, id: string): Location {
  const { scheme, name, port } = proxyIdOf("service", id);
  const { storage, random } = sources;
  const portName = /^[+-]?\d+$/.test(port) ? namedPort(storage, { namespace, name, port }) : port;
  const endpoints = storage.get("endpoints", namespace, name);
  // Errors name the resource of the request.
  if (endpoints === undefined) throw notFound({ group: "", resource: "services", name });
  const subsets = objectsAt(endpoints, "subsets");
  if (subsets.length === 0) throw unavailable(`no endpoints available for service ${JSON.stringify(name)}`);
  for (const subset of rotated(subsets, random)) {
    for (const one of objectsAt(subset, "ports")) {
      if (textAt(one, "name") !== portName) continue;
      for (const address of rotated(objectsAt(subset, "addresses"), random)) {
        const pod = targetPod(storage, namespace, address);
        if (pod === undefined) continue;
        return locationOf(pod, { scheme, ip: textAt(address, "ip"), port: `${numberAt(one, "port")}` });
      }
    }
  }
  throw unavailable(`no endpoints available for service ${JSON.stringify(id)}`);
}

/** The name of a port of a Service that is given as a number. */
function namedPort(
  storage: ObjectStorage,
  { namespace, name, port }: { readonly namespace: string; readonly name: string; readonly port: string },
): string {
  const service = storage.get("services", namespace, name);
  if (service === undefined) throw notFound({ group: "", resource: "services", name });
  const number = Number(port);
  const found = objectsAt(objectAt(service, "spec"), "ports").find((one) => numberAt(one, "port") === number);
  if (found !== undefined) return textAt(found, "name");
  throw unavailable(`no service port ${number} found for service ${JSON.stringify(name)}`);
}

/** The Pod of an address of Endpoints; undefined unless it still has this address. */
function targetPod(storage: ObjectStorage, namespace: string, address: JsonObject): JsonObject | undefined {
  const target = objectAt(address, "targetRef");
  if (textAt(target, "namespace") !== namespace) return undefined;
  const pod = storage.get("pods", namespace, textAt(target, "name"));
  const ips = pod === undefined ? [] : objectsAt(objectAt(pod, "status"), "podIPs").map((one) => textAt(one, "ip"));
  return ips.includes(textAt(address, "ip")) ? pod : undefined;
}

/** All of them, beginning with any. */
function rotated<T>(all: readonly T[], random: Random): readonly T[] {
  const start = Math.floor(random.next() * all.length);
  return [...all.slice(start), ...all.slice(0, start)];
}

/** The types of addresses of a Node, the preferred one first: the default of kube-apiserver. */
const preferredAddresses = ["Hostname", "InternalDNS", "InternalIP", "ExternalDNS", "ExternalIP"];
const kubeletPort = 10_250;

/** Of a Node; without a port that of its kubelet. @throws StatusError */
export function nodeLocation({ storage }: LocationSources, id: string): Location {
  const { scheme, name, port: asked } = proxyIdOf("node", id);
  const node = storage.get("nodes", "", name);
  if (node === undefined) throw notFound({ group: "", resource: "nodes", name });
  const status = objectAt(node, "status");
  const addresses = objectsAt(status, "addresses");
  const address = preferredAddresses.map((type) => addresses.find((one) => textAt(one, "type") === type))
    .find((one) => one !== undefined);
  if (address === undefined) {
    throw new StatusError(
      500,
      "",
      `no preferred addresses found; known addresses: [${addresses.map(addressText).join(" ")}]`,
    );
  }
  const host = textAt(address, "address");
  if (/^[\d.]+$|:/.test(host) && !isGlobalUnicast(host)) throw badRequest("address not allowed");
  const reported = numberAt(objectAt(objectAt(status, "daemonEndpoints"), "kubeletEndpoint"), "Port");
  const port = asked === "" ? `${reported > 0 ? reported : kubeletPort}` : asked;
  const number = portNumber(port);
  return {
    scheme,
    host: joinHostPort(host, port),
    standIn() {
      if (number === undefined) throw new RefusedConnection(`dial tcp: lookup tcp/${port}: unknown port`);
      return standInOfNode(node, host, number);
    },
  };
}

function addressText(address: JsonObject): string {
  return `{${textAt(address, "type")} ${textAt(address, "address")}}`;
}

/** True for an address that is neither of one machine, nor of one link, nor of many receivers (Go's `IsGlobalUnicast`). */
export function isGlobalUnicast(ip: string): boolean {
  if (ip.includes(":")) {
    const text = ip.toLowerCase();
    return text !== "::1" && text !== "::" && !/^fe[89ab]/.test(text) && !text.startsWith("ff");
  }
  const parts = ip.split(".").map(Number);
  const [first = 0, second = 0] = parts;
  if (parts.length !== 4 || parts.some((part) => !(part >= 0 && part <= 255))) return false;
  const isSpecial = ip === "0.0.0.0" || ip === "255.255.255.255" || first === 127 || (first >= 224 && first <= 239);
  return !isSpecial && !(first === 169 && second === 254);
}

/** 503, with `retryAfterSeconds` absent, as `NewServiceUnavailable` of apimachinery. */
export function unavailable(why: string): StatusError {
  return new StatusError(503, "ServiceUnavailable", why);
}
