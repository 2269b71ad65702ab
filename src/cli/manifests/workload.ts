/**
 * The workload of the controllers: Namespace, Deployment, PodDisruptionBudget, NetworkPolicy, and the Service of their metrics.
 *
 * Guarantees: the Pods satisfy the `restricted` Pod Security Standard: no root, no privileges, a read-only file system. A
 * process that does not respond any more is killed within 30 s.
 */
import { builtin, type KubeObject } from "../../api/mod.ts";
import { formatClusterSource } from "../clusters/mod.ts";
import type { InstallPlan } from "./install_plan.ts";
import {
  checksumAnnotation,
  configMap,
  configMapName,
  configMount,
  configVolume,
  runConfigFlag,
} from "./run_config.ts";

/** The ports of a Pod. */
export const ports = { probes: 8081, metrics: 8443, loopbackMetrics: 8080, webhooks: 9443 } as const;

const certDir = "/certs";
/** The user `nonroot` of the distroless images; every user except 0 works. */
const userId = 65532;
/** The time that `run` needs to stop: 30 s for reconciles, and for webhooks 5 s to drain and 10 s to respond. */
const terminationSeconds = 60;

/** A process that does not respond within this time is frozen, or has far too little CPU. */
const probeTimeoutSeconds = 4;
/**
 * After a failed probe the process gets less time to stop than after a delete: if it responded to the signal, it would respond
 * to the probes. Three probes in 19 s and these 10 s make 29 s.
 */
const frozen = { timeoutSeconds: probeTimeoutSeconds, terminationGracePeriodSeconds: 10 } as const;

/** The labels of all objects. */
export function labelsOf({ operator, name, version }: InstallPlan): Readonly<Record<string, string>> {
  const shown = version.replaceAll(/[^A-Za-z0-9_.-]/g, "-").slice(0, 63);
  return { ...selectorOf({ operator, name }), "app.kubernetes.io/version": shown };
}

/** The labels that select the Pods. */
export function selectorOf({ operator, name }: Pick<InstallPlan, "operator" | "name">) {
  return { "app.kubernetes.io/name": operator.name, "app.kubernetes.io/instance": name };
}

/** The metadata of an object in the operator's namespace. */
export function metadataOf(plan: InstallPlan, name = plan.name) {
  return { name, namespace: plan.namespace, labels: labelsOf(plan) };
}

/**
 * Returns the namespace, if it belongs to the operator. Its Pods satisfy the restricted standard; but in a namespace that it
 * watches, there are also Pods of its users, which that standard may reject.
 */
export function namespaceObject(plan: InstallPlan): readonly KubeObject[] {
  if (!plan.hasNamespace) return [];
  const isShared = plan.watched.includes(plan.namespace);
  const labels = { ...labelsOf(plan), ...isShared ? {} : { "pod-security.kubernetes.io/enforce": "restricted" } };
  return [{ apiVersion: "v1", kind: "Namespace", metadata: { name: plan.namespace, labels } }];
}

/**
 * True when the metrics are served to the cluster, which needs a certificate; else inside of the Pod only. A certificate that
 * the platform mounts is for the webhooks: it serves metrics as well when somebody reads them.
 */
export function exposesMetrics({ certSecret, mountedCertDir, hasMonitoring }: InstallPlan): boolean {
  return certSecret !== undefined || (mountedCertDir !== undefined && hasMonitoring);
}

/** Returns the workload and the objects that protect it. */
export function workloadObjects(plan: InstallPlan): readonly KubeObject[] {
  return [
    ...runConfigMap(plan),
    ...metricsService(plan),
    networkPolicy(plan),
    ...disruptionBudget(plan),
    deployment(plan),
  ];
}

/** Returns the ConfigMap with the configuration file of `run`, if there is one. */
export function runConfigMap(plan: InstallPlan): readonly builtin.ConfigMap[] {
  const { name, runConfig } = plan;
  return runConfig === undefined ? [] : [configMap(metadataOf(plan, configMapName(name)), runConfig)];
}

/** Returns the Deployment of the controllers. */
export function deployment(plan: InstallPlan): builtin.Deployment {
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: metadataOf(plan),
    spec: {
      replicas: plan.replicas,
      selector: { matchLabels: selectorOf(plan) },
      template: { metadata: { labels: labelsOf(plan), ...annotationsOf(plan) }, spec: podSpec(plan) },
    },
  };
}

/** Pods are replaced when the file changes. */
function annotationsOf({ runConfig }: InstallPlan) {
  return runConfig === undefined ? {} : { annotations: { [checksumAnnotation]: runConfig.checksum } };
}

type PodSpec = NonNullable<builtin.Deployment["spec"]["template"]["spec"]>;
type Container = PodSpec["containers"][number];

function podSpec(plan: InstallPlan): PodSpec {
  const { name, certSecret, tolerations, runConfig } = plan;
  const volumes = [
    ...(certSecret === undefined ? [] : [{ name: "certs", secret: { secretName: certSecret, defaultMode: 0o440 } }]),
    ...(runConfig === undefined ? [] : [configVolume(name)]),
  ];
  return {
    serviceAccountName: name,
    automountServiceAccountToken: true,
    securityContext: {
      runAsNonRoot: true,
      runAsUser: userId,
      runAsGroup: userId,
      fsGroup: userId,
      seccompProfile: { type: "RuntimeDefault" },
    },
    // Replicas on one node would fail together.
    topologySpreadConstraints: [{
      maxSkew: 1,
      topologyKey: "kubernetes.io/hostname",
      whenUnsatisfiable: "ScheduleAnyway",
      labelSelector: { matchLabels: selectorOf(plan) },
    }],
    ...(tolerations.length === 0 ? {} : { tolerations: [...tolerations] }),
    terminationGracePeriodSeconds: terminationSeconds,
    containers: [container(plan)],
    ...(volumes.length === 0 ? {} : { volumes }),
  };
}

function container(plan: InstallPlan): Container {
  const { image, certSecret, webhooks, operator, runConfig } = plan;
  const volumeMounts = [
    ...(certSecret === undefined ? [] : [{ name: "certs", mountPath: certDir, readOnly: true }]),
    ...(runConfig === undefined ? [] : [configMount]),
  ];
  const { livenessName = "healthz", readinessName = "readyz" } = operator.endpoints ?? {};
  const probe = (name: string) => ({ httpGet: { path: `/${name}`, port: "probes" } });
  return {
    name: "controller",
    image,
    args: argumentsOf(plan),
    ports: [
      portOf("probes"),
      ...(exposesMetrics(plan) ? [portOf("metrics")] : []),
      ...(webhooks.length === 0 ? [] : [portOf("webhooks")]),
    ],
    // The delay is longer than a usual start: a probe before the port is open would leave a warning Event.
    startupProbe: { ...probe(livenessName), ...frozen, initialDelaySeconds: 3, periodSeconds: 2, failureThreshold: 30 },
    livenessProbe: { ...probe(livenessName), ...frozen, periodSeconds: 5, failureThreshold: 3 },
    readinessProbe: { ...probe(readinessName), timeoutSeconds: probeTimeoutSeconds, periodSeconds: 5 },
    resources: { requests: { cpu: "10m", memory: "64Mi" }, limits: { cpu: "1", memory: "512Mi" } },
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    },
    ...(volumeMounts.length === 0 ? {} : { volumeMounts }),
  };
}

function portOf(name: keyof typeof ports) {
  return { name, containerPort: ports[name], protocol: "TCP" } as const;
}

/** The arguments of the program in the image. */
function argumentsOf(plan: InstallPlan): string[] {
  const { controllers, name, watched, certSecret, mountedCertDir, webhooks, webhookConfiguration, runFlags } = plan;
  const { runConfig } = plan;
  const ownCertDir = certSecret === undefined ? mountedCertDir : certDir;
  const metrics = exposesMetrics(plan) ? `:${ports.metrics}` : `127.0.0.1:${ports.loopbackMetrics}`;
  return [
    "run",
    // By name, even when these are all controllers: a later image may have one more, without permissions.
    ...controllers.map((controller) => controller.name),
    ...watched.map((namespace) => `--namespace=${namespace}`),
    ...(plan.clusters === undefined ? [] : [`--clusters=${formatClusterSource(plan.clusters)}`]),
    "--leader-elect",
    `--leader-election-id=${name}`,
    `--health-probe-bind-address=:${ports.probes}`,
    `--metrics-bind-address=${metrics}`,
    ...(webhooks.length === 0 ? [] : [
      `--webhook-port=${ports.webhooks}`,
      // The platform that mounts certificates also writes the configurations.
      ...(mountedCertDir === undefined ? [`--webhook-configuration=${webhookConfiguration}`] : []),
    ]),
    ...(ownCertDir === undefined ? [] : [`--cert-dir=${ownCertDir}`]),
    "--log-format=json",
    ...(runConfig === undefined ? [] : [runConfigFlag]),
    ...runFlags,
  ];
}

/** Returns the Service of the metrics, when they are served to the cluster. */
export function metricsService(plan: InstallPlan): readonly builtin.Service[] {
  if (!exposesMetrics(plan)) return [];
  return [{
    apiVersion: "v1",
    kind: "Service",
    metadata: {
      ...metadataOf(plan, metricsServiceName(plan.name)),
      labels: { ...labelsOf(plan), ...metricsLabels(plan) },
    },
    spec: {
      selector: selectorOf(plan),
      ports: [{ name: "metrics", port: ports.metrics, targetPort: "metrics", protocol: "TCP" }],
    },
  }];
}

/** The name of the Service of the metrics, and so the label `job` of their series. */
export function metricsServiceName(name: string): string {
  return `${name}-metrics`;
}

/** The labels that only the Service of the metrics has: that of the webhooks has those of the Pods, too. */
export function metricsLabels(plan: InstallPlan) {
  return { ...selectorOf(plan), "app.kubernetes.io/component": "metrics" };
}

/**
 * Allows API servers to call the webhooks, and namespaces with the label `metrics: enabled` to read the metrics; nothing else.
 * A NetworkPolicy does not block the probes of the kubelet.
 */
function networkPolicy(plan: InstallPlan): builtin.NetworkPolicy {
  const from = plan.webhookFrom.map((cidr) => ({ ipBlock: { cidr } }));
  const open = (port: number) => [{ port, protocol: "TCP" }] as const;
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    metadata: metadataOf(plan),
    spec: {
      podSelector: { matchLabels: selectorOf(plan) },
      policyTypes: ["Ingress"],
      ingress: [
        ...(plan.webhooks.length === 0
          ? []
          : [{ ports: open(ports.webhooks), ...(from.length === 0 ? {} : { from }) }]),
        ...(exposesMetrics(plan)
          ? [{
            ports: open(ports.metrics),
            from: [{ namespaceSelector: { matchLabels: { metrics: "enabled" } } }],
          }]
          : []),
      ],
    },
  };
}

/** Returns the budget that keeps one of several replicas during a drain. */
export function disruptionBudget(plan: InstallPlan): readonly builtin.PodDisruptionBudget[] {
  if (plan.replicas < 2) return [];
  return [{
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: metadataOf(plan),
    // A Pod that is not ready serves nobody, so that it must not keep a Node from being drained.
    spec: { minAvailable: 1, unhealthyPodEvictionPolicy: "AlwaysAllow", selector: { matchLabels: selectorOf(plan) } },
  }];
}
