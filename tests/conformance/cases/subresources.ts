/** Subresources (status, scale, binding, eviction, log, token), token reviews, access reviews and impersonation. */
import { type ConformanceCase, requests, scenario } from "../conformance_case.ts";
import type { Call, CaseRun } from "../case_run.ts";
import { at, type Body, deployment, pod, service, template, workload } from "./_objects.ts";

const merge = "application/merge-patch+json";

// deno-lint-ignore no-explicit-any
type Any = any;

const settled = (live: Any) => live.status?.observedGeneration === live.metadata?.generation;

const statuses: readonly ConformanceCase[] = [
  scenario("status and spec are written separately", async (run) => {
    const path = at(run, "pods");
    const pick = ({ metadata, spec, status }: Any) => ({
      labels: metadata.labels ?? "none",
      generation: metadata.generation ?? "none",
      image: spec.containers[0].image,
      status,
    });
    await run.call({ path, body: { ...pod("a"), status: { phase: "Running" } }, pick });
    const write = (part: string, body: Body) =>
      run.call({ method: "PATCH", path: `${path}/a${part}`, type: merge, body, pick });
    await write("/status", { status: { phase: "Running", message: "made up" }, spec: { containers: [] } });
    await write("", { status: { phase: "Failed" }, metadata: { labels: { a: "b" } } });
    await write("/status", { metadata: { labels: { c: "d" } } });
    await run.call({ path: `${path}/a/status`, pick });
    const live = await run.call({ path: `${path}/a`, pick });
    await run.call({ method: "PUT", path: `${path}/a/status`, body: { ...live, status: { phase: "Failed" } }, pick });
    await run.call({ method: "PUT", path: `${path}/a/status`, body: pod("b"), pick });
  }, { needsAccount: true }),
  requests("the status of a kind without status, and of an object that does not exist", (run) => [
    { path: at(run, "configmaps", "a") + "/status" },
    { path: at(run, "pods", "a") + "/status" },
    { method: "PATCH", path: at(run, "apps/v1/deployments", "a") + "/status", type: merge, body: { status: {} } },
    { method: "DELETE", path: at(run, "pods", "a") + "/status" },
  ]),
  requests("an invalid status", (run) => [
    { path: at(run, "services"), body: service("web", { type: "LoadBalancer" }), pick: () => "" },
    {
      method: "PATCH",
      path: at(run, "services", "web") + "/status",
      type: merge,
      body: { status: { loadBalancer: { ingress: [{ ip: "not-an-address" }] } } },
    },
    {
      method: "PATCH",
      path: at(run, "services", "web") + "/status",
      type: merge,
      body: { status: { loadBalancer: { ingress: [{ ip: "192.0.2.7" }] } } },
      pick: ({ status }) => status,
    },
  ]),
];

const scales: readonly ConformanceCase[] = [
  ...(["Deployment", "StatefulSet", "ReplicaSet"] as const).map((kind) =>
    scenario(`the scale of a ${kind}`, async (run) => {
      const path = at(run, `apps/v1/${kind.toLowerCase()}s`);
      const extra = kind === "StatefulSet" ? { serviceName: "web" } : {};
      await run.prepare({ path, body: workload(kind, "web", { replicas: 0, ...extra }) });
      await run.until(`${path}/web`, settled);
      await run.call({ path: `${path}/web/scale` });
      await run.call({ method: "PATCH", path: `${path}/web/scale`, type: merge, body: { spec: { replicas: -1 } } });
      await run.call({
        method: "PATCH",
        path: `${path}/web/scale?dryRun=All`,
        type: merge,
        body: { spec: { replicas: 2 } },
      });
      await run.call({
        method: "PUT",
        path: `${path}/web/scale?dryRun=All`,
        body: {
          apiVersion: "autoscaling/v1",
          kind: "Scale",
          metadata: { name: "web", namespace: run.namespace },
          spec: { replicas: 3 },
        },
      });
      await run.call({ method: "PUT", path: `${path}/web/scale`, body: deployment("web") });
      await run.call({ path: `${path}/absent/scale` });
    }, { needsControllers: true })
  ),
  scenario("the scale of a ReplicationController", async (run) => {
    const path = at(run, "replicationcontrollers");
    await run.prepare({ path, body: { metadata: { name: "web" }, spec: { replicas: 0, template: template("web") } } });
    const pick = ({ kind, spec, status }: Any) => ({ kind, spec, status });
    await run.call({ path: `${path}/web/scale`, pick });
    await run.call({
      method: "PATCH",
      path: `${path}/web/scale?dryRun=All`,
      type: merge,
      body: { spec: { replicas: 2 } },
      pick,
    });
  }),
  requests("the scale of kinds without scale", (run) => [
    { path: at(run, "apps/v1/daemonsets", "a") + "/scale" },
    { path: at(run, "configmaps", "a") + "/scale" },
  ]),
];

const budget = (name: string, spec: Body) => ({
  metadata: { name },
  spec: { selector: { matchLabels: { app: name } }, ...spec },
});

/** No other run may use its name: Pods of a Node that does not exist are deleted a minute after it was first named. */
const nodeOf = (run: CaseRun) => run.name("node-a");

const one = (name: string) => ({ name, image: "example.invalid/main" });

const pods: readonly ConformanceCase[] = [
  scenario("a Pod can be bound only once", async (run) => {
    const path = at(run, "pods");
    await run.call({ path, body: pod("a"), pick: () => "" });
    const bind = (name: string, target: Body) =>
      run.call({
        path: `${path}/${name}/binding`,
        body: { apiVersion: "v1", kind: "Binding", metadata: { name }, target },
      });
    await bind("a", { kind: "Node", name: nodeOf(run) });
    await bind("a", { kind: "Node", name: run.name("node-b") });
    await bind("absent", { kind: "Node", name: nodeOf(run) });
    await bind("a", { kind: "Shelf", name: "x" });
    await bind("a", { kind: "Node", name: "" });
    await bind("a", { kind: "Shelf", name: "" });
    const target = { kind: "Node", name: nodeOf(run) };
    await run.call({ path: `${path}/a/binding`, body: { metadata: { name: "b" }, target } });
    await run.call({ path: `${path}/a/binding`, body: { target } });
    await run.call({ path: `${path}/a`, pick: ({ spec, status }) => ({ node: spec.nodeName, status }) });
  }, { needsAccount: true }),
  scenario("a Binding sent to the path of bindings binds its Pod", async (run) => {
    const path = at(run, "pods");
    await run.prepare({ path, body: pod("a") });
    const bind = (name: string, target: Body) =>
      run.call({ path: at(run, "bindings"), body: { metadata: { name }, target } });
    await bind("a", {});
    await bind("a", { kind: "Node", name: nodeOf(run) });
    await bind("b", { kind: "Node", name: nodeOf(run) });
    await run.call({ path: `${path}/a`, pick: ({ spec }) => spec.nodeName });
    await run.call({ path: at(run, "bindings") });
  }, { needsAccount: true }),
  scenario("mutable and immutable fields of a Pod's spec", async (run) => {
    const path = at(run, "pods");
    await run.call({ path, body: pod("a"), pick: () => "" });
    const change = (spec: Body) =>
      run.call({
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
  scenario("a bound Pod is deleted with a grace period", async (run) => {
    const path = at(run, "pods");
    const pick = ({ metadata, kind, status }: Any) => ({ kind, metadata, status });
    await run.call({ path, body: pod("a", { terminationGracePeriodSeconds: 7 }), pick: () => "" });
    await run.call({
      path: `${path}/a/binding`,
      body: { metadata: { name: "a" }, target: { kind: "Node", name: nodeOf(run) } },
    });
    await run.call({ method: "DELETE", path: `${path}/a`, pick });
    await run.call({ method: "DELETE", path: `${path}/a?gracePeriodSeconds=3`, pick });
    await run.call({ path: `${path}/a`, pick });
    await run.call({ method: "DELETE", path: `${path}/a?gracePeriodSeconds=0`, pick });
    await run.call({ path: `${path}/a` });
  }, { needsAccount: true }),
  scenario("a Pod without a Node is deleted immediately", async (run) => {
    const path = at(run, "pods");
    await run.call({ path, body: pod("a"), pick: () => "" });
    await run.call({ method: "DELETE", path: `${path}/a`, pick: ({ metadata, kind }) => ({ kind, metadata }) });
    await run.call({ path: `${path}/a` });
  }, { needsAccount: true }),
  scenario("an eviction without a PodDisruptionBudget deletes the Pod", async (run) => {
    const path = at(run, "pods");
    await run.call({ path, body: pod("a"), pick: () => "" });
    const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "a" } };
    await run.call({ path: `${path}/a/eviction`, body: { ...eviction, deleteOptions: { dryRun: ["All"] } } });
    await run.call({ path: `${path}/a/eviction`, body: { ...eviction, metadata: { name: "b" } } });
    await run.call({ path: `${path}/a/eviction`, body: eviction });
    await run.call({ path: `${path}/a/eviction`, body: eviction });
  }, { needsAccount: true }),
  scenario("an eviction that a PodDisruptionBudget forbids", async (run) => {
    const path = at(run, "pods");
    await run.prepare({ path, body: pod("a", {}, { labels: { app: "web" } }) });
    await run.prepare({
      method: "PATCH",
      path: `${path}/a/status`,
      type: merge,
      body: { status: { phase: "Running", conditions: [{ type: "Ready", status: "True" }] } },
    });
    const budgets = at(run, "policy/v1/poddisruptionbudgets");
    await run.call({ path: budgets, body: budget("web", { minAvailable: 1 }), pick: ({ spec }) => spec });
    await run.until(`${budgets}/web`, (live) => live.status?.observedGeneration === 1);
    await run.call({ path: `${budgets}/web`, pick: ({ status }) => status });
    const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "a" } };
    await run.call({ path: `${path}/a/eviction`, body: eviction });
  }, { needsControllers: true, needsAccount: true }),
  scenario("an eviction of a Pod with two PodDisruptionBudgets", async (run) => {
    const path = at(run, "pods");
    const budgets = at(run, "policy/v1/poddisruptionbudgets");
    await run.prepare({ path, body: pod("a", {}, { labels: { app: "web" } }) });
    for (const name of ["one", "two"]) {
      const spec = { selector: { matchLabels: { app: "web" } }, maxUnavailable: 1 };
      await run.prepare({ path: budgets, body: { metadata: { name }, spec } });
    }
    const status = { phase: "Running", conditions: [{ type: "Ready", status: "True" }] };
    await run.prepare({ method: "PATCH", path: `${path}/a/status`, type: merge, body: { status } });
    const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "a" } };
    await run.call({ path: `${path}/a/eviction`, body: eviction });
  }, { needsAccount: true }),
  scenario("the state of a bound Pod after an eviction", async (run) => {
    const path = at(run, "pods");
    await run.prepare({ path, body: pod("a") });
    await run.prepare({
      path: `${path}/a/binding`,
      body: { metadata: { name: "a" }, target: { kind: "Node", name: nodeOf(run) } },
    });
    await run.call({ path: `${path}/a/eviction`, body: { metadata: { name: "a" } } });
    await run.call({
      path: `${path}/a`,
      pick: ({ metadata, status }) => ({ grace: metadata.deletionGracePeriodSeconds, status }),
    });
  }, { needsAccount: true }),
  requests("the log of a Pod that never ran", (run) => [
    { path: at(run, "pods"), body: pod("a"), pick: () => "" },
    { path: at(run, "pods", "a") + "/log" },
    { path: at(run, "pods", "b") + "/log" },
    { path: at(run, "pods", "a") + "/log?container=other" },
    { path: at(run, "pods"), body: pod("c", { containers: [one("x"), one("y")] }), pick: () => "" },
    { path: at(run, "pods", "c") + "/log" },
  ], { needsAccount: true }),
];

const review = (kind: string, spec: Body, group = "authorization"): Call => ({
  path: `/apis/${group}.k8s.io/v1/${kind.toLowerCase()}s`,
  body: { apiVersion: `${group}.k8s.io/v1`, kind, spec },
});

const access: readonly ConformanceCase[] = [
  requests("a token for a ServiceAccount", (run) => {
    const path = at(run, "serviceaccounts");
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
  scenario("a token authenticates its ServiceAccount", async (run) => {
    const path = at(run, "serviceaccounts");
    await run.prepare({ path, body: { metadata: { name: "robot" } } });
    const { status: { token } } = await run.prepare({ path: `${path}/robot/token`, body: { spec: {} } });
    const pick = ({ status }: Any) => ({
      isKnown: status.authenticated ?? false,
      name: status.user?.username ?? "",
      groups: status.user?.groups ?? [],
      audiences: status.audiences ?? [],
      error: status.error ?? "",
    });
    await run.call({ ...review("TokenReview", { token }, "authentication"), pick });
    await run.call({
      ...review("TokenReview", { token: "nonsense" }, "authentication"),
      pick: ({ status }) => status.authenticated ?? false,
    });
    await run.call({
      ...review("TokenReview", { token, audiences: ["another"] }, "authentication"),
      pick: ({ status }) => status.authenticated ?? false,
    });
    await run.call({ ...review("TokenReview", {}, "authentication") });
    const headers = { authorization: `Bearer ${token}` };
    await run.call({ path: at(run, "configmaps"), headers });
    await run.call({ path: "/api/v1/nodes/a", headers });
    await run.call({ path: at(run, "configmaps"), headers, body: {} });
    await run.call({ path: at(run, "apps/v1/deployments", "web") + "/scale", headers });
    await run.call({ path: "/healthz", headers });
    await run.call({ path: "/version", headers, pick: () => "" });
    await run.call({ path: "/metrics", headers });
    await run.call({ path: at(run, "configmaps"), headers: { authorization: "Bearer nonsense" } });
    await run.call({
      ...review("SelfSubjectAccessReview", {
        resourceAttributes: { verb: "get", resource: "pods", namespace: run.namespace },
      }),
      headers,
    });
    await run.call({
      path: "/apis/authentication.k8s.io/v1/selfsubjectreviews",
      body: { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" },
      headers,
      pick: ({ status }) => ({ name: status.userInfo.username, groups: status.userInfo.groups }),
    });
  }),
  scenario("a Role and its RoleBinding grant access", async (run) => {
    await run.prepare({ path: at(run, "serviceaccounts"), body: { metadata: { name: "robot" } } });
    const rbac = "rbac.authorization.k8s.io";
    const rules = [{ apiGroups: [""], resources: ["configmaps"], verbs: ["list"] }, {
      apiGroups: ["apps"],
      resources: ["deployments/scale"],
      verbs: ["*"],
      resourceNames: ["web"],
    }];
    await run.prepare({ path: at(run, `${rbac}/v1/roles`), body: { metadata: { name: "reader" }, rules } });
    await run.prepare({
      path: at(run, `${rbac}/v1/rolebindings`),
      body: {
        metadata: { name: "reader" },
        roleRef: { apiGroup: rbac, kind: "Role", name: "reader" },
        subjects: [{ kind: "ServiceAccount", name: "robot", namespace: run.namespace }],
      },
    });
    const user = `system:serviceaccount:${run.namespace}:robot`;
    const headers = { "impersonate-user": user };
    // The authorizer reads Roles from a cache that is filled by a watch.
    await run.until({ path: at(run, "configmaps"), headers }, (_, code) => code === 200);
    await run.call({ path: at(run, "configmaps"), headers, pick: ({ kind }) => kind });
    await run.call({ path: at(run, "configmaps", "a"), headers });
    await run.call({ path: at(run, "secrets"), headers });
    await run.call({ path: at(run, "apps/v1/deployments", "web") + "/scale", headers });
    await run.call({ path: at(run, "apps/v1/deployments", "other") + "/scale", headers });
    const reviewAccess = (resourceAttributes: Body) =>
      run.call({ ...review("SubjectAccessReview", { user, resourceAttributes }) });
    await reviewAccess({ namespace: run.namespace, verb: "list", resource: "configmaps" });
    await reviewAccess({ namespace: "default", verb: "list", resource: "configmaps" });
    await reviewAccess({
      namespace: run.namespace,
      verb: "update",
      group: "apps",
      resource: "deployments",
      subresource: "scale",
      name: "web",
    });
  }),
  requests("access reviews", (run) => [
    review("SelfSubjectAccessReview", {
      resourceAttributes: { verb: "create", resource: "pods", namespace: run.namespace },
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
      path: `/apis/authorization.k8s.io/v1/namespaces/${run.namespace}/localsubjectaccessreviews`,
      body: {
        spec: { user: "jane", resourceAttributes: { namespace: run.namespace, verb: "get", resource: "pods" } },
      },
    },
    {
      path: `/apis/authorization.k8s.io/v1/namespaces/${run.namespace}/localsubjectaccessreviews`,
      body: { spec: { user: "jane", resourceAttributes: { namespace: "other", verb: "get", resource: "pods" } } },
    },
  ]),
  requests("impersonation", (run): readonly Call[] => [
    { path: at(run, "configmaps"), headers: { "impersonate-user": "jane" } },
    {
      path: at(run, "configmaps"),
      headers: { "impersonate-user": "jane", "impersonate-group": "system:masters" },
      pick: ({ kind }) => kind,
    },
    { path: at(run, "configmaps"), headers: { "impersonate-group": "system:masters" } },
    {
      path: "/apis/authentication.k8s.io/v1/selfsubjectreviews",
      body: {},
      headers: { "impersonate-user": "jane", "impersonate-extra-scopes": "view", "impersonate-uid": "7" },
    },
    { path: "/api", headers: { "impersonate-user": "jane" }, pick: () => "" },
    { path: "/metrics", headers: { "impersonate-user": "jane" } },
  ]),
];

export const subresourceCases: readonly ConformanceCase[] = [...statuses, ...scales, ...pods, ...access];
