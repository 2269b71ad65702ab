/**
 * An object of each built-in kind, for the comparison of protobuf with a real server. They set fields of each form: pointers,
 * zero values, quantities, times, IntOrString, bytes, JSON in fields, unions, and maps in an order that is not sorted.
 */
import {
  type Body,
  deployment,
  ingress,
  job,
  podSpec,
  service,
  signingRequest,
  template,
  workload,
} from "./cases/_objects.ts";

/** An object, and the path to create it at. */
export interface ProtobufSample {
  readonly path: string;
  readonly body: Body & { readonly metadata: { readonly name: string } };
  /** Written to its subresource `status`. */
  readonly status?: Body;
}

const rbac = "rbac.authorization.k8s.io";
const admission = "admissionregistration.k8s.io";

const richPod = podSpec({
  automountServiceAccountToken: false,
  tolerations: [{ key: "a", operator: "Exists", effect: "NoExecute", tolerationSeconds: -1 }],
  securityContext: { runAsUser: 0, fsGroup: 1000 },
  volumes: [
    { name: "empty", emptyDir: { sizeLimit: "1.5Gi" } },
    { name: "config", configMap: { name: "a", defaultMode: 0, items: [{ key: "a", path: "b", mode: 256 }] } },
    { name: "all", projected: { sources: [{ serviceAccountToken: { path: "t" } }, { secret: { name: "s" } }] } },
    { name: "host", hostPath: { path: "/", type: "" } },
  ],
  containers: [{
    name: "main",
    image: "example.invalid/main:1",
    ports: [{ containerPort: 80, name: "http" }],
    env: [{ name: "EMPTY", value: "" }, { name: "NODE", valueFrom: { fieldRef: { fieldPath: "spec.nodeName" } } }],
    resources: { requests: { memory: "128Mi", cpu: "0.25" }, limits: { memory: "1G", cpu: "1500m" } },
    livenessProbe: { httpGet: { path: "/", port: "http" }, initialDelaySeconds: 0 },
    readinessProbe: { tcpSocket: { port: 80 } },
    lifecycle: { preStop: { sleep: { seconds: 3 } } },
    volumeMounts: [{ name: "empty", mountPath: "/x", readOnly: true }],
  }],
});

const podTemplate = { metadata: { labels: { z: "1", app: "sample", a: "" } }, spec: richPod };

const policyMatch = {
  resourceRules: [{ apiGroups: ["never.example.com"], apiVersions: ["v1"], operations: ["CREATE"], resources: ["x"] }],
};

const webhook = {
  name: "never.example.com",
  clientConfig: { url: "https://example.invalid/", caBundle: "QQ==" },
  rules: policyMatch.resourceRules,
  sideEffects: "None",
  admissionReviewVersions: ["v1"],
};

/** @param suffix makes the names of cluster-scoped objects unique */
function clusterScoped(suffix: string): readonly (readonly [path: string, body: Body, status?: Body])[] {
  const storage = "/apis/storage.k8s.io/v1";
  const request = {
    request: signingRequest,
    signerName: "example.com/a",
    usages: ["client auth"],
    expirationSeconds: 600,
  };
  const unique = `group-${suffix}.example.com`;
  return [
    ["/api/v1/nodes", { spec: { unschedulable: true, taints: [{ key: "a", value: "", effect: "NoSchedule" }] } }, {
      capacity: { pods: "110", cpu: "4", memory: "16Gi" },
      addresses: [{ type: "InternalIP", address: "192.0.2.1" }],
    }],
    ["/api/v1/persistentvolumes", {
      spec: {
        capacity: { storage: "1Gi" },
        accessModes: ["ReadWriteOnce"],
        csi: { driver: "example.com", volumeHandle: "v", volumeAttributes: { b: "2", a: "1" } },
      },
    }],
    [`/apis/${rbac}/v1/clusterroles`, { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: "b" } }] } }],
    [`/apis/${rbac}/v1/clusterrolebindings`, { roleRef: { apiGroup: rbac, kind: "ClusterRole", name: "view" } }],
    ["/apis/certificates.k8s.io/v1/certificatesigningrequests", { spec: request }, {
      conditions: [{
        type: "Failed",
        status: "True",
        reason: "No",
        message: "",
        lastUpdateTime: "2024-02-29T23:59:59Z",
      }],
    }],
    ["/apis/networking.k8s.io/v1/ingressclasses", {
      spec: { controller: "example.com/a", parameters: { apiGroup: "example.com", kind: "P", name: "p" } },
    }],
    [`${storage}/csidrivers`, {
      spec: { attachRequired: false, tokenRequests: [{ audience: "" }], seLinuxMount: true },
    }],
    [`${storage}/csinodes`, {
      spec: { drivers: [{ name: "d", nodeID: "n", topologyKeys: ["a"], allocatable: { count: 0 } }] },
    }],
    [`${storage}/storageclasses`, {
      provisioner: "example.com/a",
      parameters: { b: "", a: "1" },
      allowedTopologies: [{ matchLabelExpressions: [{ key: "zone", values: ["a", "b"] }] }],
    }],
    [`${storage}/volumeattachments`, {
      spec: { attacher: "example.com", nodeName: "n", source: { persistentVolumeName: "v" } },
    }],
    [`${storage}/volumeattributesclasses`, { driverName: "example.com", parameters: { iops: "100" } }],
    [`/apis/${admission}/v1/mutatingadmissionpolicies`, {
      spec: {
        matchConstraints: policyMatch,
        reinvocationPolicy: "Never",
        mutations: [{
          patchType: "JSONPatch",
          jsonPatch: { expression: '[JSONPatch{op: "test", path: "/a", value: "b"}]' },
        }],
      },
    }],
    [`/apis/${admission}/v1/mutatingadmissionpolicybindings`, { spec: { policyName: "a" } }],
    [`/apis/${admission}/v1/mutatingwebhookconfigurations`, { webhooks: [webhook] }],
    [`/apis/${admission}/v1/validatingadmissionpolicies`, {
      spec: {
        matchConstraints: policyMatch,
        validations: [{ expression: "true", messageExpression: "'no'" }],
        variables: [{ name: "a", expression: "1" }],
      },
    }],
    [`/apis/${admission}/v1/validatingadmissionpolicybindings`, {
      spec: {
        policyName: "a",
        validationActions: ["Audit", "Warn"],
        paramRef: { name: "p", parameterNotFoundAction: "Allow" },
      },
    }],
    [`/apis/${admission}/v1/validatingwebhookconfigurations`, { webhooks: [webhook] }],
    ["/apis/scheduling.k8s.io/v1/priorityclasses", { value: -5, preemptionPolicy: "Never" }],
    ["/apis/node.k8s.io/v1/runtimeclasses", { handler: "h", overhead: { podFixed: { memory: "1e3" } } }],
    ["/apis/resource.k8s.io/v1/deviceclasses", {
      spec: {
        selectors: [{ cel: { expression: "true" } }],
        config: [{ opaque: { driver: "example.com", parameters: { z: 1, a: [null, 1.5, { "b": "<&>" }] } } }],
      },
    }],
    ["/apis/resource.k8s.io/v1/resourceslices", {
      spec: {
        driver: "example.com",
        nodeName: "n",
        pool: { name: "p", generation: 1, resourceSliceCount: 1 },
        devices: [{
          name: "d",
          attributes: { n: { int: -1 }, b: { bool: false } },
          capacity: { memory: { value: "1Gi" } },
        }],
      },
    }],
    ["/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas", {
      spec: { priorityLevelConfiguration: { name: "global-default" }, distinguisherMethod: { type: "ByUser" } },
    }],
    ["/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations", {
      spec: { type: "Limited", limited: { nominalConcurrencyShares: 0, limitResponse: { type: "Reject" } } },
    }],
    ["/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
      metadata: { name: `things.${unique}` },
      spec: { group: unique, names: { plural: "things", kind: "Thing" }, scope: "Namespaced", versions: [version] },
    }],
    ["/apis/apiregistration.k8s.io/v1/apiservices", {
      metadata: { name: `v1.other-${unique}` },
      spec: { group: `other-${unique}`, version: "v1", groupPriorityMinimum: 1, versionPriority: 1 },
    }],
  ];
}

/** A schema with each union, defaults and numbers. */
const version = {
  name: "v1",
  served: true,
  storage: true,
  additionalPrinterColumns: [{ name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp", priority: 0 }],
  subresources: { status: {}, scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" } },
  schema: {
    openAPIV3Schema: {
      type: "object",
      properties: {
        spec: {
          type: "object",
          default: { size: 1, name: "é", list: [] },
          properties: {
            size: {
              type: "number",
              minimum: -1,
              enum: [1, 2.5, 3],
            },
            name: { type: "string", maxLength: 9, pattern: "^.*$", example: null, externalDocs: { url: "u" } },
            list: { type: "array", maxItems: 3, items: { type: "string" }, "x-kubernetes-list-type": "set" },
            map: { type: "object", additionalProperties: { type: "integer", format: "int64" } },
            replicas: { anyOf: [{ type: "integer" }, { type: "string" }], "x-kubernetes-int-or-string": true },
            ratio: { type: "number", minimum: 0.5, maximum: 1e21, multipleOf: 0.5, exclusiveMinimum: true },
            any: { type: "object", "x-kubernetes-preserve-unknown-fields": true, nullable: true },
          },
          "x-kubernetes-validations": [{ rule: "self.size > 0.0", message: "m" }],
        },
        status: { type: "object", properties: { replicas: { type: "integer" } } },
      },
    },
  },
};

const namespaced: readonly (readonly [resource: string, body: Body, status?: Body])[] = [
  ["configmaps", {
    data: { "z.txt": "é\u{1f600}", a: "", "0": "zero" },
    binaryData: { b: "AAEC/w==", c: "" },
    immutable: false,
  }],
  ["secrets", { data: { b: "AAEC", a: "" }, type: "example.com/type" }],
  ["serviceaccounts", { secrets: [{ name: "s" }], imagePullSecrets: [{ name: "p" }] }],
  ["services", {
    spec: { ...spec(service("a")), ports: [{ name: "a", port: 80, targetPort: "http" }, { name: "b", port: 81 }] },
  }],
  ["endpoints", {
    metadata: { name: "by-hand" },
    subsets: [{ addresses: [{ ip: "192.0.2.1", nodeName: "n" }], ports: [{ port: 80 }] }],
  }],
  ["events", {
    involvedObject: { kind: "Pod" },
    eventTime: "2024-01-02T03:04:05.600007Z",
    action: "a",
    reportingComponent: "c",
    reportingInstance: "i",
    reason: "R",
  }],
  ["limitranges", { spec: { limits: [{ type: "Container", default: { cpu: "100m", memory: "0" } }] } }],
  ["persistentvolumeclaims", {
    spec: { accessModes: ["ReadWriteOnce"], storageClassName: "", resources: { requests: { storage: "1G" } } },
  }],
  ["pods", podTemplate, {
    phase: "Running",
    startTime: "1969-12-31T23:59:59Z",
    containerStatuses: [{
      name: "main",
      image: "i",
      imageID: "",
      ready: true,
      restartCount: 2_147_483_647,
      state: { terminated: { exitCode: -1, startedAt: "2024-01-01T00:00:00Z" } },
    }],
  }],
  ["podtemplates", { template: podTemplate }],
  ["replicationcontrollers", { spec: { replicas: 0, selector: { app: "sample" }, template: template("sample") } }],
  ["resourcequotas", { spec: { hard: { pods: "100", "requests.cpu": "1k" } } }],
  ["apps/v1/controllerrevisions", { revision: 9_007_199_254_740_991, data: { z: { a: [1, "é", null] }, b: 1.5 } }],
  ["apps/v1/daemonsets", {
    spec: { ...spec(workload("DaemonSet", "sample")), updateStrategy: { rollingUpdate: { maxUnavailable: "10%" } } },
  }],
  ["apps/v1/deployments", { spec: { ...spec(deployment("sample")), strategy: { rollingUpdate: { maxSurge: 2 } } } }],
  ["apps/v1/replicasets", { spec: { ...spec(workload("ReplicaSet", "sample")), replicas: 0 } }],
  ["apps/v1/statefulsets", { spec: { ...spec(workload("StatefulSet", "sample")), replicas: 0, serviceName: "" } }],
  ["autoscaling/v2/horizontalpodautoscalers", {
    spec: {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
      maxReplicas: 3,
      metrics: [{
        type: "Pods",
        pods: { metric: { name: "m" }, target: { type: "AverageValue", averageValue: "1500m" } },
      }],
    },
  }],
  ["batch/v1/cronjobs", {
    spec: {
      schedule: "@daily",
      suspend: true,
      jobTemplate: { spec: { template: { spec: podSpec({ restartPolicy: "Never" }) } } },
    },
  }],
  ["batch/v1/jobs", { spec: { ...spec(job("a")), suspend: true, completions: 2, completionMode: "Indexed" } }],
  ["coordination.k8s.io/v1/leases", { spec: { leaseDurationSeconds: 15, renewTime: "2024-01-02T03:04:05.000001Z" } }],
  ["discovery.k8s.io/v1/endpointslices", {
    addressType: "IPv4",
    endpoints: [{ addresses: ["192.0.2.1"], conditions: { ready: false }, hints: { forZones: [{ name: "z" }] } }],
    ports: [{ port: 80, name: "" }],
  }],
  ["networking.k8s.io/v1/ingresses", { spec: spec(ingress("a")) }],
  ["networking.k8s.io/v1/networkpolicies", {
    spec: { podSelector: {}, ingress: [{ from: [{ ipBlock: { cidr: "192.0.2.0/24" } }], ports: [{ port: "http" }] }] },
  }],
  ["policy/v1/poddisruptionbudgets", { spec: { minAvailable: "50%", selector: { matchLabels: { app: "none" } } } }],
  [`${rbac}/v1/roles`, { rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"], resourceNames: ["a"] }] }],
  [`${rbac}/v1/rolebindings`, {
    roleRef: { apiGroup: rbac, kind: "Role", name: "a" },
    subjects: [{ kind: "User", name: "u" }],
  }],
  ["resource.k8s.io/v1/resourceclaims", { spec: claim() }],
  ["resource.k8s.io/v1/resourceclaimtemplates", { spec: { metadata: { labels: { b: "", a: "1" } }, spec: claim() } }],
  ["storage.k8s.io/v1/csistoragecapacities", { storageClassName: "a", capacity: "1Gi", nodeTopology: {} }],
];

function spec(body: Body): Body {
  return Object.fromEntries(Object.entries(Object(body["spec"])));
}

function nameOf(body: Body): string | undefined {
  const name: unknown = Object(body["metadata"])["name"];
  return typeof name === "string" ? name : undefined;
}

function claim(): Body {
  return { devices: { requests: [{ name: "r", exactly: { deviceClassName: "c", allocationMode: "All" } }] } };
}

/** All objects, in a namespace that exists. */
export function protobufSamples(namespace: string): readonly ProtobufSample[] {
  const managed = { labels: { z: "1", a: "" }, annotations: { "b/c": "é", a: "" }, finalizers: [] };
  const own = namespaced.map(([resource, body, status]) => {
    const slash = resource.lastIndexOf("/");
    const root = slash < 0 ? "/api/v1" : `/apis/${resource.slice(0, slash)}`;
    const path = `${root}/namespaces/${namespace}/${resource.slice(slash + 1)}`;
    const rest = resource === "events" ? { involvedObject: { kind: "Pod", namespace } } : {};
    const object = { ...body, ...rest, metadata: { ...managed, name: nameOf(body) ?? "sample" } };
    return status === undefined ? { path, body: object } : { path, body: object, status };
  });
  const shared = clusterScoped(namespace).map(([path, body, status]) => {
    const object = { ...body, metadata: { ...managed, name: nameOf(body) ?? `sample-${namespace}` } };
    return status === undefined ? { path, body: object } : { path, body: object, status };
  });
  return [...own, ...shared];
}
