import { assertEquals, assertMatch, test } from "../../../tests/testing.ts";
import { KubernetesTestServer } from "../testing/kubernetes_test_server.ts";

const asJane = { authorization: "Bearer jane" };
const rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/default";

function path(plural: string, group = "authorization"): string {
  return `/apis/${group}.k8s.io/v1/${plural}`;
}

async function serverWithReader(): Promise<KubernetesTestServer> {
  const server = new KubernetesTestServer();
  const rules = [{ apiGroups: [""], resources: ["configmaps"], verbs: ["list"] }];
  await server.create(`${rbac}/roles`, { metadata: { name: "reader" }, rules });
  await server.create(`${rbac}/rolebindings`, {
    metadata: { name: "reader" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "reader" },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "jane" }],
  });
  return server;
}

test("SelfSubjectAccessReview gives the same result as the request itself", async () => {
  using server = await serverWithReader();
  for (const [verb, isAllowed] of [["list", true], ["delete", false]] as const) {
    const resourceAttributes = { verb, resource: "configmaps", namespace: "default" };
    const { code, body } = await server.send(
      "POST",
      path("selfsubjectaccessreviews"),
      { spec: { resourceAttributes } },
      asJane,
    );
    assertEquals([code, body.status.allowed], [201, isAllowed]);
  }
  const list = "/api/v1/namespaces/default/configmaps";
  assertEquals((await server.send("GET", list, undefined, asJane)).code, 200);
  const rejected = await server.send("POST", list, { metadata: { name: "a" } }, asJane);
  assertMatch(rejected.body.message, /^configmaps is forbidden: User "jane" cannot create resource "configmaps"/);
  assertEquals(server.errors, []);
});

test("SubjectAccessReview needs a user or group, and either a resource or a path", async () => {
  using server = new KubernetesTestServer();
  const fields = async (spec: object) => {
    const { body } = await server.send("POST", path("subjectaccessreviews"), { spec });
    return body.details?.causes.map(({ field }: { field: string }) => field) ?? body.status.allowed;
  };
  const resourceAttributes = { verb: "get", resource: "pods" };
  assertEquals(await fields({ resourceAttributes }), ["spec.user"]);
  assertEquals(await fields({ user: "a" }), ["spec.resourceAttributes"]);
  assertEquals(await fields({ user: "a", resourceAttributes, nonResourceAttributes: {} }), [
    "spec.nonResourceAttributes",
  ]);
  assertEquals(await fields({ user: "a", resourceAttributes }), false);
  assertEquals(await fields({ user: "a", groups: ["system:masters"], resourceAttributes }), true);
});

test("LocalSubjectAccessReview must be about its namespace", async () => {
  using server = new KubernetesTestServer();
  const local = "/apis/authorization.k8s.io/v1/namespaces/default/localsubjectaccessreviews";
  const spec = (namespace: string) => ({ user: "a", resourceAttributes: { verb: "get", resource: "pods", namespace } });
  assertEquals((await server.send("POST", local, { spec: spec("default") })).code, 201);
  const { body } = await server.send("POST", local, { spec: spec("other") });
  assertEquals(body.details.causes[0].message, 'Invalid value: "other": must match metadata.namespace');
});

test("every user may create SelfSubjectReviews and SelfSubjectRulesReviews", async () => {
  using server = await serverWithReader();
  const self = await server.send("POST", path("selfsubjectreviews", "authentication"), {}, asJane);
  assertEquals(self.body.status.userInfo, { username: "jane", groups: ["system:authenticated"] });
  const spec = { namespace: "default" };
  const { body } = await server.send("POST", path("selfsubjectrulesreviews"), { spec }, asJane);
  assertEquals(body.spec, {});
  const own = body.status.resourceRules.filter(({ resources }: { resources: readonly string[] }) =>
    resources.includes("configmaps")
  );
  assertEquals(own, [{ verbs: ["list"], apiGroups: [""], resources: ["configmaps"] }]);
  assertEquals((await server.send("POST", path("selfsubjectrulesreviews"), { spec: {} }, asJane)).code, 400);
});

test("TokenReview accepts an issued token for its audience while its ServiceAccount exists", async () => {
  using server = new KubernetesTestServer();
  const accounts = "/api/v1/namespaces/default/serviceaccounts";
  const account = await server.create(accounts, { metadata: { name: "robot" } });
  const request = await server.create(`${accounts}/robot/token`, {
    spec: { audiences: ["me"], expirationSeconds: 600 },
  });
  assertEquals([request.metadata.name, request.metadata.uid], ["robot", account.metadata.uid]);
  const { token } = request.status;
  const review = async (spec: object) =>
    (await server.send("POST", path("tokenreviews", "authentication"), { spec })).body.status;
  assertEquals((await review({ token, audiences: ["me", "you"] })).audiences, ["me"]);
  assertEquals((await review({ token })).authenticated, undefined);
  const asRobot = { authorization: `Bearer ${token}` };
  // It was not made for the API server.
  assertEquals((await server.send("GET", "/version", undefined, asRobot)).code, 401);
  await server.send("DELETE", `${accounts}/robot`);
  assertEquals((await review({ token, audiences: ["me"] })).authenticated, undefined);
});

test("a token is not issued for a lifetime that is too short or a missing ServiceAccount", async () => {
  using server = new KubernetesTestServer();
  const accounts = "/api/v1/namespaces/default/serviceaccounts";
  await server.create(accounts, { metadata: { name: "robot" } });
  const short = await server.send("POST", `${accounts}/robot/token`, { spec: { expirationSeconds: 5 } });
  assertMatch(short.body.message, /may not specify a duration less than 10 minutes$/);
  assertEquals((await server.send("POST", `${accounts}/absent/token`, { spec: {} })).code, 404);
  const bound = { boundObjectRef: { kind: "Pod", apiVersion: "v1", name: "absent" } };
  assertEquals((await server.send("POST", `${accounts}/robot/token`, { spec: bound })).code, 404);
  const withoutVersion = { boundObjectRef: { kind: "Pod", name: "absent" } };
  assertEquals((await server.send("POST", `${accounts}/robot/token`, { spec: withoutVersion })).code, 404);
  const otherGroup = { boundObjectRef: { kind: "Pod", apiVersion: "a/v1", name: "absent" } };
  assertEquals((await server.send("POST", `${accounts}/robot/token`, { spec: otherGroup })).code, 400);
  const dry = await server.send("POST", `${accounts}/robot/token?dryRun=All`, { spec: {} });
  assertEquals([dry.code, dry.body.status.token], [201, ""]);
});
