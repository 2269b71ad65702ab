/**
 * Backends: where the API server behind an APIService is. kube-apiserver asks the cluster IP or the external name of its Service;
 * here a Service leads to the program that stands in for one of its ready Pods, or by an external name to loopback.
 *
 * Guarantees: only addresses on loopback are reached; the certificate of the program must be that of the Service, unless the
 * APIService says otherwise.
 */
import type { Random } from "../../async/mod.ts";
import { type HttpClient, httpClient, type TcpAddress } from "../../runtime/mod.ts";
import { joinHostPort, loopbackHost, RefusedConnection, standInOfPod } from "../forward/mod.ts";
import { booleanAt, findObject, numberAt, objectAt, objectsAt, textAt, textsAt } from "../kinds/mod.ts";
import { type JsonObject, notFound, read, StatusError } from "../model/mod.ts";
import type { ObjectStorage } from "../storage/mod.ts";
import type { ApiService, ServiceReference } from "./api_service.ts";

/** The certificate by which this server proves to others that it passes on the user. PEM text. */
export interface FrontProxy {
  readonly cert: string;
  readonly key: string;
  /** The authority that signed it, which other API servers trust. */
  readonly ca: string;
}

/** The name in the certificate. */
export const frontProxyName = "front-proxy-client";

/** Where a request to another API server goes. */
export interface Backend {
  /** Host and port as kube-apiserver would write them. */
  readonly host: string;
  /** Finds the program. @throws RefusedConnection */
  address(): TcpAddress;
}

/** A client for the API server of an APIService. */
export function backendClient({ service, ca, isInsecure }: ApiService, frontProxy: FrontProxy | undefined): HttpClient {
  const serverName = service === undefined ? undefined : `${service.name}.${service.namespace}.svc`;
  return httpClient({
    ...(ca === "" ? {} : { ca }),
    ...(serverName === undefined ? {} : { serverName }),
    ...(isInsecure ? { insecureSkipTlsVerify: true } : {}),
    ...(frontProxy === undefined ? {} : { cert: frontProxy.cert, key: frontProxy.key }),
  });
}

/** Finds the backend of a Service (apiserver `util/proxy`, ResolveCluster). @throws Error as it says why there is none */
export function backendOf(storage: ObjectStorage, reference: ServiceReference, random: Random): Backend {
  const { namespace, name, port } = reference;
  const service = storage.get("services", namespace, name);
  if (service === undefined) throw notFound({ group: "", resource: "services", name });
  const spec = objectAt(service, "spec");
  const type = textAt(spec, "type");
  if (type === "ExternalName") return externalBackend(textAt(spec, "externalName"), port);
  const ip = textAt(spec, "clusterIP");
  if (type === "ClusterIP" && ip === "None") throw new Error('cannot route to service with ClusterIP "None"');
  const found = objectsAt(spec, "ports").find((one) => numberAt(one, "port") === port);
  if (found === undefined) {
    throw new StatusError(
      503,
      "ServiceUnavailable",
      `no service port ${port} found for service ${JSON.stringify(name)}`,
    );
  }
  const host = joinHostPort(ip, port);
  return { host, address: () => podAddress(storage, reference, { portName: textAt(found, "name"), host, random }) };
}

function externalBackend(name: string, port: number): Backend {
  const host = joinHostPort(name, port);
  return {
    host,
    address() {
      const hostname = loopbackHost(name);
      if (hostname !== undefined) return { hostname, port };
      throw new RefusedConnection(
        `dial tcp ${host}: this server connects to loopback only, not to ${JSON.stringify(name)}`,
      );
    },
  };
}

/** The EndpointSlices of a Service. */
export function slicesOf(storage: ObjectStorage, { namespace, name }: ServiceReference): readonly JsonObject[] {
  return [...storage.list("endpointslices.discovery.k8s.io", namespace)].filter((slice) => {
    const labels = objectAt(objectAt(slice, "metadata"), "labels");
    return textAt(labels, "kubernetes.io/service-name") === name;
  });
}

/** True for an endpoint that takes connections. */
export function isReadyEndpoint(endpoint: JsonObject): boolean {
  const conditions = findObject(endpoint, "conditions") ?? {};
  return read(conditions, "ready") === undefined || booleanAt(conditions, "ready");
}

/** The program that stands in for a ready Pod of a Service. @throws RefusedConnection */
function podAddress(
  storage: ObjectStorage,
  reference: ServiceReference,
  { portName, host, random }: { readonly portName: string; readonly host: string; readonly random: Random },
): TcpAddress {
  const refused = (why: string) => new RefusedConnection(`dial tcp ${host}: connect: connection refused (${why})`);
  const targets = slicesOf(storage, reference).flatMap((slice) => {
    const port = objectsAt(slice, "ports").find((one) => textAt(one, "name") === portName);
    return port === undefined
      ? []
      : objectsAt(slice, "endpoints").filter(isReadyEndpoint).map((one) => ({ port: numberAt(port, "port"), one }));
  });
  const chosen = targets[Math.floor(random.next() * targets.length)];
  if (chosen === undefined) throw refused("the Service has no ready endpoint");
  const target = objectAt(chosen.one, "targetRef");
  const pod = textAt(target, "kind") === "Pod"
    ? storage.get("pods", reference.namespace, textAt(target, "name"))
    : undefined;
  if (pod === undefined) throw refused(`its endpoint ${textsAt(chosen.one, "addresses")[0] ?? ""} is no Pod`);
  return standInOfPod(pod, chosen.port);
}
