/** Tests of flow schemas and priority levels: the headers that name them, and the seats of limited levels. */
import { assertEquals, test } from "../../../tests/testing.ts";
import { KubernetesTestServer } from "../testing/kubernetes_test_server.ts";

const path = "/apis/flowcontrol.apiserver.k8s.io/v1";

/** The names that the headers of a response mean. */
async function namesOf(server: KubernetesTestServer, as: string, url: string) {
  const { headers } = await server.send("GET", url, undefined, { authorization: `Bearer ${as}` });
  const nameOf = async (plural: string, uid: string | null) => {
    const { body } = await server.send("GET", `${path}/${plural}`);
    return body.items.find((one: { metadata: { uid: string } }) => one.metadata.uid === uid)?.metadata.name;
  };
  return [
    await nameOf("flowschemas", headers.get("x-kubernetes-pf-flowschema-uid")),
    await nameOf("prioritylevelconfigurations", headers.get("x-kubernetes-pf-prioritylevel-uid")),
  ];
}

test("a response names the flow schema and the priority level of its request, also one that is refused", async () => {
  using server = new KubernetesTestServer();
  assertEquals(await namesOf(server, "admin", "/api/v1/pods"), ["exempt", "exempt"]);
  assertEquals(await namesOf(server, "jane", "/api/v1/pods"), ["global-default", "global-default"]);
  assertEquals(await namesOf(server, "jane", "/readyz"), ["probes", "exempt"]);
  const { headers, code } = await server.send("GET", "/api", undefined, { authorization: "Bearer nobody" });
  assertEquals([code, headers.get("x-kubernetes-pf-flowschema-uid")], [401, null]);
});

test("a new flow schema counts for requests that it matches, if its priority level exists", async () => {
  using server = new KubernetesTestServer();
  const schema = (level: string) => ({
    metadata: { name: "janes" },
    spec: {
      matchingPrecedence: 50,
      priorityLevelConfiguration: { name: level },
      rules: [{
        subjects: [{ kind: "User", user: { name: "jane" } }],
        resourceRules: [{ verbs: ["list"], apiGroups: [""], resources: ["pods", "pods/log"], namespaces: ["default"] }],
      }],
    },
  });
  const pods = "/api/v1/namespaces/default/pods";
  assertEquals((await server.send("POST", `${path}/flowschemas`, schema("none"))).code, 201);
  assertEquals(await namesOf(server, "jane", pods), ["global-default", "global-default"]);
  await server.send(
    "PATCH",
    `${path}/flowschemas/janes`,
    { spec: { priorityLevelConfiguration: { name: "system" } } },
    {
      "content-type": "application/merge-patch+json",
    },
  );
  assertEquals(await namesOf(server, "jane", pods), ["janes", "system"]);
  for (
    const other of [
      "/api/v1/pods",
      `${pods}/a`,
      "/api/v1/namespaces/kube-system/pods",
      "/api/v1/namespaces/default/services",
    ]
  ) {
    assertEquals(await namesOf(server, "jane", other), ["global-default", "global-default"], other);
  }
  await server.send("DELETE", `${path}/flowschemas/janes`);
  assertEquals(await namesOf(server, "jane", pods), ["global-default", "global-default"]);
});

/** Puts jane's writes of ConfigMaps on a level of one seat: the share of 600 rounds up. */
async function limit(server: KubernetesTestServer, limitResponse: object): Promise<void> {
  await server.create(`${path}/prioritylevelconfigurations`, {
    metadata: { name: "narrow" },
    spec: { type: "Limited", limited: { nominalConcurrencyShares: 0, limitResponse } },
  });
  await server.create(`${path}/flowschemas`, {
    metadata: { name: "janes" },
    spec: {
      matchingPrecedence: 50,
      priorityLevelConfiguration: { name: "narrow" },
      distinguisherMethod: { type: "ByUser" },
      rules: [{
        subjects: [{ kind: "User", user: { name: "jane" } }],
        resourceRules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"], namespaces: ["*"], clusterScope: true }],
      }],
    },
  });
  await server.create("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", {
    metadata: { name: "jane" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "jane" }],
  });
}

const maps = "/api/v1/namespaces/default/configmaps";

/** A create whose body has begun: it holds its seat until the body ends. */
function openCreate(server: KubernetesTestServer, name: string) {
  let end = () => {};
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      end = () => {
        controller.enqueue(new TextEncoder().encode(JSON.stringify({ metadata: { name } })));
        controller.close();
      };
    },
  });
  const response = server.fetch(
    new Request(`http://in.memory${maps}`, {
      method: "POST",
      headers: { authorization: "Bearer jane", "content-type": "application/json" },
      body,
      ...{ duplex: "half" },
    }),
  );
  return { response, end: () => end() };
}

const asJane = { authorization: "Bearer jane" };

test("a level that rejects refuses a request beyond its seats, with a time to wait and its headers", async () => {
  using server = new KubernetesTestServer();
  await limit(server, { type: "Reject" });
  const first = openCreate(server, "a");
  const refused = await server.send("GET", maps, undefined, asJane);
  assertEquals([refused.code, refused.body], [429, "Too many requests, please try again later.\n"]);
  assertEquals(refused.headers.get("retry-after"), "1");
  assertEquals(refused.headers.get("content-type"), "text/plain; charset=utf-8");
  assertEquals(refused.headers.has("x-kubernetes-pf-prioritylevel-uid"), true);
  assertEquals((await server.send("GET", maps)).code, 200, "the exempt level does not wait");
  assertEquals((await server.send("GET", "/readyz", undefined, asJane)).code, 200, "another level has seats");
  first.end();
  assertEquals((await first.response).status, 201);
  assertEquals((await server.send("GET", maps, undefined, asJane)).code, 200);
});

test("a level that queues serves a request when the one before it has ended, and refuses it after 15 seconds", async () => {
  using server = new KubernetesTestServer();
  await limit(server, { type: "Queue", queuing: { queues: 4, handSize: 2, queueLengthLimit: 1 } });
  await server.send("PATCH", `${path}/prioritylevelconfigurations/narrow`, {
    spec: { limited: { nominalConcurrencyShares: 1 } },
  }, { "content-type": "application/merge-patch+json" });
  const opened = Array.from({ length: 3 }, (_, index) => openCreate(server, `seat-${index}`));
  const waiting = server.send("GET", maps, undefined, asJane);
  for (const { end } of opened) end();
  assertEquals([
    (await waiting).code,
    ...(await Promise.all(opened.map(({ response }) => response))).map((one) => one.status),
  ], [
    200,
    201,
    201,
    201,
  ]);
  const held = Array.from({ length: 3 }, (_, index) => openCreate(server, `held-${index}`));
  const late = server.send("GET", maps, undefined, asJane);
  await server.clock.advance(15_000);
  assertEquals((await late).code, 429);
  for (const { end } of held) end();
  await Promise.all(held.map(({ response }) => response));
});

test("a watch gives its seat back when it has begun, and logs need none", async () => {
  using server = new KubernetesTestServer();
  await limit(server, { type: "Reject" });
  const watch = await server.fetch(new Request(`http://in.memory${maps}?watch=true`, { headers: asJane }));
  assertEquals([watch.status, watch.headers.has("x-kubernetes-pf-flowschema-uid")], [200, true]);
  assertEquals((await server.send("GET", maps, undefined, asJane)).code, 200);
  const first = openCreate(server, "a");
  const log = await server.send("GET", "/api/v1/namespaces/default/pods/none/log", undefined, asJane);
  assertEquals([log.code, log.headers.has("x-kubernetes-pf-flowschema-uid")], [404, false]);
  first.end();
  await first.response;
  await watch.body?.cancel();
});
