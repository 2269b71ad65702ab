/** Tests that the simulated cluster does what operators wait for. */
import { VirtualClock } from "../async/mod.ts";
import { assertEquals, test } from "../../tests/testing.ts";
import { SimulatedServer } from "./_simulated_server.ts";

const root = "/api/v1/namespaces/default";
const template = { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "main:1" }] } };
const claimSpec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
const volumes = [{ name: "data", persistentVolumeClaim: { claimName: "data" } }];

async function start() {
  const clock = new VirtualClock();
  const server = new SimulatedServer({ controllers: [], clock, seed: 1 });
  await server.start();
  const send = async (method: "POST" | "PATCH" | "DELETE", url: string, body: object = {}) => {
    const contentType = method === "PATCH" ? "application/merge-patch+json" : "application/json";
    await server.client.raw(url, { method, body: JSON.stringify(body), contentType });
  };
  const settle = async () => {
    for (let round = 0; round < 4; round++) {
      while (await server.runCluster());
      await clock.advance(1_000);
    }
  };
  const status = (path: string) => (server.at(path, true) as { readonly status?: Record<string, unknown> })?.status;
  return { server, send, settle, status };
}

test("Pods become ready, Jobs complete, claims are bound and DaemonSets are available", async () => {
  const { server, send, settle, status } = await start();
  using _ending = server;
  await send("POST", `${root}/pods`, { metadata: { name: "a" }, spec: template.spec });
  await send("POST", `${root}/persistentvolumeclaims`, { metadata: { name: "data" }, spec: claimSpec });
  await send("POST", "/apis/batch/v1/namespaces/default/jobs", { metadata: { name: "a" }, spec: { template } });
  const labelled = { metadata: { labels: { app: "a" } }, spec: { containers: template.spec.containers } };
  const daemon = { metadata: { name: "a" }, spec: { selector: { matchLabels: { app: "a" } }, template: labelled } };
  await send("POST", "/apis/apps/v1/namespaces/default/daemonsets", daemon);
  await settle();
  assertEquals(status(`${root}/pods/a`)?.["phase"], "Running");
  assertEquals(status(`${root}/persistentvolumeclaims/data`)?.["phase"], "Bound");
  assertEquals(status("/apis/batch/v1/namespaces/default/jobs/a")?.["succeeded"], 1);
  assertEquals(status("/apis/apps/v1/namespaces/default/daemonsets/a")?.["numberReady"], 1);
});

test("a deleted claim stays while a Pod uses it, and goes when the Pod has ended", async () => {
  const { server, send, settle } = await start();
  using _ending = server;
  await send("POST", `${root}/persistentvolumeclaims`, { metadata: { name: "data" }, spec: claimSpec });
  await send("POST", `${root}/pods`, { metadata: { name: "a" }, spec: { ...template.spec, volumes } });
  await settle();
  await send("DELETE", `${root}/persistentvolumeclaims/data`);
  await settle();
  assertEquals(server.at(`${root}/persistentvolumeclaims/data`)?.metadata.finalizers, ["kubernetes.io/pvc-protection"]);
  await send("PATCH", `${root}/pods/a/status`, { status: { phase: "Succeeded" } });
  await settle();
  assertEquals(server.at(`${root}/persistentvolumeclaims/data`), undefined);
});

test("a deleted namespace takes its objects along", async () => {
  const { server, send, settle } = await start();
  using _ending = server;
  await send("POST", "/api/v1/namespaces", { metadata: { name: "team" } });
  await send("POST", "/api/v1/namespaces/team/configmaps", { metadata: { name: "a" } });
  await send("POST", "/api/v1/namespaces/team/pods", {
    metadata: { name: "a" },
    spec: { ...template.spec, nodeName: "n" },
  });
  await settle();
  await send("DELETE", "/api/v1/namespaces/team");
  await settle();
  assertEquals([...server.objects(true)].filter(({ object: { metadata } }) => metadata.namespace === "team"), []);
  assertEquals(server.at("/api/v1/namespaces/team", true), undefined);
  assertEquals([...server.deletedNamespaces()], ["team"]);
});

test("a dependent whose owner is in another namespace is collected, one of a cluster-scoped owner is not", async () => {
  const { server, send, settle } = await start();
  using _ending = server;
  await send("POST", `${root}/secrets`, { metadata: { name: "owner" } });
  const namespace = server.at("/api/v1/namespaces/default", true);
  const reference = (kind: string, name: string, uid: string | undefined) => ({ apiVersion: "v1", kind, name, uid });
  const maps = "/api/v1/namespaces/kube-public/configmaps";
  const foreign = reference("Secret", "owner", server.at(`${root}/secrets/owner`)?.metadata.uid);
  await send("POST", maps, { metadata: { name: "a", ownerReferences: [foreign] } });
  const whole = reference("Namespace", "default", namespace?.metadata.uid);
  await send("POST", maps, { metadata: { name: "b", ownerReferences: [whole] } });
  await settle();
  assertEquals(server.at(`${maps}/a`), undefined);
  assertEquals(server.at(`${maps}/b`)?.metadata.name, "b");
});
