import { assertEquals, test } from "../../tests/testing.ts";
import { builtin } from "../api/mod.ts";
import { TestCluster } from "./testing/test_cluster.ts";

const { Endpoints, EndpointSlice, Service } = builtin;

const subsets = [{
  addresses: [{ ip: "192.0.2.1", nodeName: "n" }, { ip: "2001:db8::1" }],
  notReadyAddresses: [{ ip: "192.0.2.2", hostname: "b" }],
  ports: [{ name: "sql", port: 5432, protocol: "TCP" }],
}];

async function started(metadata: object = {}): Promise<TestCluster> {
  const cluster = await TestCluster.start();
  await cluster.create(Service, "db", { spec: { ports: [{ port: 5432 }] } });
  await cluster.create(Endpoints, "db", { subsets }, metadata);
  await cluster.settled();
  return cluster;
}

/** The mirrored EndpointSlices: family, addresses with readiness, ports. */
function slicesOf(cluster: TestCluster): readonly string[] {
  return cluster.list(EndpointSlice).map(({ addressType, endpoints, ports }) => {
    const all = (endpoints ?? []).map(({ addresses, conditions }) => `${addresses} ${conditions?.ready}`);
    return `${addressType}: ${all.join(", ")}: ${(ports ?? []).map(({ name, port }) => `${name} ${port}`)}`;
  }).toSorted();
}

const [ipv4, ipv6] = ["IPv4: 192.0.2.1 true, 192.0.2.2 false: sql 5432", "IPv6: 2001:db8::1 true: sql 5432"];

test("Endpoints of a Service without a selector are mirrored, one EndpointSlice for each family", async () => {
  const annotations = { note: "x", "endpoints.kubernetes.io/last-change-trigger-time": "2026-01-01T00:00:00Z" };
  await using cluster = await started({ labels: { team: "a" }, annotations });
  assertEquals(slicesOf(cluster), [ipv4, ipv6]);
  const [slice] = cluster.list(EndpointSlice);
  assertEquals(slice?.metadata.labels, {
    team: "a",
    "kubernetes.io/service-name": "db",
    "endpointslice.kubernetes.io/managed-by": "endpointslicemirroring-controller.k8s.io",
  });
  assertEquals(slice?.metadata.annotations, { note: "x" });
  assertEquals(slice?.metadata.generateName, "db-");
  const { uid } = cluster.get(Endpoints, "default/db").metadata;
  assertEquals(slice?.metadata.ownerReferences?.map(({ kind, uid, controller }) => [kind, uid, controller]), [
    ["Endpoints", uid, true],
  ]);
});

test("a change of Endpoints changes the EndpointSlice, also one of its ports, and an edited EndpointSlice is restored", async () => {
  await using cluster = await started();
  const names = cluster.names(EndpointSlice);
  const [subset] = subsets;
  await cluster.patch(Endpoints, "default/db", {
    subsets: [{ ...subset, ports: [{ name: "sql", port: 1, protocol: "TCP" }] }],
  });
  await cluster.settled();
  assertEquals(slicesOf(cluster), [ipv4.replace("5432", "1"), ipv6.replace("5432", "1")]);
  assertEquals(cluster.names(EndpointSlice), names);
  await cluster.patch(EndpointSlice, `default/${names[0]}`, { endpoints: [] });
  await cluster.settled();
  assertEquals(slicesOf(cluster), [ipv4.replace("5432", "1"), ipv6.replace("5432", "1")]);
  await cluster.patch(Endpoints, "default/db", { subsets: [{ addresses: [{ ip: "192.0.2.9" }] }] });
  await cluster.settled();
  assertEquals(slicesOf(cluster), ["IPv4: 192.0.2.9 true: "]);
});

test("EndpointSlices are deleted when the Endpoints, the Service or the reason to mirror is gone", async () => {
  const endings: Readonly<Record<string, (cluster: TestCluster) => Promise<unknown>>> = {
    endpoints: (cluster) => cluster.delete(Endpoints, "default/db"),
    service: (cluster) => cluster.delete(Service, "default/db"),
    selector: (cluster) => cluster.patch(Service, "default/db", { spec: { selector: { app: "none" } } }),
    label: (cluster) =>
      cluster.patch(Endpoints, "default/db", {
        metadata: { labels: { "endpointslice.kubernetes.io/skip-mirror": "true" } },
      }),
    election: (cluster) =>
      cluster.patch(Endpoints, "default/db", {
        metadata: { annotations: { "control-plane.alpha.kubernetes.io/leader": "{}" } },
      }),
  };
  for (const [name, end] of Object.entries(endings)) {
    await using cluster = await started();
    assertEquals(slicesOf(cluster), [ipv4, ipv6]);
    await end(cluster);
    await cluster.settled();
    const mirrored = cluster.list(EndpointSlice).filter(({ metadata }) =>
      metadata.labels?.["endpointslice.kubernetes.io/managed-by"] === "endpointslicemirroring-controller.k8s.io"
    );
    assertEquals([name, mirrored.length], [name, 0]);
  }
});

test("at most 1,000 addresses of a subset are mirrored, and an Event says so", async () => {
  await using cluster = await started();
  const addresses = Array.from({ length: 1_001 }, (_, index) => ({ ip: `10.0.${index >> 8}.${index & 255}` }));
  await cluster.patch(Endpoints, "default/db", { subsets: [{ addresses }] });
  await cluster.settled();
  assertEquals(cluster.list(EndpointSlice).map(({ endpoints }) => endpoints?.length), [1_000]);
  const reasons = cluster.list(builtin.Event).map(({ reason }) => reason);
  assertEquals(reasons.includes("TooManyAddressesToMirror"), true);
});
