/** The built-in admission plugins: ServiceAccount, Priority, RuntimeClass, LimitRanger, ResourceQuota, PodSecurity, storage protection. */
import { type ConformanceCase, requests, scenario, type Wait } from "../conformance_case.ts";
import type { CaseRun } from "../case_run.ts";
import { at, type Body, configMap, deployment, job, pod, service } from "./_objects.ts";

// deno-lint-ignore no-explicit-any
type Any = any;

const specOf = ({ spec, metadata }: Any) => ({ annotations: metadata.annotations ?? {}, spec });

const withToken = (name: string, spec: Body = {}) => pod(name, { automountServiceAccountToken: undefined, ...spec });

function podWithResources(name: string, resources: Body, more: Body = {}): Body {
  return pod(name, { containers: [{ name: "main", image: "example.invalid/main:1", resources }], ...more });
}

const accounts: readonly ConformanceCase[] = [
  requests("a Pod gets the token of its ServiceAccount", (run) => [
    { path: at(run, "pods"), body: withToken("a"), pick: specOf },
    {
      path: at(run, "pods"),
      body: withToken("b", { initContainers: [{ name: "first", image: "example.invalid/first:1" }] }),
      pick: specOf,
    },
    {
      path: at(run, "pods"),
      body: withToken("c", {
        volumes: [{ name: "own", emptyDir: {} }],
        containers: [{
          name: "main",
          image: "example.invalid/main:1",
          volumeMounts: [{ name: "own", mountPath: "/var/run/secrets/kubernetes.io/serviceaccount" }],
        }],
      }),
      pick: specOf,
    },
  ], { needsAccount: true }),
  requests("a Pod's ServiceAccount must exist and can restrict the Pod", (run) => [
    { path: at(run, "pods"), body: withToken("a", { serviceAccountName: "nobody" }) },
    {
      path: at(run, "serviceaccounts"),
      body: { metadata: { name: "quiet" }, automountServiceAccountToken: false, imagePullSecrets: [{ name: "pull" }] },
      pick: () => "",
    },
    { path: at(run, "pods"), body: withToken("a", { serviceAccountName: "quiet" }), pick: specOf },
    {
      path: at(run, "serviceaccounts"),
      body: {
        metadata: { name: "strict", annotations: { "kubernetes.io/enforce-mountable-secrets": "true" } },
        secrets: [{ name: "mine" }],
      },
      pick: () => "",
    },
    {
      path: at(run, "pods"),
      body: pod("b", { serviceAccountName: "strict", volumes: [{ name: "v", secret: { secretName: "other" } }] }),
    },
    { path: at(run, "pods"), body: pod("c", { serviceAccountName: "strict", imagePullSecrets: [{ name: "other" }] }) },
    {
      path: at(run, "pods"),
      body: pod("d", {}, { annotations: { "kubernetes.io/config.mirror": "x" } }),
    },
  ], { needsAccount: true }),
];

const priorities: readonly ConformanceCase[] = [
  requests("a PriorityClass sets the priority of Pods", (run) => [
    {
      path: "/apis/scheduling.k8s.io/v1/priorityclasses",
      body: { metadata: { name: run.name("high") }, value: 100, preemptionPolicy: "Never" },
      pick: () => "",
    },
    untilAdmitted(pod("a", { priorityClassName: run.name("high") })),
    { path: at(run, "pods"), body: pod("a", { priorityClassName: run.name("high") }), pick: specOf },
    { path: at(run, "pods"), body: pod("b", { priorityClassName: run.name("high"), priority: 5 }) },
    {
      path: at(run, "pods"),
      body: pod("c", { priorityClassName: run.name("high"), preemptionPolicy: "PreemptLowerPriority" }),
    },
    { path: at(run, "pods"), body: pod("d", { priorityClassName: "none" }) },
    { path: at(run, "pods"), body: pod("e", { priority: 5 }) },
    { path: at(run, "pods"), body: pod("f", { priorityClassName: "system-node-critical" }), pick: specOf },
    { method: "DELETE", path: `/apis/scheduling.k8s.io/v1/priorityclasses/${run.name("high")}`, pick: () => "" },
  ], { needsAccount: true }),
  requests(
    "the PriorityClasses of the system",
    () =>
      ["system-cluster-critical", "system-node-critical"].map((name) => ({
        path: `/apis/scheduling.k8s.io/v1/priorityclasses/${name}`,
        pick: ({ metadata: { generation }, ...rest }: Any) => ({ ...rest, metadata: { generation } }),
      })),
  ),
  requests("a RuntimeClass sets overhead, node selector and tolerations", (run) => [
    {
      path: "/apis/node.k8s.io/v1/runtimeclasses",
      body: {
        metadata: { name: run.name("box") },
        handler: "box",
        overhead: { podFixed: { cpu: "250m" } },
        scheduling: { nodeSelector: { box: "yes" }, tolerations: [{ key: "box", operator: "Exists" }] },
      },
      pick: () => "",
    },
    untilAdmitted(pod("a", { runtimeClassName: run.name("box") })),
    { path: at(run, "pods"), body: pod("a", { runtimeClassName: run.name("box") }), pick: specOf },
    { path: at(run, "pods"), body: pod("b", { runtimeClassName: run.name("box"), nodeSelector: { box: "no" } }) },
    { path: at(run, "pods"), body: pod("c", { runtimeClassName: run.name("box"), overhead: { cpu: "1" } }) },
    { path: at(run, "pods"), body: pod("d", { overhead: { cpu: "1" } }) },
    { path: at(run, "pods"), body: pod("e", { runtimeClassName: "none" }) },
    { method: "DELETE", path: `/apis/node.k8s.io/v1/runtimeclasses/${run.name("box")}`, pick: () => "" },
  ], { needsAccount: true }),
];

const limitRange = (run: CaseRun, ...limits: readonly Body[]) => ({
  path: at(run, "limitranges"),
  body: { metadata: { name: "bounds" }, spec: { limits } },
  pick: ({ spec }: Any) => spec,
});

const limits: readonly ConformanceCase[] = [
  requests("a LimitRange sets defaults of containers", (run) => [
    limitRange(run, { type: "Container", default: { cpu: "1", memory: "1Gi" }, defaultRequest: { cpu: "100m" } }),
    { path: at(run, "pods"), body: pod("a"), pick: specOf },
    { path: at(run, "pods"), body: podWithResources("b", { limits: { memory: "2Gi" } }), pick: specOf },
    { path: at(run, "pods"), body: podWithResources("c", { requests: { cpu: "5" } }) },
  ], { needsAccount: true }),
  requests("a LimitRange limits containers", (run) => [
    limitRange(run, { type: "Container", min: { cpu: "100m" } }),
    { path: at(run, "pods"), body: podWithResources("a", { requests: { cpu: "50m" } }) },
    { path: at(run, "pods"), body: podWithResources("b", { limits: { cpu: "50m" } }) },
    { path: at(run, "pods"), body: podWithResources("c", {}) },
    { path: at(run, "pods"), body: podWithResources("d", { requests: { cpu: "1" } }), pick: specOf },
  ], { needsAccount: true }),
  requests("a LimitRange limits Pods", (run) => [
    limitRange(run, { type: "Pod", max: { memory: "1Gi" } }),
    { path: at(run, "pods"), body: podWithResources("a", { limits: { memory: "2Gi" } }) },
    { path: at(run, "pods"), body: podWithResources("b", {}) },
    {
      path: at(run, "pods"),
      body: podWithResources("c", { limits: { memory: "600Mi" } }, {
        initContainers: [{ name: "i", image: "example.invalid/i:1", resources: { limits: { memory: "3Gi" } } }],
      }),
    },
  ], { needsAccount: true }),
  requests("a LimitRange limits the ratio of limits to requests", (run) => [
    limitRange(run, { type: "Container", maxLimitRequestRatio: { cpu: "2" } }),
    { path: at(run, "pods"), body: podWithResources("a", { requests: { cpu: "1" }, limits: { cpu: "3" } }) },
    { path: at(run, "pods"), body: podWithResources("b", { requests: { cpu: "1" } }) },
    {
      path: at(run, "pods"),
      body: podWithResources("c", { requests: { cpu: "1" }, limits: { cpu: "2" } }),
      pick: () => "",
    },
  ], { needsAccount: true }),
  requests("a LimitRange limits PersistentVolumeClaims", (run) => {
    const claim = (name: string, storage: string) => ({
      path: at(run, "persistentvolumeclaims"),
      body: { metadata: { name }, spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage } } } },
      pick: () => "",
    });
    return [
      limitRange(run, { type: "PersistentVolumeClaim", max: { storage: "5Gi" }, min: { storage: "1Gi" } }),
      claim("a", "6Gi"),
      claim("b", "1Mi"),
      claim("c", "2Gi"),
    ];
  }),
];

/**
 * Creates a ResourceQuota, and waits until a controller has computed its usage, and until admission knows it.
 *
 * @param excess What exceeds it.
 */
async function createQuota(run: CaseRun, hard: Body, [resource, body]: Excess, rest: Body = {}): Promise<void> {
  await run.prepare({ path: at(run, "resourcequotas"), body: { metadata: { name: "q" }, spec: { hard, ...rest } } });
  const isCounted = ({ status }: Any) => Object.keys(status?.used ?? {}).length === Object.keys(hard).length;
  await run.until(at(run, "resourcequotas", "q"), isCounted);
  const excess = { path: `${at(run, resource)}?dryRun=All`, body };
  await run.until(excess, ({ message = "" }) => message.includes("exceeded quota"));
}

/** An object that a quota rejects, and its resource. */
type Excess = readonly [resource: string, body: Body];

const readQuota = (run: CaseRun) => ({
  path: at(run, "resourcequotas", "q"),
  pick: ({ spec, status }: Any) => ({ spec, status }),
});

const quotas: readonly ConformanceCase[] = [
  scenario("a ResourceQuota is used up, and a deletion releases usage", async (run) => {
    const excess = podWithResources("a", { requests: { cpu: "2" } });
    await createQuota(run, { pods: "2", "requests.cpu": "1" }, ["pods", excess]);
    await run.call(readQuota(run));
    await run.call({
      path: at(run, "pods"),
      body: podWithResources("a", { requests: { cpu: "600m" } }),
      pick: () => "",
    });
    await run.call(readQuota(run));
    await run.call({ path: at(run, "pods"), body: podWithResources("b", { requests: { cpu: "500m" } }) });
    await run.call({ path: at(run, "pods"), body: podWithResources("c", {}) });
    await run.call({ path: `${at(run, "pods")}?dryRun=All`, body: podWithResources("d", { requests: { cpu: "1" } }) });
    await run.call({
      path: at(run, "pods"),
      body: podWithResources("e", { requests: { cpu: "400m" } }),
      pick: () => "",
    });
    await run.call({ path: at(run, "pods"), body: podWithResources("f", { requests: { cpu: "0" } }) });
    await run.call({ method: "DELETE", path: at(run, "pods", "a"), pick: () => "" });
    await run.until(at(run, "resourcequotas", "q"), ({ status }) => status.used.pods === "1");
    await run.call(readQuota(run));
  }, { needsAccount: true, needsControllers: true }),
  scenario("a ResourceQuota counts objects", async (run) => {
    const ports = [{ name: "a", port: 80 }, { name: "b", port: 81 }];
    const excess = service("b", { type: "NodePort", ports });
    await createQuota(run, {
      "count/leases.coordination.k8s.io": "1",
      services: "2",
      "services.nodeports": "1",
      secrets: "9",
    }, ["services", excess]);
    const leases = at(run, "coordination.k8s.io/v1/leases");
    await run.call({ path: leases, body: { metadata: { name: "a" }, spec: {} }, pick: () => "" });
    await run.call({ path: leases, body: { metadata: { name: "b" }, spec: {} } });
    await run.call({ path: at(run, "services"), body: service("a"), pick: () => "" });
    await run.call({ path: at(run, "services"), body: excess });
    await run.call({ path: at(run, "configmaps"), body: configMap("a"), pick: () => "" });
    await run.call(readQuota(run));
  }, { needsControllers: true }),
  scenario("the scopes of a ResourceQuota", async (run) => {
    await createQuota(run, { pods: "0" }, ["pods", podWithResources("b", {})], { scopes: ["BestEffort"] });
    await run.call({ path: at(run, "pods"), body: podWithResources("a", { requests: { cpu: "1" } }), pick: () => "" });
    await run.call({ path: at(run, "pods"), body: podWithResources("b", {}) });
    await run.call(readQuota(run));
  }, { needsAccount: true, needsControllers: true }),
];

const dryRunOf = (run: CaseRun, body: Body) => ({ path: `${at(run, "pods")}?dryRun=All`, body });

/** Waits until admission knows the object that lets a Pod pass. */
const untilAdmitted = (body: Body): Wait => (run) => run.until(dryRunOf(run, body), (_, code) => code === 201);

/** Waits until admission knows the labels of the namespace that forbid a Pod. */
const untilRejected = (body: Body): Wait => (run) => run.until(dryRunOf(run, body), (_, code) => code === 403);

const labelNamespace = (run: CaseRun, labels: Body) => ({
  method: "PATCH" as const,
  path: `/api/v1/namespaces/${run.namespace}`,
  type: "application/merge-patch+json",
  body: { metadata: { labels } },
  pick: () => "",
});

const podWith = (name: string, spec: Body = {}, container: Body = {}) =>
  pod(name, { containers: [{ name: "main", image: "example.invalid/main:1", ...container }], ...spec });

const levels: readonly ConformanceCase[] = [
  requests("the Pod Security level baseline", (run) => [
    labelNamespace(run, { "pod-security.kubernetes.io/enforce": "baseline" }),
    untilRejected(podWith("b", { hostNetwork: true })),
    ...[
      podWith("a"),
      podWith("b", { hostNetwork: true, hostPID: true }),
      podWith("c", {}, { securityContext: { privileged: true, procMount: "Unmasked" } }),
      podWith("d", { volumes: [{ name: "v", hostPath: { path: "/" } }] }),
      podWith("e", {}, { ports: [{ containerPort: 80, hostPort: 80 }, { containerPort: 81, hostPort: 81 }] }),
      podWith("f", {}, { securityContext: { capabilities: { add: ["NET_ADMIN", "CHOWN", "ALL"] } } }),
      podWith("g", {
        securityContext: { seccompProfile: { type: "Unconfined" }, appArmorProfile: { type: "Unconfined" } },
      }),
      podWith("h", {
        securityContext: {
          seLinuxOptions: { type: "spc_t", user: "u" },
          sysctls: [{ name: "kernel.msgmax", value: "1" }],
        },
      }),
      podWith("i", {}, { livenessProbe: { httpGet: { port: 80, host: "other" } } }),
      podWith("j", {
        initContainers: [{ name: "i", image: "example.invalid/i:1", securityContext: { privileged: true } }],
      }),
    ].map((body) => ({ path: at(run, "pods"), body, pick: () => "" })),
  ], { needsAccount: true }),
  requests("the Pod Security level restricted", (run) => [
    labelNamespace(run, {
      "pod-security.kubernetes.io/enforce": "restricted",
      "pod-security.kubernetes.io/enforce-version": "v1.36",
    }),
    untilRejected(podWith("a")),
    ...[
      podWith("a"),
      podWith("b", {
        volumes: [{ name: "v", hostPath: { path: "/" } }, { name: "n", nfs: { server: "s", path: "/" } }],
      }),
      podWith("c", {
        securityContext: { runAsNonRoot: true, runAsUser: 0, seccompProfile: { type: "RuntimeDefault" } },
      }),
      podWith("d", { securityContext: { runAsNonRoot: false } }, { securityContext: { runAsNonRoot: false } }),
      podWith("e", { securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } } }, {
        securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"], add: ["CHOWN"] } },
      }),
      podWith("f", { securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } } }, {
        securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } },
      }),
    ].map((body) => ({ path: at(run, "pods"), body, pick: () => "" })),
    { path: at(run, "apps/v1/deployments"), body: deployment("web"), pick: () => "" },
    { path: at(run, "batch/v1/jobs"), body: job("once", { suspend: true }), pick: () => "" },
  ], { needsAccount: true }),
  requests("the Pod Security mode warn, and unknown levels", (run) => [
    labelNamespace(run, {
      "pod-security.kubernetes.io/warn": "restricted",
      "pod-security.kubernetes.io/enforce": "privileged",
    }),
    (run) => run.until(dryRunOf(run, podWith("a")), (_, code, warnings) => code === 201 && warnings.length > 0),
    { path: at(run, "pods"), body: podWith("a"), pick: () => "" },
    { path: at(run, "apps/v1/deployments"), body: deployment("web"), pick: () => "" },
    labelNamespace(run, {
      "pod-security.kubernetes.io/enforce": "strict",
      "pod-security.kubernetes.io/warn-version": "2",
    }),
    {
      path: "/api/v1/namespaces?dryRun=All",
      body: { metadata: { name: run.name("ns"), labels: { "pod-security.kubernetes.io/audit": "x" } } },
    },
  ], { needsAccount: true }),
];

const claims: readonly ConformanceCase[] = [
  scenario("an unused PersistentVolumeClaim is deleted", async (run) => {
    const path = at(run, "persistentvolumeclaims");
    const spec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
    await run.call({ path, body: { metadata: { name: "a" }, spec } });
    await run.call({ method: "DELETE", path: `${path}/a`, pick: ({ metadata }) => metadata.finalizers });
    await run.until(`${path}/a`, (_, code) => code === 404);
    await run.call({ path: `${path}/a` });
  }, { needsControllers: true }),
];

export const pluginCases: readonly ConformanceCase[] = [
  ...accounts,
  ...priorities,
  ...limits,
  ...quotas,
  ...levels,
  ...claims,
];
