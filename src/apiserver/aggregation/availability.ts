/**
 * availabilityOf(): the condition `Available` of an APIService with a Service, with the reasons, messages and checks of
 * kube-aggregator (`remote_available_controller.go`): Service, port, endpoints, and the discovery of the version.
 */
import { type Clock, type Random, scope } from "../../async/mod.ts";
import type { HttpClient, TcpAddress } from "../../runtime/mod.ts";
import { dialError, joinHostPort } from "../forward/mod.ts";
import { numberAt, objectAt, objectsAt, textAt } from "../kinds/mod.ts";
import { type JsonObject, read, type User } from "../model/mod.ts";
import type { ObjectStorage } from "../storage/mod.ts";
import type { ApiService, Availability, ServiceReference } from "./api_service.ts";
import { backendOf, isReadyEndpoint, slicesOf } from "./backends.ts";
import { userHeaders } from "./user_headers.ts";

/** What a check needs. */
export interface CheckSources {
  readonly storage: ObjectStorage;
  readonly clock: Clock;
  readonly random: Random;
  /** Of the API server of this APIService. */
  readonly client: HttpClient;
  readonly signal: AbortSignal;
}

/** The user of requests of the aggregator itself. */
export const aggregatorUser: User = {
  name: "system:kube-aggregator",
  uid: "",
  groups: ["system:masters"],
  extra: new Map(),
};

/** One of several answers is enough: the endpoints of a Service are chosen at random. */
const attempts = 5;
const checkMs = 5_000;

/** Checks an APIService. */
export async function availabilityOf(apiService: ApiService, sources: CheckSources): Promise<Availability> {
  const { service } = apiService;
  if (service === undefined) throw new TypeError("Cannot check a local APIService: it has no Service");
  const missing = missingPart(service, sources.storage);
  if (missing !== undefined) return missing;
  let lastError = "";
  const check = async () => {
    const error = await discoveryError(apiService, service, sources);
    if (error === undefined) return;
    lastError = error;
    throw new Error(error);
  };
  try {
    await Promise.any(Array.from({ length: attempts }, check));
  } catch {
    return { status: "False", reason: "FailedDiscoveryCheck", message: lastError };
  }
  return { status: "True", reason: "Passed", message: "all checks passed" };
}

/** The condition when the Service cannot be used; undefined when it can. */
function missingPart(reference: ServiceReference, storage: ObjectStorage): Availability | undefined {
  const { namespace, name, port } = reference;
  const place = `service/${name} in ${JSON.stringify(namespace)}`;
  const failed = (reason: string, message: string): Availability => ({ status: "False", reason, message });
  const service = storage.get("services", namespace, name);
  if (service === undefined) return failed("ServiceNotFound", `${place} is not present`);
  const spec = objectAt(service, "spec");
  if (textAt(spec, "type") !== "ClusterIP") return undefined;
  const found = objectsAt(spec, "ports").find((one) => numberAt(one, "port") === port);
  if (found === undefined) return failed("ServicePortError", `${place} is not listening on port ${port}`);
  const slices = slicesOf(storage, reference);
  if (slices.length === 0) return failed("EndpointsNotFound", `cannot find endpointslices for ${place}`);
  const portName = textAt(found, "name");
  if (slices.some((slice) => hasEndpoint(slice, portName))) return undefined;
  const message = `endpointslices for ${place} have no addresses with port name ${JSON.stringify(portName)}`;
  return failed("MissingEndpoints", message);
}

function hasEndpoint(slice: JsonObject, portName: string): boolean {
  const isNamed = (port: JsonObject) =>
    read(port, "name") !== undefined && textAt(port, "name") === portName && read(port, "port") !== undefined;
  return objectsAt(slice, "endpoints").some(isReadyEndpoint) && objectsAt(slice, "ports").some(isNamed);
}

/** Why the discovery of the version cannot be read; undefined when it can. */
async function discoveryError(
  { group, version }: ApiService,
  service: ServiceReference,
  { storage, clock, random, client, signal }: CheckSources,
): Promise<string | undefined> {
  let url = "";
  let address: TcpAddress | undefined;
  using time = scope(signal, { timeoutMs: checkMs, clock });
  try {
    const backend = backendOf(storage, service, random);
    const path = `/apis/${group}/${version}`;
    url = `https://${backend.host}${path}`;
    address = backend.address();
    const target = `https://${joinHostPort(address.hostname, address.port)}${path}`;
    const headers = { host: [backend.host], ...userHeaders(aggregatorUser) };
    const response = await client.fetch(new Request(target, { signal: time.signal }), { headers });
    await response.body?.cancel();
    if (response.ok) return undefined;
    return `failing or missing response from ${url}: bad status from ${url}: ${response.status}`;
  } catch (error) {
    if (signal.aborted) throw error;
    if (url === "") return error instanceof Error ? error.message : String(error);
    const timedOut = "context deadline exceeded (Client.Timeout exceeded while awaiting headers)";
    const why = time.signal.aborted ? timedOut : dialError(error, address);
    return `failing or missing response from ${url}: Get ${JSON.stringify(url)}: ${why}`;
  }
}
