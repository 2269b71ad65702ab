import { assertEquals, test } from "../../tests/testing.ts";
import { builtin } from "../api/mod.ts";
import { TestCluster } from "./testing/test_cluster.ts";

const { Service } = builtin;

const finalizer = "service.kubernetes.io/load-balancer-cleanup";
const balanced = (spec: object = {}) => ({ spec: { type: "LoadBalancer", ports: [{ port: 80 }], ...spec } });

function addressesOf(cluster: TestCluster, name: string) {
  return (cluster.get(Service, `default/${name}`).status?.loadBalancer?.ingress ?? []).map(({ ip }) => ip);
}

test("each Service of type LoadBalancer gets an address of its own, and a finalizer", async () => {
  await using cluster = await TestCluster.start();
  for (const name of ["a", "b"]) await cluster.create(Service, name, balanced());
  await cluster.create(Service, "inner", { spec: { ports: [{ port: 80 }] } });
  await cluster.settled();
  assertEquals(["a", "b"].flatMap((name) => addressesOf(cluster, name)).toSorted(), ["203.0.113.1", "203.0.113.2"]);
  assertEquals(cluster.get(Service, "default/a").metadata.finalizers, [finalizer]);
  assertEquals([addressesOf(cluster, "inner"), cluster.get(Service, "default/inner").metadata.finalizers], [
    [],
    undefined,
  ]);
});

test("the address is taken back when the type changes, and with the Service, and is then given again", async () => {
  await using cluster = await TestCluster.start();
  await cluster.create(Service, "a", balanced());
  await cluster.settled();
  await cluster.patch(Service, "default/a", { spec: { type: "ClusterIP" } });
  await cluster.settled();
  assertEquals([addressesOf(cluster, "a"), cluster.get(Service, "default/a").metadata.finalizers], [[], undefined]);
  await cluster.create(Service, "b", balanced());
  await cluster.settled();
  assertEquals(addressesOf(cluster, "b"), ["203.0.113.1"]);
  await cluster.delete(Service, "default/b");
  await cluster.settled();
  assertEquals(cluster.find(Service, "default/b"), undefined);
});

test("a Service of another class, or with an address of another controller, is left alone", async () => {
  await using cluster = await TestCluster.start();
  await cluster.create(Service, "a", balanced({ loadBalancerClass: "example.com/mine" }));
  await cluster.create(Service, "b", balanced({ loadBalancerIP: "192.0.2.7" }));
  await cluster.settled();
  assertEquals([addressesOf(cluster, "a"), cluster.get(Service, "default/a").metadata.finalizers], [[], undefined]);
  assertEquals(addressesOf(cluster, "b"), ["192.0.2.7"]);
  const status = { loadBalancer: { ingress: [{ ip: "198.51.100.9" }] } };
  await cluster.patch(Service, "default/b", { status }, "status");
  await cluster.settled();
  assertEquals(addressesOf(cluster, "b"), ["198.51.100.9"]);
});

test("a Service waits while all addresses are in use", async () => {
  await using cluster = await TestCluster.start();
  await cluster.create(Service, "a", balanced({ loadBalancerIP: "203.0.113.1" }));
  await cluster.settled();
  await cluster.create(Service, "b", balanced({ loadBalancerIP: "203.0.113.1" }));
  await cluster.settled();
  assertEquals(addressesOf(cluster, "b"), []);
  const reasons = cluster.list(builtin.Event).filter(({ regarding }) => regarding?.name === "b").map(({ reason }) =>
    reason
  );
  assertEquals(reasons, ["SyncLoadBalancerFailed"]);
  await cluster.delete(Service, "default/a");
  await cluster.pass(61_000, undefined, 5_000);
  assertEquals(addressesOf(cluster, "b"), ["203.0.113.1"]);
});
