import { assertEquals, test } from "../../tests/testing.ts";
import { builtin, type KubeObject, type Resource } from "../api/mod.ts";
import { templateOf, TestCluster } from "./testing/test_cluster.ts";

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

async function expose(cluster: TestCluster, spec: object = {}): Promise<void> {
  await cluster.create(Service, "web", { spec: { selector: { app: "web" }, ports: [port], ...spec } });
  await cluster.settled();
}

async function addPod(cluster: TestCluster, name: string, app = "web", spec: object = {}): Promise<void> {
  const { metadata: { labels }, spec: whole } = templateOf(app, "app:1", spec);
  await cluster.create(Pod, name, { spec: whole }, { labels });
  await cluster.settled();
}

/** The endpoints of the Service: name and readiness. */
function endpointsOf(cluster: TestCluster): readonly string[] {
  return cluster.list(EndpointSlice).flatMap(({ endpoints }) => endpoints ?? [])
    .map(({ targetRef, conditions }) => `${targetRef.name} ${conditions.ready ? "ready" : "not ready"}`);
}

test("an EndpointSlice has the addresses of exactly the Pods that the Service selects", async () => {
  await using cluster = await TestCluster.start();
  await expose(cluster);
  await addPod(cluster, "a");
  await addPod(cluster, "b");
  await addPod(cluster, "c", "other");
  assertEquals(endpointsOf(cluster), ["a ready", "b ready"]);
  const [slice] = cluster.list(EndpointSlice);
  const pod = cluster.get(Pod, "default/a");
  assertEquals(slice?.endpoints?.[0]?.addresses, [`${pod.status?.podIP}`]);
  assertEquals(slice?.endpoints?.[0]?.nodeName, pod.spec.nodeName);
  assertEquals(slice?.ports?.map(({ port, protocol }) => `${port} ${protocol}`), ["8080 TCP"]);
  assertEquals(slice?.metadata.labels?.["kubernetes.io/service-name"], "web");
});

test("a Pod that is not ready is not a ready endpoint, unless publishNotReadyAddresses is set", async () => {
  await using cluster = await TestCluster.start();
  await expose(cluster);
  await addPod(cluster, "a");
  const conditions = [{ type: "Ready", status: "False", reason: "ContainersNotReady", message: "" }];
  // Without the label, the simulated kubelet leaves the Pods of this node alone.
  const node = cluster.get(Pod, "default/a").spec.nodeName ?? "";
  await cluster.patch(builtin.Node, node, { metadata: { labels: { "pintle.dev/simulated": null } } });
  await cluster.patch(Pod, "default/a", { status: { conditions } }, "status");
  await cluster.settled();
  assertEquals(endpointsOf(cluster), ["a not ready"]);
  await cluster.patch(Service, "default/web", { spec: { publishNotReadyAddresses: true } });
  await cluster.settled();
  assertEquals(endpointsOf(cluster), ["a ready"]);
});

test("a deleted or completed Pod is not an endpoint", async () => {
  await using cluster = await TestCluster.start();
  await expose(cluster);
  await addPod(cluster, "a");
  await addPod(cluster, "b", "web", { restartPolicy: "Never" });
  assertEquals(endpointsOf(cluster), ["a ready"]);
  await cluster.delete(Pod, "default/a");
  await cluster.settled();
  assertEquals(endpointsOf(cluster), []);
});

test("a named target port becomes the container port with that name", async () => {
  await using cluster = await TestCluster.start();
  await expose(cluster, { ports: [{ port: 80, targetPort: "web" }] });
  const ports = [{ name: "web", containerPort: 3000 }];
  await addPod(cluster, "a", "web", { containers: [{ name: "main", image: "app:1", ports }] });
  assertEquals(cluster.list(EndpointSlice)[0]?.ports?.[0]?.port, 3000);
});

test("the slice is deleted with its Service, created again when a user deletes it, and not created without a selector", async () => {
  await using cluster = await TestCluster.start();
  await expose(cluster);
  await addPod(cluster, "a");
  await cluster.delete(EndpointSlice, `default/${cluster.names(EndpointSlice)[0]}`);
  await cluster.settled();
  assertEquals(endpointsOf(cluster), ["a ready"]);
  await cluster.delete(Service, "default/web");
  await cluster.settled();
  assertEquals(cluster.names(EndpointSlice), []);
  await expose(cluster, { selector: undefined });
  assertEquals(cluster.names(EndpointSlice), []);
});
