import { assertEquals, test } from "../../../tests/testing.ts";
import { KubernetesRig } from "../kubernetes_rig.ts";

const home = "/api/v1/namespaces/default";

const quotas = `${home}/resourcequotas`;

/** A server with a quota with these used amounts, as its controller would have counted them. */
async function rigWith(hard: object, used: object, spec: object = {}): Promise<KubernetesRig> {
  const rig = new KubernetesRig();
  const quota = await rig.create(quotas, { metadata: { name: "q" }, spec: { hard, ...spec } });
  const answer = await rig.send("PUT", `${quotas}/q/status`, { ...quota, status: { hard, used } });
  assertEquals(answer.code, 200);
  return rig;
}

function pod(name: string, requests: object = {}, more: object = {}) {
  const containers = [{ name: "main", image: "app:1", resources: { requests } }];
  return { metadata: { name }, spec: { containers, ...more } };
}

async function usedIn(rig: KubernetesRig): Promise<unknown> {
  return (await rig.send("GET", `${quotas}/q`)).body.status.used;
}

test("creates are added to the used amounts, until the quota is exceeded", async () => {
  using rig = await rigWith({ pods: "2", "requests.cpu": "1" }, { pods: "0", "requests.cpu": "0" });
  await rig.create(`${home}/pods`, pod("a", { cpu: "600m" }));
  assertEquals(await usedIn(rig), { pods: "1", "requests.cpu": "600m" });
  const refused = await rig.send("POST", `${home}/pods`, pod("b", { cpu: "500m" }));
  assertEquals([refused.code, refused.body.message], [
    403,
    'pods "b" is forbidden: exceeded quota: q, requested: requests.cpu=500m, used: requests.cpu=600m, ' +
    "limited: requests.cpu=1",
  ]);
  await rig.create(`${home}/pods`, pod("c", { cpu: "400m" }));
  assertEquals(await usedIn(rig), { pods: "2", "requests.cpu": "1" });
  assertEquals(rig.errors, []);
});

test("concurrent requests do not exceed the quota", async () => {
  using rig = await rigWith({ "count/configmaps": "5" }, { "count/configmaps": "0" });
  const sent = Array.from(
    { length: 20 },
    (_, number) => rig.send("POST", `${home}/configmaps`, { metadata: { name: `c-${number}` } }),
  );
  const codes = (await Promise.all(sent)).map(({ code }) => code);
  assertEquals([codes.filter((code) => code === 201).length, codes.filter((code) => code === 403).length], [5, 15]);
  assertEquals(await usedIn(rig), { "count/configmaps": "5" });
});

test("a dry run is checked, and uses nothing", async () => {
  using rig = await rigWith({ pods: "1" }, { pods: "0" });
  assertEquals((await rig.send("POST", `${home}/pods?dryRun=All`, pod("a"))).code, 201);
  assertEquals(await usedIn(rig), { pods: "0" });
  await rig.create(`${home}/pods`, pod("a"));
  assertEquals((await rig.send("POST", `${home}/pods?dryRun=All`, pod("b"))).code, 403);
});

test("a quota without used amounts rejects objects, and a quota on CPU limits requires them on every container", async () => {
  using rig = await rigWith({ "limits.cpu": "1", pods: "5" }, { pods: "0" });
  const unsaid = await rig.send("POST", `${home}/pods`, pod("a"));
  assertEquals(unsaid.body.message, 'pods "a" is forbidden: failed quota: q: must specify limits.cpu for: main');
  const limited = {
    metadata: { name: "a" },
    spec: { containers: [{ name: "main", image: "i", resources: { limits: { cpu: "1" } } }] },
  };
  const unknown = await rig.send("POST", `${home}/pods`, limited);
  assertEquals(
    unknown.body.message,
    'pods "a" is forbidden: status unknown for quota: q, resources: limits.cpu,pods',
  );
});

test("scopes exclude the objects that they do not match", async () => {
  using rig = await rigWith({ pods: "0" }, { pods: "0" }, { scopes: ["BestEffort"] });
  await rig.create(`${home}/pods`, pod("a", { cpu: "1" }));
  assertEquals((await rig.send("POST", `${home}/pods`, pod("b"))).code, 403);
});

test("an update of the type of a Service is charged the difference", async () => {
  using rig = await rigWith(
    { services: "5", "services.nodeports": "1" },
    { services: "0", "services.nodeports": "0" },
  );
  const ports = [{ name: "a", port: 80 }, { name: "b", port: 81 }];
  const made = await rig.create(`${home}/services`, { metadata: { name: "s" }, spec: { ports } });
  assertEquals(await usedIn(rig), { services: "1", "services.nodeports": "0" });
  const changed = { ...made, spec: { ...made.spec, type: "NodePort" } };
  const refused = await rig.send("PUT", `${home}/services/s`, changed);
  assertEquals(
    refused.body.message,
    'services "s" is forbidden: exceeded quota: q, requested: services.nodeports=2, used: services.nodeports=0, ' +
      "limited: services.nodeports=1",
  );
});
