/**
 * Built-in kinds: defaults, fields that the server sets, and the responses to each verb, for a small object of each kind.
 * Workloads are created as a dry run, so that no controller writes to them between two requests.
 */
import { type ConformanceCase, requests, scenario } from "../conformance_case.ts";
import type { CaseRun } from "../case_run.ts";
import { at, type Body, configMap, deployment, ingress, job, lease, pod, role, secret, service } from "./_objects.ts";
import { podSpec, template, workload } from "./_objects.ts";
import { kindLifecycleCases } from "./_kind_lifecycle.ts";

/** A namespaced kind whose objects no controller writes. */
interface Sample {
  readonly resource: string;
  readonly body: (run: CaseRun) => Body;
  /** A merge patch. @default adds a label */
  readonly change?: Body;
}

const rbac = "rbac.authorization.k8s.io";

const samples: readonly Sample[] = [
  { resource: "configmaps", body: () => configMap("a", { key: "value", other: "" }) },
  { resource: "secrets", body: () => secret("a", { stringData: { b: "text" }, data: { a: "AAEC" } }) },
  { resource: "serviceaccounts", body: () => ({ metadata: { name: "robot" } }) },
  { resource: "services", body: () => service("web") },
  {
    resource: "endpoints",
    body: () => ({
      metadata: { name: "by-hand" },
      subsets: [{ addresses: [{ ip: "192.0.2.1" }], ports: [{ port: 80 }] }],
    }),
  },
  {
    resource: "limitranges",
    body: () => ({ metadata: { name: "a" }, spec: { limits: [{ type: "Container", default: { cpu: "100m" } }] } }),
  },
  { resource: "podtemplates", body: () => ({ metadata: { name: "a" }, template: template("a") }) },
  {
    resource: "events",
    body: (run) => ({
      metadata: { name: "a" },
      involvedObject: { kind: "Pod", namespace: run.namespace, name: "x" },
      reason: "Tested",
      message: "it was tested",
      type: "Normal",
    }),
  },
  { resource: "coordination.k8s.io/v1/leases", body: () => lease("a") },
  { resource: "networking.k8s.io/v1/ingresses", body: () => ingress("a") },
  {
    resource: "networking.k8s.io/v1/networkpolicies",
    body: () => ({
      metadata: { name: "a" },
      spec: { podSelector: {}, ingress: [{ from: [{ podSelector: {} }], ports: [{ port: 80 }] }] },
    }),
  },
  { resource: `${rbac}/v1/roles`, body: () => role("a") },
  {
    resource: `${rbac}/v1/rolebindings`,
    body: () => ({
      metadata: { name: "a" },
      roleRef: { apiGroup: rbac, kind: "Role", name: "a" },
      subjects: [{ kind: "ServiceAccount", name: "robot" }, { kind: "User", name: "jane" }],
    }),
  },
  {
    resource: "autoscaling/v2/horizontalpodautoscalers",
    body: () => ({
      metadata: { name: "a" },
      spec: { scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" }, maxReplicas: 3 },
    }),
  },
  {
    resource: "autoscaling/v1/horizontalpodautoscalers",
    body: () => ({
      metadata: { name: "a" },
      spec: {
        scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
        maxReplicas: 3,
        targetCPUUtilizationPercentage: 50,
      },
    }),
  },
  {
    resource: "discovery.k8s.io/v1/endpointslices",
    body: () => ({
      metadata: { name: "a" },
      addressType: "IPv4",
      endpoints: [{ addresses: ["192.0.2.1"] }],
      ports: [{ port: 80 }],
    }),
  },
];

const verbs = samples.map(({ resource, body, change = { metadata: { labels: { changed: "yes" } } } }) =>
  scenario(`${resource}: create, get, list, update, patch, delete`, async (run) => {
    const created = await run.call({ path: at(run, resource), body: body(run) });
    const one = at(run, resource, created.metadata?.name);
    await run.call({ path: one });
    await run.call({ path: `${at(run, resource)}?fieldSelector=metadata.name%3D${created.metadata?.name}` });
    const { metadata, ...rest } = created;
    const labels = { updated: "yes" };
    await run.call({ method: "PUT", path: one, body: { ...rest, metadata: { ...metadata, labels } } });
    await run.call({ method: "PATCH", path: one, type: "application/merge-patch+json", body: change });
    await run.call({ method: "DELETE", path: one });
    await run.call({ path: one });
  })
);

const cronJob = (spec: Body = {}): Body => ({
  metadata: { name: "a" },
  spec: {
    schedule: "*/5 * * * *",
    jobTemplate: { spec: { template: { spec: podSpec({ restartPolicy: "OnFailure" }) } } },
    ...spec,
  },
});

const statefulSet = (spec: Body = {}) => workload("StatefulSet", "db", { serviceName: "db", ...spec });

/** Kinds whose objects controllers write immediately: a description, the resource, and the object. */
const controlled: readonly (readonly [string, string, Body])[] = [
  ["a Deployment", "apps/v1/deployments", deployment("web", { replicas: undefined })],
  [
    "a Deployment with the strategy Recreate",
    "apps/v1/deployments",
    deployment("web", { strategy: { type: "Recreate" } }),
  ],
  ["a ReplicaSet", "apps/v1/replicasets", workload("ReplicaSet", "web")],
  ["a StatefulSet", "apps/v1/statefulsets", statefulSet()],
  [
    "a StatefulSet with a claim",
    "apps/v1/statefulsets",
    statefulSet({
      volumeClaimTemplates: [{
        metadata: { name: "data" },
        spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
      }],
    }),
  ],
  ["a DaemonSet", "apps/v1/daemonsets", workload("DaemonSet", "agent")],
  ["a Job", "batch/v1/jobs", job("a")],
  ["an indexed Job", "batch/v1/jobs", job("a", { completionMode: "Indexed", completions: 3, parallelism: 2 })],
  ["a CronJob", "batch/v1/cronjobs", cronJob()],
  ["a ReplicationController", "replicationcontrollers", { metadata: { name: "a" }, spec: { template: template("a") } }],
  [
    "a PodDisruptionBudget",
    "policy/v1/poddisruptionbudgets",
    { metadata: { name: "a" }, spec: { minAvailable: 1, selector: { matchLabels: { app: "web" } } } },
  ],
  [
    "a PersistentVolumeClaim",
    "persistentvolumeclaims",
    { metadata: { name: "a" }, spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } } },
  ],
  ["a ResourceQuota", "resourcequotas", {
    metadata: { name: "a" },
    spec: { hard: { pods: "10", "requests.cpu": "1" } },
  }],
  ["a headless Service", "services", service("web", { clusterIP: "None" })],
  ["a Service of type NodePort", "services", service("web", { type: "NodePort" })],
  ["a Service of type LoadBalancer", "services", service("web", { type: "LoadBalancer" })],
  ["a Service of type ExternalName", "services", {
    metadata: { name: "web" },
    spec: { type: "ExternalName", externalName: "a.example" },
  }],
  [
    "a Service with named ports",
    "services",
    service("web", {
      ports: [{ name: "http", port: 80, targetPort: "web" }, { name: "dns", port: 53, protocol: "UDP" }],
    }),
  ],
  [
    "a Pod with probes",
    "pods",
    pod("web", {
      containers: [{
        name: "main",
        image: "example.invalid/main",
        ports: [{ containerPort: 80 }],
        readinessProbe: { httpGet: { path: "/", port: 80 } },
        livenessProbe: { tcpSocket: { port: 80 } },
        startupProbe: { exec: { command: ["true"] } },
        lifecycle: { preStop: { httpGet: { port: "web" } } },
        env: [{ name: "A", value: "1" }, { name: "NODE", valueFrom: { fieldRef: { fieldPath: "spec.nodeName" } } }],
        resources: { limits: { cpu: "1", memory: "1Gi" } },
      }],
    }),
  ],
  [
    "a Pod with volumes",
    "pods",
    pod("web", {
      volumes: [
        { name: "a", configMap: { name: "a" } },
        { name: "b", secret: { secretName: "b" } },
        { name: "c", emptyDir: {} },
        { name: "d", hostPath: { path: "/tmp" } },
        { name: "e", downwardAPI: { items: [{ path: "labels", fieldRef: { fieldPath: "metadata.labels" } }] } },
        { name: "f", projected: { sources: [{ serviceAccountToken: { path: "token" } }] } },
      ],
    }),
  ],
  [
    "a Pod with init containers and a grace period",
    "pods",
    pod("web", {
      initContainers: [{ name: "first", image: "example.invalid/first:v1", restartPolicy: "Always" }],
      terminationGracePeriodSeconds: 5,
      restartPolicy: "OnFailure",
      nodeSelector: { disk: "ssd" },
      tolerations: [{ key: "a", operator: "Exists" }],
      affinity: {
        podAntiAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: "kubernetes.io/hostname" }],
        },
      },
      securityContext: { runAsUser: 1000 },
    }),
  ],
];

const defaults = controlled.map(([what, resource, body]) =>
  requests(
    `defaults of ${what}`,
    (run) => [{ path: `${at(run, resource)}?dryRun=All`, body }],
    { needsAccount: resource === "pods" },
  )
);

/** Cluster-scoped kinds. */
const clusterScoped: readonly (readonly [string, Body])[] = [
  ["/apis/rbac.authorization.k8s.io/v1/clusterroles", { rules: [{ nonResourceURLs: ["/x"], verbs: ["get"] }] }],
  ["/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", {
    roleRef: { apiGroup: rbac, kind: "ClusterRole", name: "view" },
  }],
  ["/apis/scheduling.k8s.io/v1/priorityclasses", { value: 10 }],
  ["/apis/storage.k8s.io/v1/storageclasses", { provisioner: "example.com/none" }],
  ["/apis/networking.k8s.io/v1/ingressclasses", { spec: { controller: "example.com/none" } }],
  ["/apis/node.k8s.io/v1/runtimeclasses", { handler: "none" }],
  ["/api/v1/nodes", {}],
  [
    "/api/v1/persistentvolumes",
    { spec: { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], hostPath: { path: "/tmp" } } },
  ],
  [
    "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
    {
      webhooks: [{
        name: "a.example.com",
        clientConfig: { url: "https://127.0.0.1:1/" },
        rules: [{ apiGroups: ["none.example.com"], apiVersions: ["v1"], resources: ["none"], operations: ["CREATE"] }],
        admissionReviewVersions: ["v1"],
        sideEffects: "None",
      }],
    },
  ],
];

const clusterScopedCases = clusterScoped.map(([path, body]) =>
  requests(`${path}: create, get, patch, delete`, (run) => {
    const one = `${path}/${run.name("a")}`;
    return [
      { path: `${path}?dryRun=All`, body: { metadata: { name: run.name("a") }, ...body } },
      { path: one },
    ];
  })
);

const namespaces: readonly ConformanceCase[] = [
  requests("a Namespace is created, labelled and deleted", (run) => {
    const one = `/api/v1/namespaces/${run.name("ns")}`;
    return [
      { path: "/api/v1/namespaces", body: { metadata: { name: run.name("ns"), labels: { team: "a" } } } },
      { path: one },
      { method: "PATCH", path: one, type: "application/merge-patch+json", body: { metadata: { labels: { b: "c" } } } },
      { path: "/api/v1/namespaces", body: { metadata: { name: run.name("ns") } } },
      { path: "/api/v1/namespaces", body: { metadata: { name: "Bad_Name" } } },
    ];
  }),
  requests("a create in a namespace that does not exist", () => [
    { path: "/api/v1/namespaces/never-made/configmaps", body: configMap("a") },
    { path: "/api/v1/namespaces/never-made/configmaps" },
    { path: "/api/v1/namespaces/never-made" },
  ]),
];

export const kindCases: readonly ConformanceCase[] = [
  ...verbs,
  ...defaults,
  ...clusterScopedCases,
  ...namespaces,
  ...kindLifecycleCases,
];
