import { assertEquals, test } from "../../tests/testing.ts";
import { builtin, type KubeObject, type Resource } from "../api/mod.ts";
import { ClusterRig, templateOf } from "./cluster_rig.ts";

const { Pod, Service } = builtin;

interface EndpointSlice extends KubeObject {
  readonly endpoints?: readonly {
    readonly addresses: readonly string[];
    readonly conditions: { readonly ready: boolean; readonly serving: boolean };
    readonly nodeName?: string;
    readonly targetRef: { readonly name: string };
  }[];
  readonly ports?: readonly { readonly name: string; readonly port: number; readonly protocol: string }[];
}

const EndpointSlice: Resource<EndpointSlice> = {
  group: "discovery.k8s.io",
  version: "v1",
  kind: "EndpointSlice",
  plural: "endpointslices",
  scope: "Namespaced",
};

const port = { name: "http", port: 80, targetPort: 8080 };

async function expose(cluster: ClusterRig, spec: object = {}): Promise<void> {
  await cluster.create(Service, "web", { spec: { selector: { app: "web" }, ports: [port], ...spec } });
  await cluster.settled();
}

async function addPod(cluster: ClusterRig, name: string, app = "web", spec: object = {}): Promise<void> {
  const { metadata: { labels }, spec: whole } = templateOf(app, "app:1", spec);
  await cluster.create(Pod, name, { spec: whole }, { labels });
  await cluster.settled();
}

/** Which Pods are behind the Service, and which of them take traffic. */
function behind(cluster: ClusterRig): readonly string[] {
  return cluster.list(EndpointSlice).flatMap(({ endpoints }) => endpoints ?? [])
    .map(({ targetRef, conditions }) => `${targetRef.name} ${conditions.ready ? "ready" : "not ready"}`);
}

test("a Service's EndpointSlice has the addresses of the Pods that it selects, and of no others", async () => {
  await using cluster = await ClusterRig.start();
  await expose(cluster);
  await addPod(cluster, "a");
  await addPod(cluster, "b");
  await addPod(cluster, "c", "other");
  assertEquals(behind(cluster), ["a ready", "b ready"]);
  const [slice] = cluster.list(EndpointSlice);
  const pod = cluster.get(Pod, "default/a");
  assertEquals(slice?.endpoints?.[0]?.addresses, [`${pod.status?.podIP}`]);
  assertEquals(slice?.endpoints?.[0]?.nodeName, pod.spec.nodeName);
  assertEquals(slice?.ports?.map(({ port, protocol }) => `${port} ${protocol}`), ["8080 TCP"]);
  assertEquals(slice?.metadata.labels?.["kubernetes.io/service-name"], "web");
});

test("a Pod that is not ready takes no traffic, unless the Service says so", async () => {
  await using cluster = await ClusterRig.start();
  await expose(cluster);
  await addPod(cluster, "a");
  const conditions = [{ type: "Ready", status: "False", reason: "ContainersNotReady", message: "" }];
  // Its node is somebody else's, so that the simulated kubelet leaves it.
  const node = cluster.get(Pod, "default/a").spec.nodeName ?? "";
  await cluster.patch(builtin.Node, node, { metadata: { labels: { "pintle.dev/simulated": null } } });
  await cluster.patch(Pod, "default/a", { status: { conditions } }, "status");
  await cluster.settled();
  assertEquals(behind(cluster), ["a not ready"]);
  await cluster.patch(Service, "default/web", { spec: { publishNotReadyAddresses: true } });
  await cluster.settled();
  assertEquals(behind(cluster), ["a ready"]);
});

test("a Pod that went, or ended, is behind the Service no longer", async () => {
  await using cluster = await ClusterRig.start();
  await expose(cluster);
  await addPod(cluster, "a");
  await addPod(cluster, "b", "web", { restartPolicy: "Never" });
  assertEquals(behind(cluster), ["a ready"]);
  await cluster.delete(Pod, "default/a");
  await cluster.settled();
  assertEquals(behind(cluster), []);
});

test("a port by name is the number that the Pods give it", async () => {
  await using cluster = await ClusterRig.start();
  await expose(cluster, { ports: [{ port: 80, targetPort: "web" }] });
  const ports = [{ name: "web", containerPort: 3000 }];
  await addPod(cluster, "a", "web", { containers: [{ name: "main", image: "app:1", ports }] });
  assertEquals(cluster.list(EndpointSlice)[0]?.ports?.[0]?.port, 3000);
});

test("the slice goes with its Service, comes back when it is deleted, and is not made without a selector", async () => {
  await using cluster = await ClusterRig.start();
  await expose(cluster);
  await addPod(cluster, "a");
  await cluster.delete(EndpointSlice, `default/${cluster.names(EndpointSlice)[0]}`);
  await cluster.settled();
  assertEquals(behind(cluster), ["a ready"]);
  await cluster.delete(Service, "default/web");
  await cluster.settled();
  assertEquals(cluster.names(EndpointSlice), []);
  await expose(cluster, { selector: undefined });
  assertEquals(cluster.names(EndpointSlice), []);
});
