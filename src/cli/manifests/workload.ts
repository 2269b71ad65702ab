/**
 * The workload of the controllers: Namespace, Deployment, PodDisruptionBudget, NetworkPolicy and the Service of their metrics;
 * and how the API server reaches their webhooks: Service, Secret and configurations. The configurations contain no CA bundle:
 * the controllers add that of managed certificates, and you add that of `--cert-secret`.
 *
 * Guarantees: the Pods satisfy the `restricted` Pod Security Standard: no root, no privileges, a read-only file system.
 */
import { builtin, type KubeObject } from "../../api/mod.ts";
import type { InstallPlan } from "./install_plan.ts";
import type { Crd } from "../../schema/mod.ts";
import { type WebhookAddress, type WebhookConfigurations, webhookConfigurations } from "../../webhook/mod.ts";
import { crdsOf, webhookServiceName } from "../command/mod.ts";

/** The ports of a Pod. */
const ports = { probes: 8081, metrics: 8443, loopbackMetrics: 8080, webhooks: 9443 } as const;

const certDir = "/certs";
/** The user `nonroot` of the distroless images; every user except 0 works. */
const userId = 65532;
/** The time that `run` needs to stop: 30 s for reconciles, and for webhooks 5 s to drain and 10 s to respond. */
const terminationSeconds = 60;

/** The labels of all objects. */
export function labelsOf({ operator, name, version }: InstallPlan): Readonly<Record<string, string>> {
  const shown = version.replaceAll(/[^A-Za-z0-9_.-]/g, "-").slice(0, 63);
  return { ...selectorOf({ operator, name }), "app.kubernetes.io/version": shown };
}

/** The labels that select the Pods. */
function selectorOf({ operator, name }: Pick<InstallPlan, "operator" | "name">) {
  return { "app.kubernetes.io/name": operator.name, "app.kubernetes.io/instance": name };
}

/** The metadata of an object in the operator's namespace. */
export function metadataOf(plan: InstallPlan, name = plan.name) {
  return { name, namespace: plan.namespace, labels: labelsOf(plan) };
}

/** Returns the namespace, if it belongs to the operator. */
export function namespaceObject(plan: InstallPlan): readonly KubeObject[] {
  if (!plan.hasNamespace) return [];
  const labels = { ...labelsOf(plan), "pod-security.kubernetes.io/enforce": "restricted" };
  return [{ apiVersion: "v1", kind: "Namespace", metadata: { name: plan.namespace, labels } }];
}

/** Returns the workload and the objects that protect it. */
export function workloadObjects(plan: InstallPlan): readonly KubeObject[] {
  return [...metricsService(plan), networkPolicy(plan), ...disruptionBudget(plan), deployment(plan)];
}

function deployment(plan: InstallPlan): builtin.Deployment {
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: metadataOf(plan),
    spec: {
      replicas: plan.replicas,
      selector: { matchLabels: selectorOf(plan) },
      template: { metadata: { labels: labelsOf(plan) }, spec: podSpec(plan) },
    },
  };
}

type PodSpec = NonNullable<builtin.Deployment["spec"]["template"]["spec"]>;
type Container = PodSpec["containers"][number];

function podSpec(plan: InstallPlan): PodSpec {
  const { name, certSecret } = plan;
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
    terminationGracePeriodSeconds: terminationSeconds,
    containers: [container(plan)],
    ...(certSecret === undefined
      ? {}
      : { volumes: [{ name: "certs", secret: { secretName: certSecret, defaultMode: 0o440 } }] }),
  };
}

function container(plan: InstallPlan): Container {
  const { image, certSecret, webhooks, operator } = plan;
  const { livenessName = "healthz", readinessName = "readyz" } = operator.endpoints ?? {};
  const probe = (name: string) => ({ httpGet: { path: `/${name}`, port: "probes" } });
  return {
    name: "controller",
    image,
    args: argumentsOf(plan),
    ports: [
      portOf("probes"),
      ...(certSecret === undefined ? [] : [portOf("metrics")]),
      ...(webhooks.length === 0 ? [] : [portOf("webhooks")]),
    ],
    livenessProbe: { ...probe(livenessName), initialDelaySeconds: 15, periodSeconds: 20 },
    readinessProbe: { ...probe(readinessName), periodSeconds: 5 },
    resources: { requests: { cpu: "10m", memory: "64Mi" }, limits: { cpu: "1", memory: "512Mi" } },
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    },
    ...(certSecret === undefined ? {} : { volumeMounts: [{ name: "certs", mountPath: certDir, readOnly: true }] }),
  };
}

function portOf(name: keyof typeof ports) {
  return { name, containerPort: ports[name], protocol: "TCP" } as const;
}

/** The arguments of the program in the image. */
function argumentsOf(plan: InstallPlan): string[] {
  const { controllers, name, watched, certSecret, webhooks, runFlags } = plan;
  const metrics = certSecret === undefined ? `127.0.0.1:${ports.loopbackMetrics}` : `:${ports.metrics}`;
  return [
    "run",
    // By name, even when these are all controllers: a later image may have one more, without permissions.
    ...controllers.map((controller) => controller.name),
    ...watched.map((namespace) => `--namespace=${namespace}`),
    "--leader-elect",
    `--leader-election-id=${name}`,
    `--health-probe-bind-address=:${ports.probes}`,
    `--metrics-bind-address=${metrics}`,
    ...(webhooks.length === 0 ? [] : [`--webhook-port=${ports.webhooks}`]),
    ...(certSecret === undefined ? [] : [`--cert-dir=${certDir}`]),
    "--log-format=json",
    ...runFlags,
  ];
}

function metricsService(plan: InstallPlan): readonly builtin.Service[] {
  if (plan.certSecret === undefined) return [];
  return [{
    apiVersion: "v1",
    kind: "Service",
    metadata: metadataOf(plan, `${plan.name}-metrics`),
    spec: {
      selector: selectorOf(plan),
      ports: [{ name: "metrics", port: ports.metrics, targetPort: "metrics", protocol: "TCP" }],
    },
  }];
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
        ...(plan.certSecret === undefined ? [] : [{
          ports: open(ports.metrics),
          from: [{ namespaceSelector: { matchLabels: { metrics: "enabled" } } }],
        }]),
      ],
    },
  };
}

function disruptionBudget(plan: InstallPlan): readonly builtin.PodDisruptionBudget[] {
  if (plan.replicas < 2) return [];
  return [{
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: metadataOf(plan),
    spec: { minAvailable: 1, selector: { matchLabels: selectorOf(plan) } },
  }];
}

/** Returns the objects of the webhooks; none when there are no webhooks. */
export function webhookObjects(plan: InstallPlan): readonly KubeObject[] {
  const { webhooks, operator, certSecret } = plan;
  if (webhooks.length === 0) return [];
  const name = webhookServiceName(operator.name);
  const { mutating, validating } = configurationsOf(plan);
  const labels = labelsOf(plan);
  return [
    service(plan, name),
    ...(certSecret === undefined ? [secret(plan, name)] : []),
    ...[mutating, validating].flatMap((configuration) =>
      configuration === undefined
        ? []
        : [{ ...configuration, metadata: { ...configuration.metadata, labels: { ...labels } } }]
    ),
  ];
}

/** Returns the definitions of the controllers' kinds, with their conversion webhooks. */
export function crdObjects(plan: InstallPlan): readonly Crd[] {
  return crdsOf(plan.controllers, addressOf(plan));
}

function configurationsOf(plan: InstallPlan): WebhookConfigurations {
  return webhookConfigurations(plan.webhooks, { name: plan.operator.name, address: addressOf(plan) });
}

function addressOf({ operator, namespace }: InstallPlan): WebhookAddress {
  return { kind: "service", namespace, name: webhookServiceName(operator.name) };
}

function service(plan: InstallPlan, name: string): builtin.Service {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: metadataOf(plan, name),
    spec: {
      selector: selectorOf(plan),
      ports: [{ name: "webhooks", port: 443, targetPort: "webhooks", protocol: "TCP" }],
    },
  };
}

/**
 * The Secret for managed certificates. It has no data: the controllers fill it, and a later apply must not remove that. It
 * exists from the start, so that the controllers need no permission to create Secrets, which RBAC cannot limit to a name.
 */
function secret(plan: InstallPlan, name: string): KubeObject & { readonly type: string } {
  return { apiVersion: "v1", kind: builtin.Secret.kind, metadata: metadataOf(plan, name), type: "Opaque" };
}
