/** Tests of what a new cluster has, and of the objects that the server derives from others. */
import { assert, assertEquals, test } from "../../../tests/testing.ts";
import { KubernetesTestServer } from "../testing/kubernetes_test_server.ts";
import { ObjectStorage } from "../storage/mod.ts";
import { seededRandom, VirtualClock } from "../../async/mod.ts";
import { advertise } from "./mod.ts";

const services = "/api/v1/namespaces/default/services";
const addresses = "/apis/networking.k8s.io/v1/ipaddresses";
const apiServices = "/apis/apiregistration.k8s.io/v1/apiservices";

function namesOf(body: { readonly items: readonly { readonly metadata: { readonly name: string } }[] }) {
  return body.items.map(({ metadata }) => metadata.name);
}

function definitionOf(plural: string, ...versions: readonly string[]) {
  return {
    metadata: { name: `${plural}.example.com` },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { plural, kind: plural },
      versions: versions.map((name, index) => ({
        name,
        served: true,
        storage: index === 0,
        schema: { openAPIV3Schema: { type: "object" } },
      })),
    },
  };
}

test("a new cluster has the APIServices, flow schemas, priority levels and the range of addresses of kube-apiserver", async () => {
  using server = new KubernetesTestServer();
  const count = async (path: string) => namesOf((await server.send("GET", path)).body).length;
  assertEquals(await count(apiServices), 21);
  assertEquals(await count("/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas"), 11);
  assertEquals(await count("/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations"), 8);
  const { body } = await server.send("GET", "/apis/networking.k8s.io/v1/servicecidrs/kubernetes");
  assertEquals([body.spec.cidrs, body.status.conditions[0].type], [["10.96.0.0/16"], "Ready"]);
});

test("default objects that exist, because the storage is an old one, stay as they are", async () => {
  const storage = new ObjectStorage();
  const path = "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas/global-default";
  const before = await readAndDispose(storage, path);
  assertEquals(await readAndDispose(storage, path), before);
});

async function readAndDispose(storage: ObjectStorage, path: string): Promise<unknown> {
  using server = new KubernetesTestServer(storage);
  return (await server.send("GET", path)).body;
}

test("each cluster IP of a Service has an IPAddress, until the Service has it no more", async () => {
  using server = new KubernetesTestServer();
  const list = async () => namesOf((await server.send("GET", addresses)).body);
  const service = (spec: object) => ({ metadata: { name: "a" }, spec: { ports: [{ port: 80 }], ...spec } });
  await server.send("POST", services, service({ clusterIP: "10.96.0.7" }));
  await server.send("POST", services, { metadata: { name: "b" }, spec: { ports: [{ port: 80 }], clusterIP: "None" } });
  assertEquals(await list(), ["10.96.0.7"]);
  const { body } = await server.send("GET", `${addresses}/10.96.0.7`);
  assertEquals(body.spec, { parentRef: { resource: "services", namespace: "default", name: "a" } });
  assertEquals(body.metadata.labels["ipaddress.kubernetes.io/ip-family"], "IPv4");
  await server.send("PATCH", `${services}/a`, {
    spec: { type: "ExternalName", externalName: "a.b", clusterIP: null, clusterIPs: null, ports: null },
  }, {
    "content-type": "application/merge-patch+json",
  });
  assertEquals(await list(), []);
  await server.send("DELETE", `${services}/b`);
  assertEquals(server.errors, []);
});

test("an IPAddress that a user made is not deleted with a Service", async () => {
  using server = new KubernetesTestServer();
  const parentRef = { resource: "gateways", group: "example.com", namespace: "default", name: "a" };
  const made = await server.send("POST", addresses, { metadata: { name: "192.168.0.1" }, spec: { parentRef } });
  assertEquals(made.code, 201);
  await server.send("POST", services, { metadata: { name: "a" }, spec: { ports: [{ port: 80 }] } });
  await server.send("DELETE", `${services}/a`);
  assertEquals(namesOf((await server.send("GET", addresses)).body), ["192.168.0.1"]);
});

test("a version of a group that definitions serve has one APIService, until the last of them is deleted", async () => {
  using server = new KubernetesTestServer();
  const own = async () =>
    namesOf((await server.send("GET", apiServices)).body).filter((name) => name.endsWith("example.com"));
  const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  await server.send("POST", path, definitionOf("foos", "v1", "v2"));
  await server.send("POST", path, definitionOf("bars", "v1"));
  assertEquals(await own(), ["v1.example.com", "v2.example.com"]);
  const { body } = await server.send("GET", `${apiServices}/v1.example.com`);
  assertEquals([body.spec.groupPriorityMinimum, body.status.conditions[0].reason], [1000, "Local"]);
  await server.send("DELETE", `${path}/foos.example.com`);
  await server.clock.advance(1_000);
  assertEquals(await own(), ["v1.example.com"]);
  await server.send("DELETE", `${path}/bars.example.com`);
  await server.clock.advance(1_000);
  assertEquals(await own(), []);
});

test("advertise() writes Service, Endpoints and EndpointSlice of the server, and again only if its address has changed", () => {
  const storage = new ObjectStorage();
  const sources = { clock: new VirtualClock(), random: seededRandom(1) };
  advertise(storage, { address: "127.0.0.1", port: 6443 }, sources);
  const { revision } = storage;
  advertise(storage, { address: "127.0.0.1", port: 6443 }, sources);
  assertEquals(storage.revision, revision);
  advertise(storage, { address: "127.0.0.1", port: 7443 }, sources);
  assertEquals(storage.revision, revision + 3);
  const text = JSON.stringify(
    ["services", "endpoints", "endpointslices.discovery.k8s.io"].map((collection) =>
      storage.get(collection, "default", "kubernetes")
    ),
  );
  assert(text.includes('"targetPort":7443') && !text.includes("6443"), text);
});
