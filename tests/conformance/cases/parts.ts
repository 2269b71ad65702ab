/** Subresources and reviews: status, scale, eviction, binding, tokens, who may do what. */
import { type ConformanceCase, requests, scenario } from "../conformance_case.ts";
import type { Call } from "../site.ts";
import { at, type Body, deployment, pod, service, template, workload } from "./_objects.ts";

const merge = "application/merge-patch+json";

// deno-lint-ignore no-explicit-any
type Any = any;

const settled = (live: Any) => live.status?.observedGeneration === live.metadata?.generation;

const statuses: readonly ConformanceCase[] = [
  scenario("status and spec are written apart", async (site) => {
    const path = at(site, "pods");
    const pick = ({ metadata, spec, status }: Any) => ({
      labels: metadata.labels ?? "none",
      generation: metadata.generation ?? "none",
      image: spec.containers[0].image,
      status,
    });
    await site.call({ path, body: { ...pod("a"), status: { phase: "Running" } }, pick });
    const write = (part: string, body: Body) =>
      site.call({ method: "PATCH", path: `${path}/a${part}`, type: merge, body, pick });
    await write("/status", { status: { phase: "Running", message: "made up" }, spec: { containers: [] } });
    await write("", { status: { phase: "Failed" }, metadata: { labels: { a: "b" } } });
    await write("/status", { metadata: { labels: { c: "d" } } });
    await site.call({ path: `${path}/a/status`, pick });
    const live = await site.call({ path: `${path}/a`, pick });
    await site.call({ method: "PUT", path: `${path}/a/status`, body: { ...live, status: { phase: "Failed" } }, pick });
    await site.call({ method: "PUT", path: `${path}/a/status`, body: pod("b"), pick });
  }, { needsAccount: true }),
  requests("the status of what has none, or is not there", (site) => [
    { path: at(site, "configmaps", "a") + "/status" },
    { path: at(site, "pods", "a") + "/status" },
    { method: "PATCH", path: at(site, "apps/v1/deployments", "a") + "/status", type: merge, body: { status: {} } },
    { method: "DELETE", path: at(site, "pods", "a") + "/status" },
  ]),
  requests("a status that is wrong", (site) => [
    { path: at(site, "services"), body: service("web", { type: "LoadBalancer" }), pick: () => "" },
    {
      method: "PATCH",
      path: at(site, "services", "web") + "/status",
      type: merge,
      body: { status: { loadBalancer: { ingress: [{ ip: "not-an-address" }] } } },
    },
    {
      method: "PATCH",
      path: at(site, "services", "web") + "/status",
      type: merge,
      body: { status: { loadBalancer: { ingress: [{ ip: "192.0.2.7" }] } } },
      pick: ({ status }) => status,
    },
  ]),
];

const scales: readonly ConformanceCase[] = [
  ...(["Deployment", "StatefulSet", "ReplicaSet"] as const).map((kind) =>
    scenario(`the scale of a ${kind}`, async (site) => {
      const path = at(site, `apps/v1/${kind.toLowerCase()}s`);
      const extra = kind === "StatefulSet" ? { serviceName: "web" } : {};
      await site.prepare({ path, body: workload(kind, "web", { replicas: 0, ...extra }) });
      await site.until(`${path}/web`, settled);
      await site.call({ path: `${path}/web/scale` });
      await site.call({ method: "PATCH", path: `${path}/web/scale`, type: merge, body: { spec: { replicas: -1 } } });
      await site.call({
        method: "PATCH",
        path: `${path}/web/scale?dryRun=All`,
        type: merge,
        body: { spec: { replicas: 2 } },
      });
      await site.call({
        method: "PUT",
        path: `${path}/web/scale?dryRun=All`,
        body: {
          apiVersion: "autoscaling/v1",
          kind: "Scale",
          metadata: { name: "web", namespace: site.namespace },
          spec: { replicas: 3 },
        },
      });
      await site.call({ method: "PUT", path: `${path}/web/scale`, body: deployment("web") });
      await site.call({ path: `${path}/absent/scale` });
    }, { needsControllers: true })
  ),
  scenario("the scale of a ReplicationController", async (site) => {
    const path = at(site, "replicationcontrollers");
    await site.prepare({ path, body: { metadata: { name: "web" }, spec: { replicas: 0, template: template("web") } } });
    const pick = ({ kind, spec, status }: Any) => ({ kind, spec, status });
    await site.call({ path: `${path}/web/scale`, pick });
    await site.call({
      method: "PATCH",
      path: `${path}/web/scale?dryRun=All`,
      type: merge,
      body: { spec: { replicas: 2 } },
      pick,
    });
  }),
  requests("the scale of what has none", (site) => [
    { path: at(site, "apps/v1/daemonsets", "a") + "/scale" },
    { path: at(site, "configmaps", "a") + "/scale" },
  ]),
];

const budget = (name: string, spec: Body) => ({
  metadata: { name },
  spec: { selector: { matchLabels: { app: name } }, ...spec },
});

const one = (name: string) => ({ name, image: "example.invalid/main" });

const pods: readonly ConformanceCase[] = [
  scenario("a Pod is bound once", async (site) => {
    const path = at(site, "pods");
    await site.call({ path, body: pod("a"), pick: () => "" });
    const bind = (name: string, target: Body) =>
      site.call({
        path: `${path}/${name}/binding`,
        body: { apiVersion: "v1", kind: "Binding", metadata: { name }, target },
      });
    await bind("a", { kind: "Node", name: "node-a" });
    await bind("a", { kind: "Node", name: "node-b" });
    await bind("absent", { kind: "Node", name: "node-a" });
    await bind("a", { kind: "Shelf", name: "x" });
    await bind("a", { kind: "Node", name: "" });
    await bind("a", { kind: "Shelf", name: "" });
    const target = { kind: "Node", name: "node-a" };
    await site.call({ path: `${path}/a/binding`, body: { metadata: { name: "b" }, target } });
    await site.call({ path: `${path}/a/binding`, body: { target } });
    await site.call({ path: `${path}/a`, pick: ({ spec, status }) => ({ node: spec.nodeName, status }) });
  }, { needsAccount: true }),
  scenario("a Binding is created, and is a Pod's", async (site) => {
    const path = at(site, "pods");
    await site.prepare({ path, body: pod("a") });
    const bind = (name: string, target: Body) =>
      site.call({ path: at(site, "bindings"), body: { metadata: { name }, target } });
    await bind("a", {});
    await bind("a", { kind: "Node", name: "node-a" });
    await bind("b", { kind: "Node", name: "node-a" });
    await site.call({ path: `${path}/a`, pick: ({ spec }) => spec.nodeName });
    await site.call({ path: at(site, "bindings") });
  }, { needsAccount: true }),
  scenario("what may change of a Pod's spec", async (site) => {
    const path = at(site, "pods");
    await site.call({ path, body: pod("a"), pick: () => "" });
    const change = (spec: Body) =>
      site.call({
        method: "PATCH",
        path: `${path}/a`,
        type: "application/strategic-merge-patch+json",
        body: { spec },
        pick: ({ spec }) => spec,
      });
    await change({ containers: [{ name: "main", image: "example.invalid/main:2" }] });
    await change({ containers: [{ name: "main", command: ["sleep"] }] });
    await change({ containers: [{ name: "second", image: "example.invalid/b" }] });
    await change({ tolerations: [{ key: "a", operator: "Exists" }] });
    await change({ activeDeadlineSeconds: 100 });
    await change({ activeDeadlineSeconds: 200 });
    await change({ nodeName: "node-a" });
    await change({ restartPolicy: "Never" });
    await change({ serviceAccountName: "other" });
  }, { needsAccount: true }),
  scenario("a Pod that is bound goes with a grace", async (site) => {
    const path = at(site, "pods");
    const pick = ({ metadata, kind, status }: Any) => ({ kind, metadata, status });
    await site.call({ path, body: pod("a", { terminationGracePeriodSeconds: 7 }), pick: () => "" });
    await site.call({
      path: `${path}/a/binding`,
      body: { metadata: { name: "a" }, target: { kind: "Node", name: "node-a" } },
    });
    await site.call({ method: "DELETE", path: `${path}/a`, pick });
    await site.call({ method: "DELETE", path: `${path}/a?gracePeriodSeconds=3`, pick });
    await site.call({ path: `${path}/a`, pick });
    await site.call({ method: "DELETE", path: `${path}/a?gracePeriodSeconds=0`, pick });
    await site.call({ path: `${path}/a` });
  }, { needsAccount: true }),
  scenario("a Pod without a node goes at once", async (site) => {
    const path = at(site, "pods");
    await site.call({ path, body: pod("a"), pick: () => "" });
    await site.call({ method: "DELETE", path: `${path}/a`, pick: ({ metadata, kind }) => ({ kind, metadata }) });
    await site.call({ path: `${path}/a` });
  }, { needsAccount: true }),
  scenario("an eviction without a budget deletes", async (site) => {
    const path = at(site, "pods");
    await site.call({ path, body: pod("a"), pick: () => "" });
    const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "a" } };
    await site.call({ path: `${path}/a/eviction`, body: { ...eviction, deleteOptions: { dryRun: ["All"] } } });
    await site.call({ path: `${path}/a/eviction`, body: { ...eviction, metadata: { name: "b" } } });
    await site.call({ path: `${path}/a/eviction`, body: eviction });
    await site.call({ path: `${path}/a/eviction`, body: eviction });
  }, { needsAccount: true }),
  scenario("an eviction that a budget forbids", async (site) => {
    const path = at(site, "pods");
    await site.prepare({ path, body: pod("a", {}, { labels: { app: "web" } }) });
    await site.prepare({
      method: "PATCH",
      path: `${path}/a/status`,
      type: merge,
      body: { status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] } },
    });
    const budgets = at(site, "policy/v1/poddisruptionbudgets");
    await site.call({ path: budgets, body: budget("web", { minAvailable: 1 }), pick: ({ spec }) => spec });
    await site.until(`${budgets}/web`, (live) => live.status?.observedGeneration === 1);
    await site.call({ path: `${budgets}/web`, pick: ({ status }) => status });
    const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "a" } };
    await site.call({ path: `${path}/a/eviction`, body: eviction });
  }, { needsControllers: true, needsAccount: true }),
  scenario("an eviction that nobody can judge", async (site) => {
    const path = at(site, "pods");
    const budgets = at(site, "policy/v1/poddisruptionbudgets");
    await site.prepare({ path, body: pod("a", {}, { labels: { app: "web" } }) });
    for (const name of ["one", "two"]) {
      const spec = { selector: { matchLabels: { app: "web" } }, maxUnavailable: 1 };
      await site.prepare({ path: budgets, body: { metadata: { name }, spec } });
    }
    const status = { phase: "Running", conditions: [{ type: "Ready", status: "True" }] };
    await site.prepare({ method: "PATCH", path: `${path}/a/status`, type: merge, body: { status } });
    const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "a" } };
    await site.call({ path: `${path}/a/eviction`, body: eviction });
  }, { needsAccount: true }),
  scenario("what an eviction leaves of a Pod that has a node", async (site) => {
    const path = at(site, "pods");
    await site.prepare({ path, body: pod("a") });
    await site.prepare({
      path: `${path}/a/binding`,
      body: { metadata: { name: "a" }, target: { kind: "Node", name: "node-a" } },
    });
    await site.call({ path: `${path}/a/eviction`, body: { metadata: { name: "a" } } });
    await site.call({
      path: `${path}/a`,
      pick: ({ metadata, status }) => ({ grace: metadata.deletionGracePeriodSeconds, status }),
    });
  }, { needsAccount: true }),
  requests("the log of a Pod that never ran", (site) => [
    { path: at(site, "pods"), body: pod("a"), pick: () => "" },
    { path: at(site, "pods", "a") + "/log" },
    { path: at(site, "pods", "b") + "/log" },
    { path: at(site, "pods", "a") + "/log?container=other" },
    { path: at(site, "pods"), body: pod("c", { containers: [one("x"), one("y")] }), pick: () => "" },
    { path: at(site, "pods", "c") + "/log" },
  ], { needsAccount: true }),
];

const review = (kind: string, spec: Body, group = "authorization"): Call => ({
  path: `/apis/${group}.k8s.io/v1/${kind.toLowerCase()}s`,
  body: { apiVersion: `${group}.k8s.io/v1`, kind, spec },
});

const access: readonly ConformanceCase[] = [
  requests("a token for a ServiceAccount", (site) => {
    const path = at(site, "serviceaccounts");
    const request = (spec: Body) => ({
      path: `${path}/robot/token`,
      body: { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec },
    });
    return [
      { path, body: { metadata: { name: "robot" } }, pick: () => "" },
      request({}),
      request({ expirationSeconds: 600, audiences: ["somebody"] }),
      request({ expirationSeconds: 5 }),
      { ...request({}), path: `${path}/absent/token` },
    ];
  }),
  scenario("a token is believed, with what it says", async (site) => {
    const path = at(site, "serviceaccounts");
    await site.prepare({ path, body: { metadata: { name: "robot" } } });
    const { status: { token } } = await site.prepare({ path: `${path}/robot/token`, body: { spec: {} } });
    const pick = ({ status }: Any) => ({
      isKnown: status.authenticated ?? false,
      name: status.user?.username ?? "",
      groups: status.user?.groups ?? [],
      audiences: status.audiences ?? [],
      error: status.error ?? "",
    });
    await site.call({ ...review("TokenReview", { token }, "authentication"), pick });
    await site.call({
      ...review("TokenReview", { token: "nonsense" }, "authentication"),
      pick: ({ status }) => status.authenticated ?? false,
    });
    await site.call({
      ...review("TokenReview", { token, audiences: ["another"] }, "authentication"),
      pick: ({ status }) => status.authenticated ?? false,
    });
    await site.call({ ...review("TokenReview", {}, "authentication") });
    const headers = { authorization: `Bearer ${token}` };
    await site.call({ path: at(site, "configmaps"), headers });
    await site.call({ path: "/api/v1/nodes/a", headers });
    await site.call({ path: at(site, "configmaps"), headers, body: {} });
    await site.call({ path: at(site, "apps/v1/deployments", "web") + "/scale", headers });
    await site.call({ path: "/healthz", headers });
    await site.call({ path: "/version", headers, pick: () => "" });
    await site.call({ path: "/metrics", headers });
    await site.call({ path: at(site, "configmaps"), headers: { authorization: "Bearer nonsense" } });
    await site.call({
      ...review("SelfSubjectAccessReview", {
        resourceAttributes: { verb: "get", resource: "pods", namespace: site.namespace },
      }),
      headers,
    });
    await site.call({
      path: "/apis/authentication.k8s.io/v1/selfsubjectreviews",
      body: { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" },
      headers,
      pick: ({ status }) => ({ name: status.userInfo.username, groups: status.userInfo.groups }),
    });
  }),
  scenario("a Role and its binding let somebody in", async (site) => {
    await site.prepare({ path: at(site, "serviceaccounts"), body: { metadata: { name: "robot" } } });
    const rbac = "rbac.authorization.k8s.io";
    const rules = [{ apiGroups: [""], resources: ["configmaps"], verbs: ["list"] }, {
      apiGroups: ["apps"],
      resources: ["deployments/scale"],
      verbs: ["*"],
      resourceNames: ["web"],
    }];
    await site.prepare({ path: at(site, `${rbac}/v1/roles`), body: { metadata: { name: "reader" }, rules } });
    await site.prepare({
      path: at(site, `${rbac}/v1/rolebindings`),
      body: {
        metadata: { name: "reader" },
        roleRef: { apiGroup: rbac, kind: "Role", name: "reader" },
        subjects: [{ kind: "ServiceAccount", name: "robot", namespace: site.namespace }],
      },
    });
    const user = `system:serviceaccount:${site.namespace}:robot`;
    const headers = { "impersonate-user": user };
    // The authorizer learns of roles by watching.
    await site.until(at(site, "configmaps"), () => true);
    await new Promise((resolve) => setTimeout(resolve, 300));
    await site.call({ path: at(site, "configmaps"), headers, pick: ({ kind }) => kind });
    await site.call({ path: at(site, "configmaps", "a"), headers });
    await site.call({ path: at(site, "secrets"), headers });
    await site.call({ path: at(site, "apps/v1/deployments", "web") + "/scale", headers });
    await site.call({ path: at(site, "apps/v1/deployments", "other") + "/scale", headers });
    const ask = (resourceAttributes: Body) =>
      site.call({ ...review("SubjectAccessReview", { user, resourceAttributes }) });
    await ask({ namespace: site.namespace, verb: "list", resource: "configmaps" });
    await ask({ namespace: "default", verb: "list", resource: "configmaps" });
    await ask({
      namespace: site.namespace,
      verb: "update",
      group: "apps",
      resource: "deployments",
      subresource: "scale",
      name: "web",
    });
  }),
  requests("access reviews", (site) => [
    review("SelfSubjectAccessReview", {
      resourceAttributes: { verb: "create", resource: "pods", namespace: site.namespace },
    }),
    review("SelfSubjectAccessReview", { nonResourceAttributes: { verb: "get", path: "/metrics" } }),
    review("SelfSubjectAccessReview", {}),
    review("SubjectAccessReview", { user: "jane", resourceAttributes: { verb: "list", resource: "secrets" } }),
    review("SubjectAccessReview", {
      user: "jane",
      groups: ["system:masters"],
      resourceAttributes: { verb: "*", resource: "*" },
    }),
    review("SubjectAccessReview", { resourceAttributes: { verb: "list", resource: "secrets" } }),
    review("SubjectAccessReview", { user: "jane", resourceAttributes: {}, nonResourceAttributes: {} }),
    {
      path: `/apis/authorization.k8s.io/v1/namespaces/${site.namespace}/localsubjectaccessreviews`,
      body: {
        spec: { user: "jane", resourceAttributes: { namespace: site.namespace, verb: "get", resource: "pods" } },
      },
    },
    {
      path: `/apis/authorization.k8s.io/v1/namespaces/${site.namespace}/localsubjectaccessreviews`,
      body: { spec: { user: "jane", resourceAttributes: { namespace: "other", verb: "get", resource: "pods" } } },
    },
  ]),
  requests("impersonation", (site): readonly Call[] => [
    { path: at(site, "configmaps"), headers: { "impersonate-user": "jane" } },
    {
      path: at(site, "configmaps"),
      headers: { "impersonate-user": "jane", "impersonate-group": "system:masters" },
      pick: ({ kind }) => kind,
    },
    { path: at(site, "configmaps"), headers: { "impersonate-group": "system:masters" } },
    {
      path: "/apis/authentication.k8s.io/v1/selfsubjectreviews",
      body: {},
      headers: { "impersonate-user": "jane", "impersonate-extra-scopes": "view", "impersonate-uid": "7" },
    },
    { path: "/api", headers: { "impersonate-user": "jane" }, pick: () => "" },
    { path: "/metrics", headers: { "impersonate-user": "jane" } },
  ]),
];

export const partCases: readonly ConformanceCase[] = [...statuses, ...scales, ...pods, ...access];
