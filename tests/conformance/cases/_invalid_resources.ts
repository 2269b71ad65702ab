/** Objects about resources whose fields are wrong: autoscalers, budgets, quotas, limits, claims, volumes and their classes. */
import type { Body } from "./_objects.ts";

/** What is wrong, where it is sent, and the object. */
type Row = readonly [what: string, to: string, body: Body];

/** An autoscaler of a Deployment. */
export const autoscaler = (spec: Body) => ({
  metadata: { name: "a" },
  spec: { scaleTargetRef: { kind: "Deployment", name: "web", apiVersion: "apps/v1" }, maxReplicas: 3, ...spec },
});

/** In namespaces. */
export const resourceTable: readonly Row[] = [
  [
    "an autoscaler's metrics",
    "autoscaling/v2/horizontalpodautoscalers",
    autoscaler({
      minReplicas: 0,
      scaleTargetRef: { kind: "", name: "a/b", apiVersion: "a/b/c" },
      metrics: [
        { type: "Wish" },
        {
          type: "Resource",
          resource: { name: "", target: { type: "Much", averageUtilization: 0, averageValue: "1" } },
        },
        { type: "Pods", pods: { metric: { name: "a" }, target: { type: "AverageValue" } } },
        {
          type: "External",
          external: { metric: { name: "" }, target: { type: "Value", value: "1", averageValue: "-1" } },
        },
        {
          type: "Object",
          object: { describedObject: { kind: "Ingress", name: "" }, metric: { name: "a%" }, target: { type: "Value" } },
          resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 1 } },
        },
        { type: "ContainerResource", containerResource: { name: "gold", container: "Bad_Name", target: { type: "" } } },
      ],
    }),
  ],
  [
    "an autoscaler's behavior",
    "autoscaling/v2/horizontalpodautoscalers",
    autoscaler({
      behavior: {
        scaleUp: { stabilizationWindowSeconds: -1, selectPolicy: "Most" },
        scaleDown: {
          stabilizationWindowSeconds: 3601,
          tolerance: "-1",
          policies: [{ type: "Wish", value: 0, periodSeconds: 1801 }],
        },
      },
    }),
  ],
  [
    "an autoscaler without policies",
    "autoscaling/v2/horizontalpodautoscalers",
    autoscaler({ behavior: { scaleUp: { policies: [] } } }),
  ],
  ["an old autoscaler", "autoscaling/v1/horizontalpodautoscalers", {
    metadata: { name: "a" },
    spec: { scaleTargetRef: { kind: "Deployment", name: "web", apiVersion: "v1" }, targetCPUUtilizationPercentage: 0 },
  }],
  ["a budget's percentage", "policy/v1/poddisruptionbudgets", {
    metadata: { name: "a" },
    spec: { maxUnavailable: "101%", unhealthyPodEvictionPolicy: "Whenever" },
  }],
  ["a claim's sources", "persistentvolumeclaims", {
    metadata: { name: "a" },
    spec: {
      accessModes: ["ReadWriteOncePod", "ReadWriteOnce"],
      resources: { requests: { storage: "0" } },
      storageClassName: "Bad_Name",
      volumeMode: "Tape",
      dataSource: { kind: "PersistentVolumeClaim", name: "b" },
      dataSourceRef: { kind: "PersistentVolumeClaim", name: "c" },
    },
  }],
  ["a quota's scopes", "resourcequotas", {
    metadata: { name: "a" },
    spec: { hard: { secrets: "1" }, scopes: ["BestEffort", "NotBestEffort", "Wide"] },
  }],
  ["a quota's scope selector", "resourcequotas", {
    metadata: { name: "a" },
    spec: {
      hard: { pods: "1" },
      scopeSelector: {
        matchExpressions: [
          { scopeName: "PriorityClass", operator: "In" },
          { scopeName: "Terminating", operator: "In", values: ["a"] },
          { scopeName: "PriorityClass", operator: "Exists", values: ["a"] },
          { scopeName: "Wide", operator: "Like" },
        ],
      },
    },
  }],
  ["the limits of Pods and claims", "limitranges", {
    metadata: { name: "a" },
    spec: {
      limits: [
        { type: "Pod", default: { cpu: "1" }, maxLimitRequestRatio: { cpu: "0.5" } },
        { type: "Pod", max: { gold: "1" } },
        { type: "PersistentVolumeClaim", default: { storage: "1" } },
        { type: "Planet" },
      ],
    },
  }],
];

/** Outside namespaces. */
export const resourcesOutside: readonly Row[] = [
  ["a PersistentVolume's sources", "/api/v1/persistentvolumes", {
    metadata: { name: "a" },
    spec: {
      capacity: { storage: "0" },
      accessModes: ["ReadWriteOnce"],
      persistentVolumeReclaimPolicy: "Burn",
      local: { path: "../x" },
      csi: { driver: "Bad_Name", volumeHandle: "" },
    },
  }],
  ["a PersistentVolume of a driver", "/api/v1/persistentvolumes", {
    metadata: { name: "a" },
    spec: {
      capacity: { storage: "1Gi" },
      accessModes: ["ReadWriteOnce"],
      storageClassName: "Bad_Name",
      volumeMode: "Tape",
      nodeAffinity: {},
      csi: { driver: "", volumeHandle: "", nodePublishSecretRef: { name: "Bad_Name" } },
    },
  }],
  ["a StorageClass's parts", "/apis/storage.k8s.io/v1/storageclasses", {
    metadata: { name: "a" },
    provisioner: "a b",
    parameters: { "": "x" },
    volumeBindingMode: "Never",
    allowedTopologies: [{ matchLabelExpressions: [{ key: "a b", values: [] }, { key: "a", values: ["x", "x"] }] }],
  }],
  ["a signer", "/apis/certificates.k8s.io/v1/certificatesigningrequests", {
    metadata: { name: "a" },
    spec: { request: "eA==", signerName: "Upper.example/a..b", usages: [], expirationSeconds: 1 },
  }],
];

/** Accepted with warnings. */
export const resourceWarnings: readonly Row[] = [
  ["a quota's", "resourcequotas", {
    metadata: { name: "a" },
    spec: { hard: { "requests.cpu": "2", "limits.cpu": "1", memory: "2Gi", "limits.memory": "1Gi" } },
  }],
];

/** The same outside namespaces. */
export const resourceWarningsOutside: readonly Row[] = [
  ["a PersistentVolume's", "/api/v1/persistentvolumes", {
    metadata: { name: "a", annotations: { "volume.beta.kubernetes.io/storage-class": "x" } },
    spec: {
      capacity: { storage: "1Gi" },
      accessModes: ["ReadWriteOnce"],
      persistentVolumeReclaimPolicy: "Recycle",
      hostPath: { path: "/tmp" },
      nodeAffinity: {
        required: {
          nodeSelectorTerms: [{
            matchExpressions: [{ key: "failure-domain.beta.kubernetes.io/zone", operator: "In", values: ["a"] }],
          }],
        },
      },
    },
  }],
  ["a StorageClass's", "/apis/storage.k8s.io/v1/storageclasses", {
    metadata: { name: "a" },
    provisioner: "example.com/none",
    allowedTopologies: [{ matchLabelExpressions: [{ key: "beta.kubernetes.io/os", values: ["linux"] }] }],
  }],
];
