/** Tests that the simulated cluster ends deletions as the garbage collector of a real one does. */
import { VirtualClock } from "../async/mod.ts";
import { assertEquals, test } from "../../tests/testing.ts";
import { SimulatedServer } from "./_simulated_server.ts";

const maps = "/api/v1/namespaces/default/configmaps";
const jobs = "/apis/batch/v1/namespaces/default/jobs";
const template = { spec: { restartPolicy: "Never", containers: [{ name: "main", image: "main:1" }] } };

/** A Job whose owner is a ConfigMap, and a ConfigMap whose owner is the Job. */
async function start() {
  const clock = new VirtualClock();
  const server = new SimulatedServer({ controllers: [], clock, seed: 1 });
  await server.start();
  const send = async (method: "POST" | "DELETE", url: string, body: object = {}) => {
    await server.client.raw(url, { method, body: JSON.stringify(body), contentType: "application/json" });
  };
  const metadata = { name: "hello", namespace: "default" };
  const reference = (path: string, apiVersion: string, kind: string) => {
    const uid = server.at(path, true)?.metadata.uid;
    return { ...metadata, ownerReferences: [{ apiVersion, kind, name: "hello", uid }] };
  };
  await send("POST", maps, { apiVersion: "v1", kind: "ConfigMap", metadata });
  const owned = reference(`${maps}/hello`, "v1", "ConfigMap");
  await send("POST", jobs, { apiVersion: "batch/v1", kind: "Job", metadata: owned, spec: { template } });
  const log = { ...reference(`${jobs}/hello`, "batch/v1", "Job"), name: "log" };
  await send("POST", maps, { apiVersion: "v1", kind: "ConfigMap", metadata: log });
  const settle = async () => {
    for (let round = 0; round < 4; round++) {
      while (await server.runCluster());
      await clock.advance(1_000);
    }
  };
  return { server, send, settle };
}

test("the dependents of a deleted owner go with their dependents, Jobs too", async () => {
  const { server, send, settle } = await start();
  await send("DELETE", `${maps}/hello`);
  await settle();
  assertEquals([server.at(`${jobs}/hello`), server.at(`${maps}/log`)], [undefined, undefined]);
});

test("a deletion without a policy lets a Job go and leaves its dependents without an owner, as the API's default is", async () => {
  const { server, send, settle } = await start();
  await send("DELETE", `${jobs}/hello`);
  await settle();
  assertEquals(server.at(`${jobs}/hello`), undefined);
  assertEquals(server.at(`${maps}/log`)?.metadata.ownerReferences, undefined);
  assertEquals(server.at(`${maps}/log`)?.metadata.name, "log");
});

test("a deleted claim goes when no Pod mounts it", async () => {
  const { server, send, settle } = await start();
  const [claims, pods] = ["persistentvolumeclaims", "pods"].map((plural) => `/api/v1/namespaces/default/${plural}`);
  const metadata = { name: "data", namespace: "default" };
  const spec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
  await send("POST", `${claims}`, { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata, spec });
  const volumes = [{ name: "data", persistentVolumeClaim: { claimName: "data" } }];
  const pod = { spec: { ...template.spec, volumes } };
  await send("POST", `${pods}`, { apiVersion: "v1", kind: "Pod", metadata, ...pod });
  await send("DELETE", `${claims}/data`);
  await settle();
  assertEquals(server.at(`${claims}/data`, true)?.metadata.finalizers, ["kubernetes.io/pvc-protection"]);
  await send("DELETE", `${pods}/data`, { gracePeriodSeconds: 0 });
  await settle();
  assertEquals(server.at(`${claims}/data`, true), undefined);
});
