/** Tables: what `kubectl get` shows of each kind. */
import { type ConformanceCase, scenario } from "../conformance_case.ts";
import { at, type Body, configMap, deployment, ingress, job, lease, pod, podSpec, role, secret } from "./_objects.ts";
import { service, template, workload } from "./_objects.ts";
import { tableStateCases } from "./table_states.ts";

const accept = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";

/** Objects of one kind whose tables are the same on both servers directly after their creation. */
interface Row {
  readonly resource: string;
  readonly bodies: readonly Body[];
  /** Creates as a dry run, because controllers write to objects of this kind. @default false */
  readonly isDryRun?: boolean;
}

const rbac = "rbac.authorization.k8s.io";

const claim = { accessModes: ["ReadWriteOnce", "ReadOnlyMany"], resources: { requests: { storage: "1Gi" } } };

const rows: readonly Row[] = [
  { resource: "configmaps", bodies: [configMap("a"), configMap("b", {})] },
  {
    resource: "secrets",
    bodies: [secret("a"), secret("b", { type: "kubernetes.io/basic-auth", stringData: { username: "x" } })],
  },
  { resource: "serviceaccounts", bodies: [{ metadata: { name: "robot" } }] },
  {
    resource: "services",
    bodies: [
      service("headless", { clusterIP: "None" }),
      service("named", {
        ports: [{ name: "a", port: 1 }, { name: "b", port: 2, protocol: "UDP" }],
        externalIPs: ["192.0.2.9"],
      }),
      { metadata: { name: "elsewhere" }, spec: { type: "ExternalName", externalName: "a.example" } },
      service("waiting", { type: "LoadBalancer", allocateLoadBalancerNodePorts: false }),
    ],
  },
  {
    resource: "endpoints",
    bodies: [{
      metadata: { name: "a" },
      subsets: [{
        addresses: [{ ip: "192.0.2.1" }, { ip: "192.0.2.2" }],
        ports: [{ port: 80, name: "a" }, { port: 81, name: "b" }],
      }],
    }],
  },
  { resource: "limitranges", bodies: [{ metadata: { name: "a" }, spec: { limits: [] } }] },
  { resource: "podtemplates", bodies: [{ metadata: { name: "a" }, template: template("a") }] },
  {
    resource: "pods",
    bodies: [
      pod("a", {
        containers: [{ name: "a", image: "x" }, { name: "b", image: "y" }],
        readinessGates: [{ conditionType: "example.com/ready" }],
      }),
      pod("b", { initContainers: [{ name: "i", image: "z" }] }),
    ],
  },
  {
    resource: "events",
    bodies: [{
      metadata: { name: "a" },
      involvedObject: { kind: "Pod", name: "x", namespace: "NS", fieldPath: "spec.containers{a}" },
      reason: "R",
      message: " m ",
      type: "Normal",
      count: 3,
      source: { component: "c", host: "h" },
    }],
  },
  { resource: "coordination.k8s.io/v1/leases", bodies: [lease("a"), lease("b", {})] },
  {
    resource: "networking.k8s.io/v1/ingresses",
    bodies: [
      ingress("a", { tls: [{ hosts: ["example.com"] }], ingressClassName: "x" }),
      ingress("b", { rules: [{}], defaultBackend: { service: { name: "a", port: { name: "http" } } } }),
    ],
  },
  {
    resource: "networking.k8s.io/v1/networkpolicies",
    bodies: [{ metadata: { name: "a" }, spec: { podSelector: { matchLabels: { a: "b" } } } }],
  },
  { resource: `${rbac}/v1/roles`, bodies: [role("a")] },
  {
    resource: `${rbac}/v1/rolebindings`,
    bodies: [{
      metadata: { name: "a" },
      roleRef: { apiGroup: rbac, kind: "Role", name: "a" },
      subjects: [{ kind: "User", name: "u" }, { kind: "Group", name: "g" }, {
        kind: "ServiceAccount",
        name: "s",
        namespace: "n",
      }],
    }],
  },
  {
    resource: "autoscaling/v2/horizontalpodautoscalers",
    bodies: [{
      metadata: { name: "a" },
      spec: { scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" }, maxReplicas: 3 },
    }],
  },
  {
    resource: "discovery.k8s.io/v1/endpointslices",
    bodies: [{
      metadata: { name: "a" },
      addressType: "IPv4",
      endpoints: [{ addresses: ["192.0.2.1"] }],
      ports: [{ port: 80 }],
    }],
  },
  { resource: "apps/v1/deployments", bodies: [deployment("web")], isDryRun: true },
  { resource: "apps/v1/replicasets", bodies: [workload("ReplicaSet", "web")], isDryRun: true },
  { resource: "apps/v1/statefulsets", bodies: [workload("StatefulSet", "db", { serviceName: "db" })], isDryRun: true },
  {
    resource: "apps/v1/daemonsets",
    bodies: [
      workload("DaemonSet", "agent", {
        selector: { matchExpressions: [{ key: "app", operator: "In", values: ["agent"] }] },
      }),
    ],
    isDryRun: true,
  },
  { resource: "batch/v1/jobs", bodies: [job("a", { completions: 3 })], isDryRun: true },
  {
    resource: "batch/v1/cronjobs",
    bodies: [{
      metadata: { name: "a" },
      spec: {
        schedule: "@daily",
        suspend: true,
        jobTemplate: { spec: { template: { spec: podSpec({ restartPolicy: "Never" }) } } },
      },
    }],
    isDryRun: true,
  },
  {
    resource: "policy/v1/poddisruptionbudgets",
    bodies: [{ metadata: { name: "a" }, spec: { maxUnavailable: "50%" } }],
    isDryRun: true,
  },
  { resource: "persistentvolumeclaims", bodies: [{ metadata: { name: "a" }, spec: claim }], isDryRun: true },
  {
    resource: "resourcequotas",
    bodies: [{ metadata: { name: "a" }, spec: { hard: { pods: "1", "limits.cpu": "2", "requests.cpu": "1" } } }],
    isDryRun: true,
  },
  {
    resource: "replicationcontrollers",
    bodies: [{ metadata: { name: "a" }, spec: { template: template("a") } }],
    isDryRun: true,
  },
];

const namespacedCases = rows.map(({ resource, bodies, isDryRun = false }) =>
  scenario(`the table of ${resource}`, async (run) => {
    const path = at(run, resource);
    for (const made of bodies) {
      const body = JSON.stringify(made).replaceAll('"NS"', JSON.stringify(run.namespace));
      await run.call({ path: `${path}?includeObject=None${isDryRun ? "&dryRun=All" : ""}`, body, accept });
    }
    if (isDryRun) return;
    await run.call({
      path: `${path}?includeObject=None&fieldSelector=metadata.name!%3Ddefault,metadata.name!%3Dkube-root-ca.crt`,
      accept,
    });
  }, { needsAccount: resource === "pods" })
);

/** Cluster-scoped objects. */
const clusterScoped: readonly (readonly [string, Body])[] = [
  ["/api/v1/namespaces", {}],
  ["/api/v1/nodes", {
    metadata: { labels: { "node-role.kubernetes.io/control-plane": "" } },
    spec: { unschedulable: true },
  }],
  ["/api/v1/persistentvolumes", {
    spec: { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], hostPath: { path: "/x" } },
  }],
  ["/apis/storage.k8s.io/v1/storageclasses", { provisioner: "x.example", allowVolumeExpansion: true }],
  ["/apis/scheduling.k8s.io/v1/priorityclasses", { value: 5 }],
  ["/apis/networking.k8s.io/v1/ingressclasses", { spec: { controller: "a.example/b" } }],
  [`/apis/${rbac}/v1/clusterroles`, { rules: [] }],
  [`/apis/${rbac}/v1/clusterrolebindings`, { roleRef: { apiGroup: rbac, kind: "ClusterRole", name: "view" } }],
  ["/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
    spec: {
      group: "x.example",
      scope: "Namespaced",
      names: { plural: "xes", kind: "Xe" },
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
    },
  }],
];

const clusterScopedCases = clusterScoped.map(([path, body]) =>
  scenario(`the table of ${path}`, async (run) => {
    const name = path.endsWith("definitions") ? "xes.x.example" : run.name("a");
    const metadata = { ...Object(body["metadata"]), name };
    await run.call({ path: `${path}?includeObject=None&dryRun=All`, body: { ...body, metadata }, accept });
  })
);

export const tableCases: readonly ConformanceCase[] = [...namespacedCases, ...clusterScopedCases, ...tableStateCases];
