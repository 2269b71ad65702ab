/** Tests of the headers that name the flow schema and the priority level of a request. */
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
