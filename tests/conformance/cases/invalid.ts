/** Errors and warnings of objects with invalid fields. One response lists all errors of an object. */
import { type ConformanceCase, requests } from "../conformance_case.ts";
import { at, type Body, configMap, deployment, ingress, job, lease, pod, role, secret, service } from "./_objects.ts";
import {
  autoscaler,
  clusterScopedResources,
  clusterScopedWarnings,
  namespacedResources,
  namespacedWarnings,
} from "./_invalid_resources.ts";
import { podSpec, workload } from "./_objects.ts";

const container = (rest: Body) => pod("a", { containers: [{ name: "main", image: "x", ...rest }] });

const ports = (...list: readonly Body[]) => service("web", { ports: list });

const path = (rest: Body) =>
  ingress("a", { rules: [{ http: { paths: [{ path: "/", pathType: "Prefix", ...rest }] } }] });

/** A description, the resource, and the object. */
const namespaced: readonly (readonly [string, string, Body])[] = [
  ["a ConfigMap's keys", "configmaps", {
    ...configMap("a", { "bad key": "1", "..": "2" }),
    binaryData: { "bad key": "" },
  }],
  ["a Secret without the keys of its type", "secrets", secret("a", { type: "kubernetes.io/tls", data: {} })],
  [
    "a Secret's JSON",
    "secrets",
    secret("a", { type: "kubernetes.io/dockerconfigjson", stringData: { ".dockerconfigjson": "{" } }),
  ],
  ["a Secret of a ServiceAccount token", "secrets", secret("a", { type: "kubernetes.io/service-account-token" })],
  ["a Secret of basic auth", "secrets", secret("a", { type: "kubernetes.io/basic-auth" })],
  ["a Service without ports", "services", service("web", { ports: [] })],
  ["a Service's ports", "services", ports({ port: 0 }, { port: 70000, protocol: "ICMP" })],
  ["a Service's port names", "services", ports({ port: 1 }, { port: 2 })],
  ["a Service with duplicate ports", "services", ports({ name: "a", port: 1 }, { name: "a", port: 1 })],
  [
    "a Service's type",
    "services",
    service("web", { type: "Magic", sessionAffinity: "Often", externalTrafficPolicy: "Local" }),
  ],
  ["a Service of type ExternalName without a name", "services", service("web", { type: "ExternalName", ports: [] })],
  [
    "a Service's addresses",
    "services",
    service("web", { clusterIP: "300.1.1.1", externalIPs: ["x"], loadBalancerSourceRanges: ["y"] }),
  ],
  ["a Service's selector", "services", service("web", { selector: { "bad key": "x" } })],
  ["an empty Deployment", "apps/v1/deployments", { metadata: { name: "a" }, spec: {} }],
  [
    "a selector that does not match",
    "apps/v1/deployments",
    deployment("web", { selector: { matchLabels: { app: "other" } } }),
  ],
  [
    "a Deployment's numbers",
    "apps/v1/deployments",
    deployment("web", { replicas: -1, minReadySeconds: -1, revisionHistoryLimit: -1, progressDeadlineSeconds: 0 }),
  ],
  [
    "a Deployment's strategy",
    "apps/v1/deployments",
    deployment("web", { strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 0, maxUnavailable: 0 } } }),
  ],
  [
    "a Deployment's strategy with invalid percentages",
    "apps/v1/deployments",
    deployment("web", { strategy: { rollingUpdate: { maxSurge: "much", maxUnavailable: "200%" } } }),
  ],
  [
    "a Deployment's restart policy",
    "apps/v1/deployments",
    deployment("web", {
      template: { metadata: { labels: { app: "web" } }, spec: podSpec({ restartPolicy: "Never" }) },
    }),
  ],
  [
    "a Deployment of strategy Recreate with rollingUpdate",
    "apps/v1/deployments",
    deployment("web", { strategy: { type: "Recreate", rollingUpdate: {} } }),
  ],
  [
    "a StatefulSet's policy",
    "apps/v1/statefulsets",
    workload("StatefulSet", "db", { podManagementPolicy: "Wild", serviceName: "db" }),
  ],
  [
    "a DaemonSet's strategy",
    "apps/v1/daemonsets",
    workload("DaemonSet", "agent", { updateStrategy: { type: "Never" } }),
  ],
  ["a Job's restart policy", "batch/v1/jobs", job("a", { template: { spec: podSpec() } })],
  [
    "a Job's numbers",
    "batch/v1/jobs",
    job("a", { parallelism: -1, completions: -1, backoffLimit: -1, ttlSecondsAfterFinished: -1 }),
  ],
  ["an indexed Job without completions", "batch/v1/jobs", job("a", { completionMode: "Indexed" })],
  ["a Job's selector", "batch/v1/jobs", job("a", { selector: { matchLabels: { a: "b" } } })],
  ["a CronJob's schedule", "batch/v1/cronjobs", {
    metadata: { name: "a" },
    spec: {
      schedule: "often",
      concurrencyPolicy: "Maybe",
      jobTemplate: { spec: { template: { spec: podSpec({ restartPolicy: "Never" }) } } },
    },
  }],
  ["a CronJob's time zone", "batch/v1/cronjobs", {
    metadata: { name: "a" },
    spec: {
      schedule: "@daily",
      timeZone: "Moon/Base",
      jobTemplate: { spec: { template: { spec: podSpec({ restartPolicy: "Never" }) } } },
    },
  }],
  ["a Pod without containers", "pods", pod("a", { containers: [] })],
  ["a container without name and image", "pods", pod("a", { containers: [{}] })],
  [
    "containers of the same name",
    "pods",
    pod("a", { containers: [{ name: "a", image: "x" }, { name: "a", image: "y" }] }),
  ],
  [
    "a container's ports",
    "pods",
    container({
      ports: [{ containerPort: 0 }, { containerPort: 80, name: "TOO_LOUD" }, {
        containerPort: 1,
        hostPort: 2,
        protocol: "X",
      }],
    }),
  ],
  [
    "a container's environment",
    "pods",
    container({
      env: [{ name: "" }, { name: "a=b" }, {
        name: "x",
        value: "y",
        valueFrom: { fieldRef: { fieldPath: "metadata.name" } },
      }],
    }),
  ],
  [
    "a container's resources",
    "pods",
    container({ resources: { limits: { cpu: "1" }, requests: { cpu: "2", memory: "-1" } } }),
  ],
  [
    "a container's probes",
    "pods",
    container({
      livenessProbe: { periodSeconds: -1 },
      readinessProbe: { httpGet: { port: 0 }, exec: { command: [] } },
    }),
  ],
  ["a container's mounts", "pods", container({ volumeMounts: [{ name: "absent", mountPath: "" }] })],
  ["a container's pull policy", "pods", container({ imagePullPolicy: "Sometimes" })],
  [
    "a Pod's volumes",
    "pods",
    pod("a", { volumes: [{ name: "a" }, { name: "Bad_Name", emptyDir: {} }, { name: "a", secret: {} }] }),
  ],
  [
    "a Pod's policies",
    "pods",
    pod("a", { restartPolicy: "Maybe", dnsPolicy: "Guess", terminationGracePeriodSeconds: -5 }),
  ],
  [
    "a Pod's tolerations",
    "pods",
    pod("a", { tolerations: [{ operator: "Like" }, { key: "a", operator: "Exists", value: "x" }] }),
  ],
  [
    "a Pod's node selector",
    "pods",
    pod("a", { nodeSelector: { "bad key": "x" }, hostname: "Not A Host", subdomain: "-" }),
  ],
  [
    "a Pod's affinity",
    "pods",
    pod("a", {
      affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [] } } },
    }),
  ],
  ["a Pod's priority", "pods", pod("a", { priorityClassName: "absent" })],
  ["a Pod's ServiceAccount", "pods", pod("a", { serviceAccountName: "absent" })],
  ["an empty Ingress", "networking.k8s.io/v1/ingresses", { metadata: { name: "a" }, spec: {} }],
  ["an Ingress's path", "networking.k8s.io/v1/ingresses", path({ path: "relative", pathType: "Like" })],
  [
    "an Ingress's backend",
    "networking.k8s.io/v1/ingresses",
    path({ backend: { service: { name: "Bad_Name", port: {} } } }),
  ],
  [
    "an Ingress's host",
    "networking.k8s.io/v1/ingresses",
    ingress("a", { rules: [{ host: "192.0.2.1" }, { host: "*.*.example" }] }),
  ],
  [
    "an Ingress's TLS",
    "networking.k8s.io/v1/ingresses",
    ingress("a", { tls: [{ hosts: ["Not A Host"], secretName: "Bad_Name" }] }),
  ],
  ["a NetworkPolicy", "networking.k8s.io/v1/networkpolicies", {
    metadata: { name: "a" },
    spec: {
      podSelector: { matchExpressions: [{ key: "a", operator: "Like" }] },
      ingress: [{ from: [{ ipBlock: { cidr: "x" } }], ports: [{ port: 70000 }] }],
      policyTypes: ["Sideways"],
    },
  }],
  [
    "a Role's rules",
    "rbac.authorization.k8s.io/v1/roles",
    role("a", [{ verbs: [] }, { verbs: ["get"], nonResourceURLs: ["/x"] }, { verbs: ["get"], apiGroups: [""] }]),
  ],
  ["a RoleBinding's fields", "rbac.authorization.k8s.io/v1/rolebindings", {
    metadata: { name: "a" },
    roleRef: { kind: "Thing", name: "" },
    subjects: [{ kind: "ServiceAccount", name: "a" }, { kind: "Ghost", name: "x" }],
  }],
  [
    "a Lease",
    "coordination.k8s.io/v1/leases",
    lease("a", { leaseDurationSeconds: 0, leaseTransitions: -1, holderIdentity: "" }),
  ],
  [
    "a HorizontalPodAutoscaler",
    "autoscaling/v2/horizontalpodautoscalers",
    autoscaler({ minReplicas: 5, maxReplicas: 0, metrics: [{ type: "Resource" }] }),
  ],
  ["a PodDisruptionBudget", "policy/v1/poddisruptionbudgets", {
    metadata: { name: "a" },
    spec: { minAvailable: 1, maxUnavailable: "x", selector: { matchLabels: { "bad key": "x" } } },
  }],
  ["a PersistentVolumeClaim", "persistentvolumeclaims", {
    metadata: { name: "a" },
    spec: { accessModes: ["Sometimes"], resources: {} },
  }],
  ["a ResourceQuota", "resourcequotas", {
    metadata: { name: "a" },
    spec: { hard: { pods: "-1", "bad key": "1", "limits.cpu": "1.5" } },
  }],
  ["a LimitRange", "limitranges", {
    metadata: { name: "a" },
    spec: { limits: [{ type: "Container", min: { cpu: "2" }, max: { cpu: "1" } }] },
  }],
  ["an EndpointSlice", "discovery.k8s.io/v1/endpointslices", {
    metadata: { name: "a" },
    addressType: "Pigeon",
    endpoints: [{ addresses: ["x"] }],
    ports: [{ port: 0, protocol: "X" }],
  }],
  ["an Event", "events", {
    metadata: { name: "a", namespace: "default" },
    involvedObject: { kind: "Pod", namespace: "elsewhere" },
  }],
];

/** Resources and cases whose errors the real server finds in the random order of a Go map. */
const unorderedErrors: ReadonlySet<string> = new Set([
  "resourcequotas",
  "limitranges",
  "configmaps",
  "a container's resources",
]);

const namespacedCases = [...namespaced, ...namespacedResources].map(([what, resource, body]) =>
  requests(`errors of ${what}`, (run) => {
    const isElsewhere = resource === "events";
    const path = isElsewhere ? "/api/v1/namespaces/default/events" : `${at(run, resource)}?dryRun=All`;
    return [{ path, body, sortsCauses: unorderedErrors.has(resource) || unorderedErrors.has(what) }];
  }, { needsAccount: resource === "pods" })
);

/** Objects of cluster-scoped kinds: a description, the path, and the object. */
const clusterScoped: readonly (readonly [string, string, Body])[] = [
  ["a Namespace", "/api/v1/namespaces", { metadata: { name: "a.b" } }],
  ["a Node", "/api/v1/nodes", {
    metadata: { name: "a" },
    spec: { taints: [{ key: "", effect: "Never" }], podCIDR: "x" },
  }],
  ["a PersistentVolume", "/api/v1/persistentvolumes", { metadata: { name: "a" }, spec: {} }],
  ["a StorageClass", "/apis/storage.k8s.io/v1/storageclasses", {
    metadata: { name: "a" },
    provisioner: "",
    reclaimPolicy: "Burn",
  }],
  ["a PriorityClass", "/apis/scheduling.k8s.io/v1/priorityclasses", {
    metadata: { name: "system-mine" },
    value: 2_000_000_000,
  }],
  ["a ClusterRole", "/apis/rbac.authorization.k8s.io/v1/clusterroles", {
    metadata: { name: "a" },
    rules: [{ verbs: ["get"] }],
  }],
  ["a ClusterRoleBinding", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", {
    metadata: { name: "a" },
    roleRef: { apiGroup: "x", kind: "Role", name: "b" },
  }],
  ["a MutatingWebhookConfiguration", "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations", {
    metadata: { name: "a" },
    webhooks: [{
      name: "short",
      clientConfig: { url: "http://x" },
      admissionReviewVersions: [],
      sideEffects: "Some",
      rules: [{}],
    }],
  }],
  ["a ValidatingAdmissionPolicy", "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies", {
    metadata: { name: "a" },
    spec: { validations: [{ expression: "object.x +" }] },
  }],
  ["a CertificateSigningRequest", "/apis/certificates.k8s.io/v1/certificatesigningrequests", {
    metadata: { name: "a" },
    spec: { request: "eA==", signerName: "x", usages: ["fly"] },
  }],
  ["a RuntimeClass", "/apis/node.k8s.io/v1/runtimeclasses", { metadata: { name: "a" }, handler: "Bad_Name" }],
  ["an IngressClass", "/apis/networking.k8s.io/v1/ingressclasses", {
    metadata: { name: "a" },
    spec: { controller: "x" },
  }],
];

const clusterScopedCases = [...clusterScoped, ...clusterScopedResources].map(([what, path, body]) =>
  requests(`errors of ${what}`, () => [{ path: `${path}?dryRun=All`, body }])
);

/** Objects that are accepted with warnings. */
const warned: readonly (readonly [string, string, Body])[] = [
  [
    "a Pod's",
    "pods",
    pod("a", {
      hostAliases: [],
      nodeSelector: { "beta.kubernetes.io/os": "linux" },
      containers: [{
        name: "a",
        image: "x",
        env: [{ name: "A", value: "1" }, { name: "A", value: "2" }],
        ports: [{ containerPort: 80 }, { containerPort: 80 }],
      }],
    }),
  ],
  [
    "a Deployment's",
    "apps/v1/deployments",
    deployment("web", {
      template: {
        metadata: {
          labels: { app: "web" },
          annotations: { "seccomp.security.alpha.kubernetes.io/pod": "runtime/default" },
        },
        spec: podSpec({ terminationGracePeriodSeconds: -1 }),
      },
    }),
  ],
  ["a Service's", "services", service("web", { externalIPs: ["010.0.0.1"], sessionAffinity: "None" })],
  ["an Ingress's annotation", "networking.k8s.io/v1/ingresses", {
    ...ingress("a"),
    metadata: { name: "a", annotations: { "kubernetes.io/ingress.class": "nginx" } },
  }],
  ["a CronJob's", "batch/v1/cronjobs", {
    metadata: { name: "a".repeat(53) },
    spec: {
      schedule: "TZ=UTC 0 * * * *",
      jobTemplate: { spec: { template: { spec: podSpec({ restartPolicy: "Never" }) } } },
    },
  }],
  ["a PodDisruptionBudget's", "policy/v1/poddisruptionbudgets", {
    metadata: { name: "a" },
    spec: { maxUnavailable: 1 },
  }],
  ["a PersistentVolumeClaim's", "persistentvolumeclaims", {
    metadata: { name: "a", annotations: { "volume.beta.kubernetes.io/storage-class": "x" } },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1.5" } } },
  }],
];

const namespacedWarningCases = [...warned, ...namespacedWarnings].map(([what, resource, body]) =>
  requests(`${what} warnings`, (run) => [{ path: `${at(run, resource)}?dryRun=All`, body, pick: () => "" }], {
    needsAccount: resource === "pods",
  })
);

const clusterScopedWarningCases = clusterScopedWarnings.map(([what, path, body]) =>
  requests(`${what} warnings`, () => [{ path: `${path}?dryRun=All`, body, pick: () => "" }])
);

export const invalidCases: readonly ConformanceCase[] = [
  ...namespacedCases,
  ...clusterScopedCases,
  ...namespacedWarningCases,
  ...clusterScopedWarningCases,
];
