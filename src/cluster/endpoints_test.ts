import { assertEquals, test } from "../../tests/testing.ts";
import { builtin } from "../api/mod.ts";
import { RecordingLogger } from "../client/testing/cluster_access.ts";
import { templateOf, TestCluster } from "./testing/test_cluster.ts";

const { Endpoints, Pod, Service } = builtin;

const port = { name: "http", port: 80, targetPort: 8080 };

async function expose(cluster: TestCluster, spec: object = {}, metadata: object = {}): Promise<void> {
  await cluster.create(Service, "web", { spec: { selector: { app: "web" }, ports: [port], ...spec } }, metadata);
  await cluster.settled();
}

async function addPod(cluster: TestCluster, name: string, spec: object = {}): Promise<void> {
  const { metadata: { labels }, spec: whole } = templateOf("web", "app:1", spec);
  await cluster.create(Pod, name, { spec: whole }, { labels });
  await cluster.settled();
}

/** A Pod with a status of the test's, on no node: the simulated kubelet leaves it alone. */
async function addIdlePod(cluster: TestCluster, name: string, ip: string, ready: "True" | "False"): Promise<void> {
  const { metadata: { labels }, spec } = templateOf("web", "app:1", { schedulerName: "none" });
  await cluster.create(Pod, name, { spec }, { labels });
  const conditions = [{ type: "Ready", status: ready, lastTransitionTime: "2026-01-01T00:00:00Z" }];
  await cluster.patch(Pod, `default/${name}`, { status: { podIP: ip, podIPs: [{ ip }], conditions } }, "status");
}

test("Endpoints have the ready Pods of the Service, its labels and the time of the change", async () => {
  await using cluster = await TestCluster.start();
  await expose(cluster, {}, { labels: { team: "a" } });
  const empty = cluster.get(Endpoints, "default/web");
  assertEquals(empty.subsets, undefined);
  assertEquals(empty.metadata.labels, { team: "a", "endpoints.kubernetes.io/managed-by": "endpoint-controller" });
  const { creationTimestamp } = cluster.get(Service, "default/web").metadata;
  const changedAt = "endpoints.kubernetes.io/last-change-trigger-time";
  assertEquals(empty.metadata.annotations, { [changedAt]: `${creationTimestamp}` });
  await addPod(cluster, "a");
  const pod = cluster.get(Pod, "default/a");
  const ready = pod.status?.conditions?.find(({ type }) => type === "Ready");
  const { metadata, subsets } = cluster.get(Endpoints, "default/web");
  assertEquals(metadata.annotations, { [changedAt]: `${ready?.lastTransitionTime}` });
  const targetRef = { kind: "Pod", namespace: "default", name: "a", uid: pod.metadata.uid };
  assertEquals(subsets, [{
    addresses: [{ ip: `${pod.status?.podIP}`, nodeName: `${pod.spec.nodeName}`, targetRef }],
    ports: [{ name: "http", port: 8080, protocol: "TCP" }],
  }]);
});

test("a Pod that is not ready is among notReadyAddresses, unless the Service publishes it", async () => {
  await using cluster = await TestCluster.start();
  await expose(cluster);
  await addIdlePod(cluster, "a", "10.0.0.1", "True");
  await addIdlePod(cluster, "b", "10.0.0.2", "False");
  await cluster.settled();
  const ips = () =>
    cluster.get(Endpoints, "default/web").subsets?.map(({ addresses = [], notReadyAddresses = [] }) => [
      addresses.map(({ ip }) => ip),
      notReadyAddresses.map(({ ip }) => ip),
    ]);
  assertEquals(ips(), [[["10.0.0.1"], ["10.0.0.2"]]]);
  await cluster.patch(Service, "default/web", { spec: { publishNotReadyAddresses: true } });
  await cluster.settled();
  assertEquals(ips(), [[["10.0.0.1", "10.0.0.2"], []]]);
});

test("Pods whose named port has different numbers are in different subsets", async () => {
  await using cluster = await TestCluster.start();
  await expose(cluster, { ports: [{ port: 80, targetPort: "web" }] });
  for (const [name, containerPort] of [["a", 3000], ["b", 4000]] as const) {
    await addPod(cluster, name, {
      containers: [{ name: "main", image: "app:1", ports: [{ name: "web", containerPort }] }],
    });
  }
  const { subsets = [] } = cluster.get(Endpoints, "default/web");
  const found = subsets.map(({ addresses = [], ports = [] }) =>
    `${addresses.map(({ targetRef }) => targetRef?.name)} ${ports.map(({ port }) => port)}`
  );
  assertEquals(found.toSorted(), ["a 3000", "b 4000"]);
});

test("more than 1,000 addresses are truncated, and an annotation says so", async () => {
  await using cluster = await TestCluster.start();
  for (let index = 0; index < 1_003; index++) {
    await addIdlePod(cluster, `p${index}`, `10.1.${index >> 8}.${index & 255}`, index < 990 ? "True" : "False");
  }
  await expose(cluster);
  const overCapacity = "endpoints.kubernetes.io/over-capacity";
  const { metadata, subsets: [subset] = [] } = cluster.get(Endpoints, "default/web");
  assertEquals([subset?.addresses?.length, subset?.notReadyAddresses?.length], [990, 10]);
  assertEquals(metadata.annotations?.[overCapacity], "truncated");
  const written = cluster.revision;
  await cluster.patch(Pod, "default/p0", { metadata: { annotations: { a: "b" } } });
  await cluster.settled();
  assertEquals(cluster.revision, written + 1);
  for (const name of ["p1000", "p1001", "p1002"]) await cluster.delete(Pod, `default/${name}`);
  await cluster.settled();
  assertEquals(cluster.get(Endpoints, "default/web").metadata.annotations?.[overCapacity], undefined);
});

test("Endpoints are deleted with their Service, and created again when a user deletes them", async () => {
  await using cluster = await TestCluster.start();
  await expose(cluster);
  await cluster.delete(Endpoints, "default/web");
  await cluster.settled();
  assertEquals(cluster.names(Endpoints), ["web"]);
  await cluster.delete(Service, "default/web");
  await cluster.settled();
  assertEquals(cluster.names(Endpoints), []);
});

test("Endpoints of a headless Service without ports have the host names of its Pods", async () => {
  await using cluster = await TestCluster.start();
  await expose(cluster, { clusterIP: "None", ports: [] });
  await addPod(cluster, "a", { hostname: "a", subdomain: "web" });
  const { metadata, subsets } = cluster.get(Endpoints, "default/web");
  assertEquals(subsets?.map(({ addresses, ports }) => [addresses?.map(({ hostname }) => hostname), ports]), [
    [["a"], undefined],
  ]);
  assertEquals(metadata.labels?.["service.kubernetes.io/headless"], "");
});

test("Endpoints of a Service without a selector are left alone", async () => {
  await using cluster = await TestCluster.start();
  await expose(cluster, { selector: undefined });
  assertEquals(cluster.names(Endpoints), []);
  const subsets = [{ addresses: [{ ip: "192.0.2.1" }], ports: [{ port: 1, protocol: "TCP" }] }];
  await cluster.create(Endpoints, "web", { subsets });
  await cluster.create(Endpoints, "other", { subsets });
  await cluster.patch(Service, "default/web", { metadata: { labels: { a: "b" } } });
  await cluster.settled();
  assertEquals(cluster.get(Endpoints, "default/web").subsets, subsets as never);
  assertEquals(cluster.get(Endpoints, "default/other").metadata.labels, undefined);
});

test("the cluster does not log that Endpoints are deprecated", async () => {
  const logger = new RecordingLogger();
  await using cluster = await TestCluster.start({ logger });
  await expose(cluster);
  assertEquals(cluster.names(Endpoints), ["web"]);
  assertEquals(logger.warnings, []);
  // The same client of a user is told.
  await cluster.client.get(Endpoints, "default/web");
  assertEquals(logger.warnings, ["received API server warning"]);
});
