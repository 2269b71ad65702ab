/**
 * advertise(): the Service `kubernetes` in the namespace `default` with the address of this server, by which Pods find their
 * API server: the Service with the first cluster IP, its Endpoints, and its EndpointSlice. A server writes them when it
 * listens, as kube-apiserver does.
 *
 * Caveats: this server may listen on loopback only. Nobody could write such an address into Endpoints by a request.
 */
import { firstServiceIp, objectAt } from "../kinds/mod.ts";
import { isSameJson, type JsonObject } from "../model/mod.ts";
import type { ObjectStorage } from "../storage/mod.ts";
import { systemMetadata, type SystemSources } from "./default_objects.ts";

/** Where a server listens. */
export interface Advertised {
  /** An IPv4 or IPv6 address. */
  readonly address: string;
  readonly port: number;
}

const name = "kubernetes";
const namespace = "default";

/** Creates the objects, or changes their address. */
export function advertise(storage: ObjectStorage, server: Advertised, sources: SystemSources): void {
  const { address, port } = server;
  const put = (collection: string, labels: JsonObject, content: JsonObject) => {
    const known = storage.find(collection, namespace, name);
    if (known === undefined) {
      const metadata = { name, namespace, labels, ...systemMetadata(sources) };
      storage.create(collection, namespace, name, { ...content, metadata });
      return;
    }
    const next = { ...known.object, ...content, metadata: objectAt(known.object, "metadata") };
    if (!isSameJson(next, known.object)) storage.update(collection, known, next);
  };
  put("services", { component: "apiserver", provider: "kubernetes" }, serviceOf(port));
  put("endpoints", { "endpointslice.kubernetes.io/skip-mirror": "true" }, endpointsOf(address, port));
  put("endpointslices.discovery.k8s.io", { "kubernetes.io/service-name": name }, sliceOf(address, port));
}

const https = { name: "https", protocol: "TCP" };

function serviceOf(port: number): JsonObject {
  return {
    apiVersion: "v1",
    kind: "Service",
    spec: {
      clusterIP: firstServiceIp,
      clusterIPs: [firstServiceIp],
      internalTrafficPolicy: "Cluster",
      ipFamilies: ["IPv4"],
      ipFamilyPolicy: "SingleStack",
      ports: [{ ...https, port: 443, targetPort: port }],
      sessionAffinity: "None",
      type: "ClusterIP",
    },
    status: { loadBalancer: {} },
  };
}

function endpointsOf(address: string, port: number): JsonObject {
  const subsets = [{ addresses: [{ ip: address }], ports: [{ ...https, port }] }];
  return { apiVersion: "v1", kind: "Endpoints", subsets };
}

function sliceOf(address: string, port: number): JsonObject {
  return {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    addressType: address.includes(":") ? "IPv6" : "IPv4",
    endpoints: [{ addresses: [address], conditions: { ready: true } }],
    ports: [{ ...https, port }],
  };
}
