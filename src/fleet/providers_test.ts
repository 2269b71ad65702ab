import { mkdtemp, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { FakeCluster } from "../../tests/fakes/cluster.ts";
import { assert, assertEquals, assertMatch, assertRejects, test } from "../../tests/testing.ts";
import { until } from "../../tests/until.ts";
import type { KubeObject } from "../api/mod.ts";
import { drain, VirtualClock } from "../async/mod.ts";
import { Client } from "../client/mod.ts";
import { joinPath, removePath, writeFile } from "../runtime/mod.ts";
import type { ClusterProvider, FleetCluster } from "./cluster_provider.ts";
import { kubeconfigContexts, kubeconfigFolder } from "./kubeconfig_files.ts";
import { clusterApiClusters, kubeconfigSecrets } from "./kubeconfig_secrets.ts";

/** A kubeconfig with contexts. */
function kubeconfig(...names: readonly string[]): string {
  return JSON.stringify({
    clusters: names.map((name) => ({ name, cluster: { server: `https://${name}.example.dev` } })),
    users: names.map((name) => ({ name, user: { token: "member-token-4711" } })),
    contexts: names.map((name) => ({ name, context: { cluster: name, user: name } })),
    "current-context": names[0],
  });
}

function secret(name: string, data: Readonly<Record<string, string>>, labels = {}): KubeObject {
  const encoded = Object.fromEntries(Object.entries(data).map(([key, value]) => [key, btoa(value)]));
  return { apiVersion: "v1", kind: "Secret", metadata: { namespace: "fleet", name, labels }, ...{ data: encoded } };
}

/** Lets time pass until `condition` holds. The files are real, so there is no telling how many turns a look takes. */
async function advanceUntil(clock: VirtualClock, condition: () => boolean, what: string): Promise<void> {
  const holds = () => {
    const isOver = condition();
    if (!isOver) void clock.advance(1_000);
    return isOver;
  };
  await until(holds, what);
}

/** Follows a provider. */
function follow(provider: ClusterProvider) {
  const stop = new AbortController();
  const lists: (readonly FleetCluster[])[] = [];
  let failure: unknown;
  const ended = (async () => {
    for await (const list of provider.watch(stop.signal)) lists.push(list);
  })().catch((error: unknown) => failure = error);
  return {
    failure: () => failure,
    names: () => lists.at(-1)?.map(({ name }) => name),
    latest: (name: string) => lists.at(-1)?.find((cluster) => cluster.name === name),
    async until(condition: () => boolean) {
      for (let turn = 0; turn < 2_000 && !condition(); turn++) await drain();
      assert(condition(), `the condition did not become true: ${JSON.stringify(lists.at(-1))}`);
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await ended;
    },
  };
}

const path = (name: string) => `/api/v1/namespaces/fleet/secrets/${name}`;

test("kubeconfigSecrets() reports each Secret with a kubeconfig, and only a changed kubeconfig is a new revision", async () => {
  const hub = new FakeCluster();
  const clock = new VirtualClock();
  hub.put(path("east"), secret("east", { kubeconfig: kubeconfig("east") }));
  hub.put(path("password"), secret("password", { password: "x" }));
  const provider = kubeconfigSecrets(new Client(hub.transport, { clock }), { namespace: "fleet", clock });
  await using followed = follow(provider);
  await followed.until(() => followed.names()?.join() === "east");
  const { revision = "" } = followed.latest("east") ?? {};
  using connection = await followed.latest("east")?.connect();
  assertEquals(connection?.server, "https://east.example.dev");
  hub.put(path("east"), secret("east", { kubeconfig: kubeconfig("east") }, { team: "a" }));
  hub.put(path("west"), secret("west", { value: kubeconfig("west") }));
  await followed.until(() => followed.names()?.length === 2);
  assertEquals([followed.latest("east")?.revision, /secret/.test(revision)], [revision, false]);
  hub.put(path("east"), secret("east", { kubeconfig: "{" }));
  await followed.until(() => followed.latest("east")?.revision !== revision);
  const broken = followed.latest("east");
  await assertRejects(async () => void await broken?.connect(), /Secret fleet\/east/);
  assertEquals(broken?.regarding?.metadata.name, "east");
  hub.remove(path("east"));
  await followed.until(() => followed.names()?.join() === "west");
});

test("clusterApiClusters() reports initialized clusters that are not being deleted", async () => {
  const hub = new FakeCluster();
  const clock = new VirtualClock();
  const cluster = (name: string, status: object, metadata = {}): KubeObject => ({
    ...{ apiVersion: "cluster.x-k8s.io/v1beta2", kind: "Cluster", status },
    metadata: { namespace: "fleet", name, ...metadata },
  });
  const clusterPath = (name: string) => `/apis/cluster.x-k8s.io/v1beta2/namespaces/fleet/clusters/${name}`;
  const answers = discoveryOf("v1beta2");
  hub.intercept = (_, path) => answers[path] === undefined ? undefined : Response.json(answers[path]);
  const initialized = { initialization: { controlPlaneInitialized: true } };
  hub.put(clusterPath("east"), cluster("east", initialized));
  hub.put(clusterPath("new"), cluster("new", {}));
  const labels = { "cluster.x-k8s.io/cluster-name": "east" };
  hub.put(path("east-kubeconfig"), secret("east-kubeconfig", { value: kubeconfig("east") }, labels));
  hub.put(path("east-ca"), secret("east-ca", { value: kubeconfig("ca") }, labels));
  const client = new Client(hub.transport, { clock });
  await using followed = follow(clusterApiClusters(client, { namespace: "fleet", clock }));
  await followed.until(() => followed.names()?.join() === "fleet/east");
  using connection = await followed.latest("fleet/east")?.connect();
  assertEquals(connection?.server, "https://east.example.dev");
  const { revision } = followed.latest("fleet/east") ?? {};
  hub.remove(clusterPath("east"));
  hub.put(clusterPath("east"), cluster("east", initialized));
  await followed.until(() => ![undefined, revision].includes(followed.latest("fleet/east")?.revision));
  using another = await followed.latest("fleet/east")?.connect();
  assert(another?.identity !== connection?.identity, "a Cluster that was created anew is another cluster");
  hub.put(clusterPath("east"), cluster("east", initialized, { deletionTimestamp: "2026-01-01T00:00:00Z" }));
  await followed.until(() => followed.names()?.length === 0);
});

/** Answers of a hub about the one version of the Clusters that it serves. */
function discoveryOf(version: string): Readonly<Record<string, object>> {
  const groupVersion = `cluster.x-k8s.io/${version}`;
  const resources = [{ name: "clusters", singularName: "cluster", namespaced: true, kind: "Cluster", verbs: ["list"] }];
  return {
    "/api": { kind: "APIVersions", versions: [] },
    "/apis": { kind: "APIGroupList", groups: [{ name: "cluster.x-k8s.io", versions: [{ groupVersion, version }] }] },
    [`/apis/${groupVersion}`]: { kind: "APIResourceList", groupVersion, resources },
  };
}

test("clusterApiClusters() fails when its version is not served any more, and then uses another one", async () => {
  const hub = new FakeCluster();
  const clock = new VirtualClock();
  let version = "v1beta1";
  hub.intercept = (_, path) => {
    const answer = discoveryOf(version)[path];
    if (answer !== undefined) return Response.json(answer);
    const isServed = !path.startsWith("/apis/cluster.x-k8s.io/") || path.includes(`/${version}/`);
    return isServed ? undefined : Response.json({ kind: "Status", code: 404, reason: "NotFound" }, { status: 404 });
  };
  for (const served of ["v1beta1", "v1beta2"]) {
    hub.put(`/apis/cluster.x-k8s.io/${served}/namespaces/fleet/clusters/east`, {
      ...{ apiVersion: `cluster.x-k8s.io/${served}`, kind: "Cluster", status: { controlPlaneReady: true } },
      metadata: { namespace: "fleet", name: "east" },
    });
  }
  const labels = { "cluster.x-k8s.io/cluster-name": "east" };
  hub.put(path("east-kubeconfig"), secret("east-kubeconfig", { value: kubeconfig("east") }, labels));
  const provider = clusterApiClusters(new Client(hub.transport, { clock }), { namespace: "fleet", clock });
  await using followed = follow(provider);
  await followed.until(() => followed.names()?.join() === "fleet/east");
  version = "v1beta2";
  hub.endWatches();
  for (let turn = 0; turn < 100 && followed.failure() === undefined; turn++) await clock.advance(1_000);
  assertMatch(String(followed.failure()), /Cannot watch Cluster \(cluster\.x-k8s\.io\/v1beta1\)/);
  assertEquals(followed.names(), ["fleet/east"], "no list without clusters was reported");
  await using again = follow(provider);
  await again.until(() => again.names()?.join() === "fleet/east");
});

test("kubeconfigSecrets() fails when the Secrets may not be read, so that the reason is known", async () => {
  const hub = new FakeCluster();
  const clock = new VirtualClock();
  const forbidden = { kind: "Status", code: 403, reason: "Forbidden", message: "secrets is forbidden" };
  hub.intercept = () => Response.json(forbidden, { status: 403 });
  await using followed = follow(kubeconfigSecrets(new Client(hub.transport, { clock }), { namespace: "fleet", clock }));
  for (let turn = 0; turn < 100 && followed.failure() === undefined; turn++) await clock.advance(1_000);
  assertMatch(String(followed.failure()), /Cannot watch Secret .*secrets is forbidden/);
});

test("the identity of a cluster changes with its certificate authority and the way to it, and not with credentials", async () => {
  const folder = await mkdtemp(joinPath(tmpdir(), "pintle-fleet-"));
  await using _removed = { [Symbol.asyncDispose]: () => removePath(folder) };
  const file = joinPath(folder, "east.yaml");
  const clock = new VirtualClock();
  await using files = follow(kubeconfigFolder(folder, { clock, environment: {} }));
  const identityOf = async (cluster: object, user: object = { token: "member-token-4711" }) => {
    const entry = { server: "https://east.example.dev", ...cluster };
    const clusters = [{ name: "east", cluster: entry }], users = [{ name: "east", user }];
    const contexts = [{ name: "east", context: { cluster: "east", user: "east" } }];
    await writeFile(file, JSON.stringify({ clusters, users, contexts, "current-context": "east" }));
    await advanceUntil(clock, () => files.latest("east") !== undefined, "a look at the file");
    using connection = await files.latest("east")?.connect();
    return connection?.identity;
  };
  const pem = (name: string) => `-----BEGIN CERTIFICATE-----\n${btoa(name)}\n-----END CERTIFICATE-----\n`;
  await writeFile(joinPath(folder, ".ca.crt"), pem("one"));
  const one = await identityOf({ "certificate-authority-data": btoa(pem("one")) });
  const same = [
    await identityOf({ "certificate-authority-data": btoa(pem("one")) }, { token: "member-token-4712" }),
    await identityOf({ "certificate-authority": ".ca.crt" }),
  ];
  const others = [
    await identityOf({ "certificate-authority-data": btoa(pem("two")) }),
    await identityOf({ "certificate-authority-data": btoa(pem("one")), "tls-server-name": "b.example.dev" }),
    await identityOf({ "certificate-authority-data": btoa(pem("one")), "proxy-url": "http://b.example.dev" }),
  ];
  assertEquals([same, new Set([one, ...others]).size], [[one, one], 4]);
});

test("a file of a folder that cannot be looked at is a cluster with a problem, and the others are reported", async () => {
  const folder = await mkdtemp(joinPath(tmpdir(), "pintle-fleet-"));
  await using _removed = { [Symbol.asyncDispose]: () => removePath(folder) };
  await writeFile(joinPath(folder, "east.yaml"), kubeconfig("east"));
  await symlink("loop.yaml", joinPath(folder, "loop.yaml"));
  await symlink("nothing", joinPath(folder, "nothing.yaml"));
  const clock = new VirtualClock();
  await using files = follow(kubeconfigFolder(folder, { clock, environment: {} }));
  await until(() => files.names() !== undefined, "a look at the folder");
  assertEquals(files.names(), ["east", "loop"]);
  await assertRejects(
    async () => void await files.latest("loop")?.connect(),
    /^Cannot read kubeconfig ".*loop.yaml"/,
  );
});

test("kubeconfigContexts() misses a context only after a second look: a file that is being written is empty at first", async () => {
  const folder = await mkdtemp(joinPath(tmpdir(), "pintle-fleet-"));
  await using _removed = { [Symbol.asyncDispose]: () => removePath(folder) };
  const [whole, empty] = [joinPath(folder, "whole"), joinPath(folder, "empty")];
  await writeFile(whole, kubeconfig("east", "west"));
  await writeFile(empty, "");
  const clock = new VirtualClock();
  let looks = 0;
  let emptyLooks: readonly number[] = [2];
  const environment = {
    get KUBECONFIG() {
      return emptyLooks.includes(++looks) ? empty : whole;
    },
  };
  const lookUntil = (count: number) => advanceUntil(clock, () => looks >= count, `look ${count}`);
  const reports: (readonly string[])[] = [];
  await using _followed = follow({
    name: "all",
    async *watch(signal) {
      for await (const list of kubeconfigContexts({ clock, environment }).watch(signal)) {
        reports.push(list.map(({ name }) => name));
        yield list;
      }
    },
  });
  await lookUntil(5);
  assertEquals(reports, [["east", "west"]]);
  emptyLooks = [looks + 1, looks + 2];
  await lookUntil(looks + 4);
  assertEquals(reports, [["east", "west"], [], ["east", "west"]]);
});

test("kubeconfigFolder() and kubeconfigContexts() notice changed files", async () => {
  const folder = await mkdtemp(joinPath(tmpdir(), "pintle-fleet-"));
  await using _removed = { [Symbol.asyncDispose]: () => removePath(folder) };
  const clock = new VirtualClock();
  const file = joinPath(folder, "east.yaml");
  await writeFile(file, kubeconfig("east", "west"));
  await writeFile(joinPath(folder, ".hidden"), "x");
  await using files = follow(kubeconfigFolder(folder, { clock }));
  await using all = follow(kubeconfigContexts({ kubeconfig: file, clock, environment: {} }));
  await using some = follow(
    kubeconfigContexts({ kubeconfig: file, contexts: ["west", "none"], clock, environment: {} }),
  );
  const followed = [files, all, some];
  await until(() => followed.every(({ names }) => names() !== undefined), "a look of each provider");
  assertEquals([files.names(), all.names(), some.names()], [["east"], ["east", "west"], ["west", "none"]]);
  using connection = await some.latest("west")?.connect();
  assertEquals(connection?.server, "https://west.example.dev");
  await assertRejects(async () => void await some.latest("none")?.connect(), /it does not exist/);
  await writeFile(file, kubeconfig("east", "west", "north"));
  await advanceUntil(clock, () => all.names()?.length === 3, "the third context");
  await removePath(file);
  await advanceUntil(clock, () => files.names()?.length === 0, "the end of the file");
});
