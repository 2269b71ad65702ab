/** Tables of Pods in many states, and of less common kinds. */
import { type ConformanceCase, scenario } from "../conformance_case.ts";
import { at, type Body, pod } from "./_objects.ts";

const accept = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";

const started = "2026-01-01T00:00:00Z";
const waiting = (reason: string) => ({ waiting: { reason } });
const ended = (exitCode: number, rest: Body = {}) => ({ terminated: { exitCode, ...rest } });
const running = { running: { startedAt: started } };

function container(name: string, state: Body, rest: Body = {}): Body {
  return { name, image: "x", imageID: "", ready: false, restartCount: 0, state, ...rest };
}

const done = ended(0, { reason: "Completed" });
const two = { containers: [{ name: "a", image: "x" }, { name: "b", image: "y" }] };
const inits = { initContainers: [{ name: "i", image: "x" }, { name: "j", image: "x" }] };
const sidecar = { initContainers: [{ name: "i", image: "x", restartPolicy: "Always" }] };
const ready = { ready: true, started: true };

/** Fields to add to the spec of a Pod, and its status. */
const pods: readonly (readonly [Body, Body])[] = [
  [{}, { conditions: [{ type: "PodScheduled", status: "False", reason: "SchedulingGated" }] }],
  [{}, { containerStatuses: [container("main", waiting("ContainerCreating"))] }],
  [{}, { phase: "Running", containerStatuses: [container("main", waiting("CrashLoopBackOff"), { restartCount: 4 })] }],
  [{}, { phase: "Running", containerStatuses: [container("main", running, ready)], podIPs: [{ ip: "192.0.2.1" }] }],
  [{}, { phase: "Succeeded", containerStatuses: [container("main", done)] }],
  [{}, { phase: "Failed", containerStatuses: [container("main", ended(1, { reason: "Error" }))] }],
  [{}, { phase: "Failed", containerStatuses: [container("main", ended(3))] }],
  [{}, { phase: "Failed", containerStatuses: [container("main", ended(137, { signal: 9 }))] }],
  [{}, { phase: "Failed", reason: "Evicted" }],
  [two, { phase: "Running", containerStatuses: [container("a", done), container("b", running, ready)] }],
  [two, {
    phase: "Running",
    conditions: [{ type: "Ready", status: "True" }],
    containerStatuses: [container("a", done), container("b", running, ready)],
  }],
  [two, {
    phase: "Running",
    containerStatuses: [container("a", done), container("b", ended(2, { reason: "Error" }))],
  }],
  [inits, { initContainerStatuses: [container("i", waiting("PodInitializing"))] }],
  [inits, { initContainerStatuses: [container("i", done), container("j", running)] }],
  [inits, { initContainerStatuses: [container("i", waiting("CrashLoopBackOff"), { restartCount: 2 })] }],
  [inits, { initContainerStatuses: [container("i", ended(1, { reason: "Error" }))] }],
  [inits, { initContainerStatuses: [container("i", ended(143, { signal: 15 }))] }],
  [sidecar, {
    phase: "Running",
    initContainerStatuses: [container("i", running, { ...ready, restartCount: 1 })],
    containerStatuses: [container("main", running, ready)],
  }],
  [sidecar, { initContainerStatuses: [container("i", running, { started: false })] }],
  [{ readinessGates: [{ conditionType: "example.com/a" }, { conditionType: "example.com/b" }] }, {
    nominatedNodeName: "other",
    conditions: [{ type: "example.com/a", status: "True" }],
  }],
];

const podStates = scenario("the table of pods in many states", async (run) => {
  const path = at(run, "pods");
  for (const [index, [spec, status]] of pods.entries()) {
    const name = `p${String(index).padStart(2, "0")}`;
    await run.prepare({ path, body: pod(name, { restartPolicy: "OnFailure", ...spec }) });
    const body = { status };
    await run.prepare({ method: "PATCH", path: `${path}/${name}/status`, type: "application/merge-patch+json", body });
  }
  await run.call({ path: `${path}?includeObject=None`, accept });
}, { needsAccount: true });

const metric = (type: string, source: string, rest: Body) => ({ type, [source]: rest });
const average = { type: "AverageValue", averageValue: "10" };

/** Namespaced objects, created as a dry run. */
const namespaced: readonly (readonly [string, Body])[] = [
  ["apps/v1/controllerrevisions", {
    metadata: {
      ownerReferences: [{ apiVersion: "apps/v1", kind: "StatefulSet", name: "db", uid: "x", controller: true }],
    },
    revision: 7,
    data: {},
  }],
  ["storage.k8s.io/v1/csistoragecapacities", { storageClassName: "fast", capacity: "1Gi" }],
  ["resource.k8s.io/v1/resourceclaims", {
    spec: { devices: { requests: [{ name: "a", exactly: { deviceClassName: "gpu.example" } }] } },
  }],
  ["resource.k8s.io/v1/resourceclaimtemplates", {
    spec: { spec: { devices: { requests: [{ name: "a", exactly: { deviceClassName: "gpu.example" } }] } } },
  }],
  ["autoscaling/v2/horizontalpodautoscalers", {
    spec: {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
      maxReplicas: 3,
      metrics: [
        metric("Resource", "resource", { name: "cpu", target: { type: "Utilization", averageUtilization: 80 } }),
        metric("Pods", "pods", { metric: { name: "rps" }, target: average }),
        metric("External", "external", { metric: { name: "q" }, target: average }),
      ],
    },
  }],
  ["autoscaling/v1/horizontalpodautoscalers", {
    spec: {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
      maxReplicas: 3,
      targetCPUUtilizationPercentage: 70,
    },
  }],
  ["networking.k8s.io/v1/ingresses", {
    spec: {
      defaultBackend: { service: { name: "a", port: { number: 80 } } },
      rules: ["a", "b", "c", "d", "e"].map((host) => ({ host: `${host}.example` })),
    },
  }],
  ["services", { spec: { type: "ClusterIP", clusterIP: "None", selector: { b: "2", a: "1" } } }],
  ["endpoints", {
    subsets: [{
      addresses: [{ ip: "192.0.2.1" }, { ip: "192.0.2.2" }],
      ports: [{ name: "a", port: 80 }, { name: "b", port: 81 }],
    }],
  }],
  ["discovery.k8s.io/v1/endpointslices", {
    addressType: "IPv4",
    endpoints: [{ addresses: ["192.0.2.1"] }, { addresses: ["192.0.2.2"] }],
    ports: ["a", "b", "c", "d"].map((name, index) => ({ name, port: 80 + index })),
  }],
  ["events.k8s.io/v1/events", {
    eventTime: "2026-01-01T00:00:00.000000Z",
    reportingController: "example.com/c",
    reportingInstance: "c-1",
    action: "Test",
    reason: "Tested",
    note: " it was ",
    type: "Normal",
    regarding: { kind: "Pod", name: "p", namespace: "NS" },
    series: { count: 4, lastObservedTime: "2026-01-01T00:00:00.000000Z" },
  }],
];

const namespacedCases = namespaced.map(([resource, body], index) =>
  scenario(`the table of ${resource} in a dry run, ${index}`, async (run) => {
    const text = JSON.stringify({ ...body, metadata: { name: "a", ...Object(body["metadata"]) } });
    const path = `${at(run, resource)}?includeObject=None&dryRun=All`;
    await run.call({ path, body: text.replaceAll('"NS"', JSON.stringify(run.namespace)), accept });
  })
);

const rule = { apiGroups: ["apps"], apiVersions: ["v1"], operations: ["CREATE"], resources: ["deployments"] };
const hook = {
  name: "a.example.com",
  clientConfig: { url: "https://a.example" },
  admissionReviewVersions: ["v1"],
  sideEffects: "None",
  rules: [rule],
};
const admission = "/apis/admissionregistration.k8s.io/v1";
const paramKind = { apiVersion: "v1", kind: "ConfigMap" };

/** Cluster-scoped objects, created as a dry run. */
const clusterScoped: readonly (readonly [string, Body])[] = [
  ["/api/v1/nodes", {
    metadata: { labels: { "node-role.kubernetes.io/worker": "", "kubernetes.io/role": "infra" } },
    status: {
      conditions: [{ type: "Ready", status: "True" }],
      addresses: [{ type: "InternalIP", address: "192.0.2.1" }, { type: "ExternalIP", address: "198.51.100.1" }],
      nodeInfo: {
        kubeletVersion: "v1.36.3",
        osImage: "Linux",
        kernelVersion: "6.1",
        architecture: "amd64",
        containerRuntimeVersion: "containerd://2.0.0",
        machineID: "",
        systemUUID: "",
        bootID: "",
        kubeProxyVersion: "",
        operatingSystem: "linux",
      },
    },
  }],
  ["/api/v1/nodes", { status: { conditions: [{ type: "Ready", status: "Unknown" }] } }],
  ["/apis/storage.k8s.io/v1/csidrivers", { spec: { volumeLifecycleModes: ["Ephemeral"], attachRequired: false } }],
  ["/apis/storage.k8s.io/v1/csinodes", { spec: { drivers: [{ name: "d.example", nodeID: "n" }] } }],
  ["/apis/storage.k8s.io/v1/volumeattachments", {
    spec: { attacher: "d.example", nodeName: "n", source: { persistentVolumeName: "v" } },
  }],
  ["/apis/storage.k8s.io/v1/volumeattributesclasses", { driverName: "d.example", parameters: { a: "b" } }],
  ["/apis/storage.k8s.io/v1/storageclasses", {
    metadata: { annotations: { "storageclass.kubernetes.io/is-default-class": "true" } },
    provisioner: "x.example",
  }],
  ["/apis/node.k8s.io/v1/runtimeclasses", { handler: "runc" }],
  ["/apis/networking.k8s.io/v1/ingressclasses", {
    metadata: { annotations: { "ingressclass.kubernetes.io/is-default-class": "true" } },
    spec: { controller: "a.example/b", parameters: { apiGroup: "k.example", kind: "Settings", name: "s" } },
  }],
  ["/apis/networking.k8s.io/v1/ipaddresses", {
    metadata: { name: "192.0.2.77" },
    spec: { parentRef: { resource: "services", namespace: "n", name: "s" } },
  }],
  ["/apis/networking.k8s.io/v1/servicecidrs", { spec: { cidrs: ["10.111.0.0/24"] } }],
  [`${admission}/validatingwebhookconfigurations`, { webhooks: [hook] }],
  [`${admission}/mutatingwebhookconfigurations`, { webhooks: [hook, { ...hook, name: "b.example.com" }] }],
  [`${admission}/validatingadmissionpolicies`, {
    spec: { paramKind, matchConstraints: { resourceRules: [rule] }, validations: [{ expression: "true" }] },
  }],
  [`${admission}/validatingadmissionpolicybindings`, {
    spec: { policyName: "p", validationActions: ["Deny"] },
  }],
  [`${admission}/validatingadmissionpolicybindings`, {
    spec: {
      policyName: "p",
      validationActions: ["Deny"],
      paramRef: { parameterNotFoundAction: "Deny", selector: { matchLabels: { b: "2", a: "1" } } },
    },
  }],
  ["/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas", {
    spec: { priorityLevelConfiguration: { name: "exempt" }, distinguisherMethod: { type: "ByUser" } },
  }],
  ["/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations", {
    spec: { type: "Limited", limited: { limitResponse: { type: "Reject" } } },
  }],
  ["/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations", {
    spec: { type: "Limited", limited: { limitResponse: { type: "Queue", queuing: { queues: 8 } } } },
  }],
  ["/apis/apiregistration.k8s.io/v1/apiservices", {
    metadata: { name: "v1.x.example" },
    spec: {
      group: "x.example",
      version: "v1",
      groupPriorityMinimum: 1,
      versionPriority: 1,
      insecureSkipTLSVerify: true,
      service: { namespace: "n", name: "s" },
    },
  }],
  ["/apis/resource.k8s.io/v1/deviceclasses", { spec: {} }],
  ["/apis/resource.k8s.io/v1/resourceslices", {
    spec: { driver: "d.example", nodeName: "n", pool: { name: "p", generation: 1, resourceSliceCount: 1 } },
  }],
];

const clusterScopedCases = clusterScoped.map(([path, body], index) =>
  scenario(`the table of ${path} in a dry run, ${index}`, async (run) => {
    const metadata = { name: run.name("a"), ...Object(body["metadata"]) };
    await run.call({ path: `${path}?includeObject=None&dryRun=All`, body: { ...body, metadata }, accept });
  })
);

const scale = scenario("the table of a scale", async (run) => {
  const path = at(run, "apps/v1/deployments");
  const labels = { app: "web" };
  const template = { metadata: { labels }, spec: { containers: [{ name: "a", image: "x" }] } };
  await run.prepare({
    path,
    body: { metadata: { name: "web" }, spec: { replicas: 0, selector: { matchLabels: labels }, template } },
  });
  await run.call({ path: `${path}/web/scale?includeObject=None`, accept });
  await run.call({
    path: `${path}/web/scale`,
    accept: "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
  });
});

export const tableStateCases: readonly ConformanceCase[] = [
  podStates,
  ...namespacedCases,
  ...clusterScopedCases,
  scale,
];
