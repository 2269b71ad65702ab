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
import { DebugEndpoint } from "./_debug_endpoint.ts";

/** An API server without the kind Foo, and its kubeconfig as a file. */
async function startEmpty(folder: string, name: string) {
  const cluster = await EmbeddedCluster.start({ name, workloads: false, onError: console.error });
  const kubeconfig = join(folder, `${name}.yaml`);
  writeFileSync(kubeconfig, cluster.kubeconfig, { mode: 0o600 });
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

/** The same with the kind. */
async function start(folder: string, name: string) {
  const started = await startEmpty(folder, name);
  const installed = await runBinary(["install-crds", "foo"], { kubeconfig: started.kubeconfig });
  assertEquals(installed.code, 0, installed.stderr);
  return started;
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
    [["--clusters", "contexts:*", "--shards", "2"], /Cannot use --shards with --clusters: one replica works in all/],
  ] as const;
  for (const [flags, message] of cases) {
    const { code, stderr } = await runBinary(["run", "foo", ...flags], { kubeconfig });
    assertEquals(code, 2, stderr);
    assertMatch(stderr, message);
  }
});

test("install-crds, run --once --record, replay and why work in each cluster of a fleet, and name one that is not there", async () => {
  const folder = mkdtempSync(join(tmpdir(), "pintle-fleet-"));
  await using _removed = { [Symbol.asyncDispose]: () => Promise.resolve(rmSync(folder, { recursive: true })) };
  const recordings = mkdtempSync(join(tmpdir(), "pintle-recordings-"));
  await using _removedToo = { [Symbol.asyncDispose]: () => Promise.resolve(rmSync(recordings, { recursive: true })) };
  const [east, west] = [await startEmpty(folder, "east"), await startEmpty(folder, "west")];
  await using _east = east.cluster;
  await using _west = west.cluster;
  const { kubeconfig } = east;
  const clusters = ["--clusters", `folder:${folder}`];
  const installed = await runBinary(["install-crds", "foo", ...clusters], { kubeconfig });
  assertEquals(installed.code, 0, installed.stderr);
  for (const name of ["east", "west"]) {
    assertMatch(installed.stdout, new RegExp(`^${name}: customresource.* created$`, "m"));
  }
  const without = await runBinary(["install-crds", "pods", ...clusters], { kubeconfig });
  assertEquals(without.stderr.match(/nothing to do/g)?.length, 1, without.stderr);
  await east.create("one");
  await west.create("one");
  // Each file of the folder is a cluster.
  const record = join(recordings, "recording.jsonl");
  const once = await runBinary(["run", "foo", "--once", "--record", record, ...clusters], { kubeconfig });
  assertEquals(once.code, 0, once.stderr);
  assertMatch(once.stderr, /converged +objects=2/);
  assert(await east.find("one") !== undefined && await west.find("one") !== undefined);
  const replayed = await runBinary(["replay", record], { kubeconfig });
  assertEquals(replayed.code, 0, replayed.stderr);
  const ask = (...words: readonly string[]) => runBinary(["why", "--file", record, "foo", "default/one", ...words]);
  const unclear = await ask();
  assertMatch(unclear.stderr, /it is in east and west\. Name the member of the fleet with --member/);
  const inWest = await ask("--member", "west");
  assertEquals(inWest.code, 0, inWest.stderr);
  assertMatch(inWest.stdout, /Deployment/);

  const broken = east.cluster.kubeconfig.replace(/https:\/\/127\.0\.0\.1:\d+/, "https://127.0.0.1:1");
  writeFileSync(join(folder, "gone.yaml"), broken, { mode: 0o600 });
  await west.create("two");
  const incomplete = await runBinary(["run", "foo", "--once", "--connect-timeout", "2s", ...clusters], { kubeconfig });
  assertEquals(incomplete.code, 1, incomplete.stderr);
  assertMatch(incomplete.stderr, /Cannot reconcile everything: cluster gone: /);
  assert(await west.find("two") !== undefined, "the others do not wait");
  const partly = await runBinary(["install-crds", "foo", "--connect-timeout", "2s", ...clusters], { kubeconfig });
  assertEquals(partly.code, 1, partly.stderr);
  assertMatch(partly.stderr, /Cannot install in 1 of 3 clusters: gone: /);
  assertMatch(partly.stdout, /^west: .* unchanged$/m);
  rmSync(join(folder, "gone.yaml"));
  writeFileSync(join(folder, "west.yml"), west.cluster.kubeconfig, { mode: 0o600 });
  const repeated = await runBinary(["install-crds", "foo", ...clusters], { kubeconfig });
  assertEquals(repeated.code, 1, repeated.stderr);
  assertMatch(repeated.stderr, /Cannot install in 1 of 3 clusters: west: several clusters have this name/);
});

interface Clusters {
  readonly clusters: readonly { readonly name: string; readonly state: string }[];
}

test("/debug/clusters, top and why show the members of a running fleet", async () => {
  const folder = mkdtempSync(join(tmpdir(), "pintle-fleet-"));
  await using _removed = { [Symbol.asyncDispose]: () => Promise.resolve(rmSync(folder, { recursive: true })) };
  const east = await start(folder, "east");
  await using _east = east.cluster;
  const { kubeconfig } = east;
  await using endpoint = await DebugEndpoint.create();
  await using running = new Binary(["run", "foo", "--clusters", "contexts:east", ...endpoint.flags], { kubeconfig });
  await east.create("one");
  await see("one in east", () => east.find("one"));
  const { value: { clusters } } = await endpoint.ask<Clusters>(running, "/debug/clusters");
  assertEquals(clusters.map(({ name, state }) => `${name} ${state}`), [
    "east running",
  ]);
  const asked = ["--address", await endpoint.addressOf(running), ...endpoint.tokenFlags];
  const top = await runBinary(["top", "--once", "--interval", "200ms", "--member", "east", ...asked], { kubeconfig });
  assertMatch(top.stdout, /foo/);
  const why = await runBinary(["why", "foo", "default/one", ...asked], { kubeconfig });
  assertMatch(why.stdout, /Deployment/);
  const unknown = await runBinary(["top", "--once", "--member", "north", ...asked], { kubeconfig });
  assertMatch(unknown.stderr, /No member of the fleet with that name runs/);
  running.signal("SIGTERM");
  assertEquals((await running.ended()).code, 0);
});
