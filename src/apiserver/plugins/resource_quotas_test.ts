import { assertEquals, test } from "../../../tests/testing.ts";
import { KubernetesTestServer } from "../testing/kubernetes_test_server.ts";

const home = "/api/v1/namespaces/default";
const quotas = `${home}/resourcequotas`;

/** A server with a quota with these used amounts, as its controller would have counted them. */
async function serverWith(hard: object, used: object, spec: object = {}): Promise<KubernetesTestServer> {
  const server = new KubernetesTestServer();
  const quota = await server.create(quotas, { metadata: { name: "q" }, spec: { hard, ...spec } });
  const response = await server.send("PUT", `${quotas}/q/status`, { ...quota, status: { hard, used } });
  assertEquals(response.code, 200);
  return server;
}

function pod(name: string, requests: object = {}, more: object = {}) {
  const containers = [{ name: "main", image: "app:1", resources: { requests } }];
  return { metadata: { name }, spec: { containers, ...more } };
}

async function usedIn(server: KubernetesTestServer): Promise<unknown> {
  return (await server.send("GET", `${quotas}/q`)).body.status.used;
}

test("creates are added to the used amounts, until the quota is exceeded", async () => {
  using server = await serverWith({ pods: "2", "requests.cpu": "1" }, { pods: "0", "requests.cpu": "0" });
  await server.create(`${home}/pods`, pod("a", { cpu: "600m" }));
  assertEquals(await usedIn(server), { pods: "1", "requests.cpu": "600m" });
  const rejected = await server.send("POST", `${home}/pods`, pod("b", { cpu: "500m" }));
  assertEquals([rejected.code, rejected.body.message], [
    403,
    'pods "b" is forbidden: exceeded quota: q, requested: requests.cpu=500m, used: requests.cpu=600m, ' +
    "limited: requests.cpu=1",
  ]);
  await server.create(`${home}/pods`, pod("c", { cpu: "400m" }));
  assertEquals(await usedIn(server), { pods: "2", "requests.cpu": "1" });
  assertEquals(server.errors, []);
});

test("concurrent requests do not exceed the quota", async () => {
  using server = await serverWith({ "count/configmaps": "5" }, { "count/configmaps": "0" });
  const sent = Array.from(
    { length: 20 },
    (_, number) => server.send("POST", `${home}/configmaps`, { metadata: { name: `c-${number}` } }),
  );
  const codes = (await Promise.all(sent)).map(({ code }) => code);
  assertEquals([codes.filter((code) => code === 201).length, codes.filter((code) => code === 403).length], [5, 15]);
  assertEquals(await usedIn(server), { "count/configmaps": "5" });
});

test("a dry run is checked, and uses nothing", async () => {
  using server = await serverWith({ pods: "1" }, { pods: "0" });
  assertEquals((await server.send("POST", `${home}/pods?dryRun=All`, pod("a"))).code, 201);
  assertEquals(await usedIn(server), { pods: "0" });
  await server.create(`${home}/pods`, pod("a"));
  assertEquals((await server.send("POST", `${home}/pods?dryRun=All`, pod("b"))).code, 403);
});

test("a quota without used amounts rejects objects, and a quota on CPU limits requires them on every container", async () => {
  using server = await serverWith({ "limits.cpu": "1", pods: "5" }, { pods: "0" });
  const withoutLimit = await server.send("POST", `${home}/pods`, pod("a"));
  assertEquals(withoutLimit.body.message, 'pods "a" is forbidden: failed quota: q: must specify limits.cpu for: main');
  const limited = {
    metadata: { name: "a" },
    spec: { containers: [{ name: "main", image: "i", resources: { limits: { cpu: "1" } } }] },
  };
  const unknown = await server.send("POST", `${home}/pods`, limited);
  assertEquals(
    unknown.body.message,
    'pods "a" is forbidden: status unknown for quota: q, resources: limits.cpu,pods',
  );
});

test("scopes exclude the objects that they do not match", async () => {
  using server = await serverWith({ pods: "0" }, { pods: "0" }, { scopes: ["BestEffort"] });
  await server.create(`${home}/pods`, pod("a", { cpu: "1" }));
  assertEquals((await server.send("POST", `${home}/pods`, pod("b"))).code, 403);
});

test("an update of the type of a Service is charged the difference", async () => {
  using server = await serverWith(
    { services: "5", "services.nodeports": "1" },
    { services: "0", "services.nodeports": "0" },
  );
  const ports = [{ name: "a", port: 80 }, { name: "b", port: 81 }];
  const made = await server.create(`${home}/services`, { metadata: { name: "s" }, spec: { ports } });
  assertEquals(await usedIn(server), { services: "1", "services.nodeports": "0" });
  const changed = { ...made, spec: { ...made.spec, type: "NodePort" } };
  const rejected = await server.send("PUT", `${home}/services/s`, changed);
  assertEquals(
    rejected.body.message,
    'services "s" is forbidden: exceeded quota: q, requested: services.nodeports=2, used: services.nodeports=0, ' +
      "limited: services.nodeports=1",
  );
});
