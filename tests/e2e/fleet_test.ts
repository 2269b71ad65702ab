/**
 * run and doctor with --clusters, with the compiled binary and two API servers: clusters are engaged and disengaged by Secrets
 * of the hub. No real control plane is needed; fleet_outage_test.ts has two.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConfigMap, Deployment, Event, Lease, Secret } from "../../src/mod.ts";
import { EmbeddedCluster } from "../../src/testing.ts";
import { Foo } from "../../src/controllers/foo/mod.ts";
import { until } from "../controlplane/mod.ts";
import { assert, assertEquals, assertMatch, test } from "../testing.ts";
import { Binary, runBinary } from "./_binary.ts";

/** An API server, and its kubeconfig as a file. */
async function start(folder: string, name: string) {
  const cluster = await EmbeddedCluster.start({ name, workloads: false, onError: console.error });
  const kubeconfig = join(folder, `${name}.yaml`);
  writeFileSync(kubeconfig, cluster.kubeconfig, { mode: 0o600 });
  const installed = await runBinary(["install-crds", "foo"], { kubeconfig });
  assertEquals(installed.code, 0, installed.stderr);
  return {
    cluster,
    kubeconfig,
    async create(name: string): Promise<void> {
      const spec = { deploymentName: name, replicas: 1 };
      await cluster.client.create(Foo, { metadata: { namespace: "default", name }, spec });
    },
    find: (name: string) => cluster.client.find(Deployment, `default/${name}`),
  };
}

async function see(action: string, look: () => Promise<unknown>): Promise<void> {
  await until(action, async () => {
    const value = await look();
    return value === undefined ? { kind: "pending", state: "not yet" } : { kind: "found", value: undefined };
  });
}

test("run --clusters secrets: reconciles in each cluster with a Secret, and doctor checks each of them", async () => {
  const folder = mkdtempSync(join(tmpdir(), "pintle-fleet-"));
  await using _removed = { [Symbol.asyncDispose]: () => Promise.resolve(rmSync(folder, { recursive: true })) };
  const [east, west] = [await start(folder, "east"), await start(folder, "west")];
  await using _east = east.cluster;
  await using _west = west.cluster;
  const hub = east.cluster.client;
  const addCluster = async (name: string, kubeconfig: string) => {
    await hub.create(Secret, { metadata: { namespace: "default", name }, stringData: { kubeconfig } });
  };
  await addCluster("east", east.cluster.kubeconfig);
  await addCluster("broken", "{");
  const { kubeconfig } = east;
  const args = ["run", "foo", "--clusters", "secrets:default", "--leader-elect"];
  await using running = new Binary(args, { kubeconfig });
  await running.logged(/INFO +fleet +engaging cluster +cluster=east/);
  await east.create("one");
  await see("one in east", () => east.find("one"));
  assert(await hub.find(Lease, "default/controller") !== undefined, "one Lease, in the hub");
  await see("an Event about the broken Secret", async () => {
    const { items } = await hub.listAll(Event, { namespace: "default" });
    return items.find(({ reason, regarding }) => reason === "ClusterNotConnected" && regarding?.name === "broken");
  });
  await addCluster("west", west.cluster.kubeconfig);
  await west.create("two");
  await see("two in west", () => west.find("two"));
  assertEquals([await west.cluster.client.find(Lease, "default/controller"), await east.find("two")], [
    undefined,
    undefined,
  ]);
  const doctor = await runBinary(["doctor", "foo", "--clusters", "secrets:default"], { kubeconfig });
  assertEquals(doctor.code, 5, doctor.stderr);
  assertMatch(doctor.stdout, /^ok +fleet +Secrets in namespace "default" +3 clusters$/m);
  assertMatch(doctor.stdout, /^FAILED +cluster +broken: +Cannot use kubeconfig "Secret default\/broken"/m);
  assertMatch(doctor.stdout, /^ok +definition +west: foos\.samplecontroller\.k8s\.io/m);
  await hub.delete(Secret, "default/west");
  await running.logged(/INFO +fleet +cluster disengaged +cluster=west/);
  assert(await west.find("two") !== undefined, "nothing is deleted");
  running.signal("SIGTERM");
  assertEquals((await running.ended()).code, 0);
  assertEquals((await hub.find(Lease, "default/controller"))?.spec?.holderIdentity ?? "", "");
});

test("run --clusters folder: and contexts: take the clusters of kubeconfigs, and flags about one cluster are refused", async () => {
  const folder = mkdtempSync(join(tmpdir(), "pintle-fleet-"));
  await using _removed = { [Symbol.asyncDispose]: () => Promise.resolve(rmSync(folder, { recursive: true })) };
  const east = await start(folder, "east");
  await using _east = east.cluster;
  const { kubeconfig } = east;
  for (const source of [`folder:${folder}`, "contexts:east"]) {
    await using running = new Binary(["run", "foo", "--clusters", source], { kubeconfig });
    const name = source.split(":")[0] ?? "";
    await east.create(name);
    await see(`${name} in east`, () => east.find(name));
    running.signal("SIGTERM");
    assertEquals((await running.ended()).code, 0);
  }
  await east.cluster.client.create(ConfigMap, { metadata: { namespace: "default", name: "a" } });
  const cases = [
    [["--clusters", "east"], /none of contexts:NAME,NAME/],
    [["--clusters", "secrets:Not_A_Name"], /its namespace cannot exist/],
    [["--clusters", "contexts:*", "--once"], /Cannot use --once with --clusters/],
  ] as const;
  for (const [flags, message] of cases) {
    const { code, stderr } = await runBinary(["run", "foo", ...flags], { kubeconfig });
    assertEquals(code, 2, stderr);
    assertMatch(stderr, message);
  }
});
