/** Invalid autoscalers, budgets, quotas, limit ranges, claims, volumes and storage classes, for invalid.ts. */
import type { Body } from "./_objects.ts";

/** A description, the resource or path, and the object. */
type Row = readonly [what: string, target: string, body: Body];

/** An autoscaler of a Deployment. */
export const autoscaler = (spec: Body) => ({
  metadata: { name: "a" },
  spec: { scaleTargetRef: { kind: "Deployment", name: "web", apiVersion: "apps/v1" }, maxReplicas: 3, ...spec },
});

/** Objects of namespaced kinds. */
export const namespacedResources: readonly Row[] = [
  [
    "a HorizontalPodAutoscaler's metrics",
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
    "a HorizontalPodAutoscaler's behavior",
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
    "a HorizontalPodAutoscaler without policies",
    "autoscaling/v2/horizontalpodautoscalers",
    autoscaler({ behavior: { scaleUp: { policies: [] } } }),
  ],
  ["a HorizontalPodAutoscaler in autoscaling/v1", "autoscaling/v1/horizontalpodautoscalers", {
    metadata: { name: "a" },
    spec: { scaleTargetRef: { kind: "Deployment", name: "web", apiVersion: "v1" }, targetCPUUtilizationPercentage: 0 },
  }],
  ["a PodDisruptionBudget's percentage", "policy/v1/poddisruptionbudgets", {
    metadata: { name: "a" },
    spec: { maxUnavailable: "101%", unhealthyPodEvictionPolicy: "Whenever" },
  }],
  ["a PersistentVolumeClaim's sources", "persistentvolumeclaims", {
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
  ["a ResourceQuota's scopes", "resourcequotas", {
    metadata: { name: "a" },
    spec: { hard: { secrets: "1" }, scopes: ["BestEffort", "NotBestEffort", "Wide"] },
  }],
  ["a ResourceQuota's scope selector", "resourcequotas", {
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
  ["a LimitRange for Pods and claims", "limitranges", {
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

/** Objects of cluster-scoped kinds. */
export const clusterScopedResources: readonly Row[] = [
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
  ["a PersistentVolume of a CSI driver", "/api/v1/persistentvolumes", {
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
  ["a StorageClass's fields", "/apis/storage.k8s.io/v1/storageclasses", {
    metadata: { name: "a" },
    provisioner: "a b",
    parameters: { "": "x" },
    volumeBindingMode: "Never",
    allowedTopologies: [{ matchLabelExpressions: [{ key: "a b", values: [] }, { key: "a", values: ["x", "x"] }] }],
  }],
  ["a CertificateSigningRequest's signer", "/apis/certificates.k8s.io/v1/certificatesigningrequests", {
    metadata: { name: "a" },
    spec: { request: "eA==", signerName: "Upper.example/a..b", usages: [], expirationSeconds: 1 },
  }],
];

/** Namespaced objects that are accepted with warnings. */
export const namespacedWarnings: readonly Row[] = [
  ["a ResourceQuota's", "resourcequotas", {
    metadata: { name: "a" },
    spec: { hard: { "requests.cpu": "2", "limits.cpu": "1", memory: "2Gi", "limits.memory": "1Gi" } },
  }],
];

/** Cluster-scoped objects that are accepted with warnings. */
export const clusterScopedWarnings: readonly Row[] = [
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
