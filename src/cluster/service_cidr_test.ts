import { assertEquals, assertRejects, test } from "../../tests/testing.ts";
import { builtin } from "../api/mod.ts";
import { TestCluster } from "./testing/test_cluster.ts";

const finalizer = "networking.k8s.io/service-cidr-finalizer";

const address = {
  spec: { parentRef: { resource: "services", namespace: "default", name: "web" } },
};
const labels = { "ipaddress.kubernetes.io/managed-by": "ipallocator.k8s.io" };

async function withRange(name: string, cidr: string): Promise<TestCluster> {
  const cluster = await TestCluster.start({ nodes: 0 });
  await cluster.create(builtin.ServiceCIDR, name, { spec: { cidrs: [cidr] } });
  await cluster.settled();
  return cluster;
}

function readiness(cluster: TestCluster, name: string) {
  const { metadata, status } = cluster.get(builtin.ServiceCIDR, name);
  const conditions = (status?.conditions ?? []).map(({ type, status, reason }) => [type, status, reason]);
  return [metadata.finalizers, ...conditions];
}

const service = (clusterIP: string) => ({ spec: { ports: [{ port: 80 }], clusterIP } });

test("a new ServiceCIDR gets a finalizer and is ready, and Services get its addresses", async () => {
  await using cluster = await withRange("extra", "192.0.2.0/30");
  assertEquals(readiness(cluster, "extra"), [[finalizer], ["Ready", "True", ""]]);
  await cluster.create(builtin.Service, "a", service("192.0.2.2"));
  await assertRejects(
    () => cluster.create(builtin.Service, "b", service("192.0.2.2")),
    /provided IP is already allocated/,
  );
  for (const ip of ["192.0.2.0", "192.0.2.3", "192.0.2.4"]) {
    await assertRejects(
      () => cluster.create(builtin.Service, "b", service(ip)),
      /the provided network does not match the current range/,
    );
  }
  // An address that another object has is not given to a Service either.
  await cluster.create(builtin.IPAddress, "192.0.2.1", address);
  await assertRejects(() => cluster.create(builtin.Service, "b", service("192.0.2.1")), /already allocated/);
});

test("a deleted ServiceCIDR stays while an address depends on it, and is gone ten seconds after its deletion", async () => {
  await using cluster = await withRange("extra", "192.0.2.0/28");
  await cluster.create(builtin.IPAddress, "192.0.2.5", address, { labels });
  await cluster.delete(builtin.ServiceCIDR, "extra");
  await cluster.settled();
  assertEquals(readiness(cluster, "extra"), [[finalizer], ["Ready", "False", "Terminating"]]);
  await assertRejects(() => cluster.create(builtin.Service, "a", service("192.0.2.6")), /does not match/);
  await cluster.pass(20_000);
  await cluster.delete(builtin.IPAddress, "192.0.2.5");
  await cluster.settled();
  assertEquals(cluster.find(builtin.ServiceCIDR, "extra"), undefined);
});

test("a deleted ServiceCIDR without addresses waits until all API servers know of its deletion", async () => {
  await using cluster = await withRange("extra", "192.0.2.0/28");
  await cluster.delete(builtin.ServiceCIDR, "extra");
  await cluster.pass(9_000);
  assertEquals(cluster.get(builtin.ServiceCIDR, "extra").metadata.finalizers, [finalizer]);
  await cluster.pass(2_000);
  assertEquals(cluster.find(builtin.ServiceCIDR, "extra"), undefined);
});

test("a deleted ServiceCIDR does not wait for addresses that a new, larger range contains", async () => {
  await using cluster = await withRange("extra", "192.0.2.0/28");
  await cluster.create(builtin.IPAddress, "192.0.2.5", address, { labels });
  await cluster.delete(builtin.ServiceCIDR, "extra");
  await cluster.pass(11_000);
  assertEquals(readiness(cluster, "extra"), [[finalizer], ["Ready", "False", "Terminating"]]);
  await cluster.create(builtin.ServiceCIDR, "larger", { spec: { cidrs: ["192.0.2.0/24"] } });
  await cluster.settled();
  assertEquals(cluster.find(builtin.ServiceCIDR, "extra"), undefined);
});
