/**
 * How the controllers run: Namespace, Deployment, PodDisruptionBudget, NetworkPolicy and the Service of their metrics.
 *
 * The Pods ask for nothing that the `restricted` Pod Security Standard forbids: no root, no privileges, nothing written
 * to their own file system.
 */
/* MERGED manifests_webhooks.ts
 * How the API server reaches webhooks: the Service in front of the Pods, the Secret that their certificates are kept in,
 * and the configurations. Authorities are not in there: the controllers publish those of the certificates that they make,
 * and those of `--cert-secret` are up to whoever fills it.
 */
import { builtin, type KubeObject } from "../../api/mod.ts";
import type { InstallPlan } from "./install_plan.ts";
import type { Crd } from "../../schema/mod.ts";
import { type WebhookConfigurations, webhookConfigurations } from "../../webhook/mod.ts";
import { crdsOf, webhookServiceName } from "../command/mod.ts";

/** The ports of a Pod. */
const ports = { probes: 8081, metrics: 8443, loopbackMetrics: 8080, webhooks: 9443 } as const;

const certDir = "/certs";
/** Of the user `nonroot` of the distroless images; any but 0 will do. */
const userId = 65532;
/** What `run` takes to end: 30 s of grace, and where webhooks are served 5 s until nobody calls and 10 s to answer. */
const terminationSeconds = 60;

/** On all objects. */
export function labelsOf({ operator, name, version }: InstallPlan): Readonly<Record<string, string>> {
  const shown = version.replaceAll(/[^A-Za-z0-9_.-]/g, "-").slice(0, 63);
  return { ...selectorOf({ operator, name }), "app.kubernetes.io/version": shown };
}

/** What tells the Pods from all others. */
function selectorOf({ operator, name }: Pick<InstallPlan, "operator" | "name">) {
  return { "app.kubernetes.io/name": operator.name, "app.kubernetes.io/instance": name };
}

/** Metadata of an object in the operator's namespace. */
export function metadataOf(plan: InstallPlan, name = plan.name) {
  return { name, namespace: plan.namespace, labels: labelsOf(plan) };
}

/** The namespace, if it belongs to the operator. */
export function namespaceObject(plan: InstallPlan): readonly KubeObject[] {
  if (!plan.hasNamespace) return [];
  const labels = { ...labelsOf(plan), "pod-security.kubernetes.io/enforce": "restricted" };
  return [{ apiVersion: "v1", kind: "Namespace", metadata: { name: plan.namespace, labels } }];
}

/** Everything that runs or keeps it running. */
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
    // Replicas that die together are of no use.
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
      { name: "probes", containerPort: ports.probes, protocol: "TCP" },
      ...(certSecret === undefined ? [] : [{ name: "metrics", containerPort: ports.metrics, protocol: "TCP" }]),
      ...(webhooks.length === 0 ? [] : [{ name: "webhooks", containerPort: ports.webhooks, protocol: "TCP" }]),
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

/** What the program in the image is called with. */
function argumentsOf(plan: InstallPlan): string[] {
  const { controllers, name, watched, certSecret, webhooks, runFlags } = plan;
  const metrics = certSecret === undefined ? `127.0.0.1:${ports.loopbackMetrics}` : `:${ports.metrics}`;
  return [
    "run",
    // By name, even if these are all: the image may have one more some day, and the roles have not.
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
 * Who may call the Pods: API servers their webhooks, and namespaces with the label `metrics: enabled` their metrics. The
 * kubelet's probes always come through. With no webhooks and no metrics nobody may.
 */
function networkPolicy(plan: InstallPlan): builtin.NetworkPolicy {
  const from = plan.webhookFrom.map((cidr) => ({ ipBlock: { cidr } }));
  const open = (port: number) => [{ port, protocol: "TCP" }];
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

/** Nothing where there are no webhooks. */
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

/** The definitions of the controllers' kinds; versions that a webhook converts go through it. */
export function crdObjects(plan: InstallPlan): readonly Crd[] {
  const { conversions } = configurationsOf(plan);
  return crdsOf(plan.controllers).map((crd) => {
    const conversion = conversions.get(crd.metadata.name);
    return conversion === undefined ? crd : { ...crd, spec: { ...crd.spec, conversion } };
  });
}

function configurationsOf({ webhooks, operator, namespace }: InstallPlan): WebhookConfigurations {
  const address = { kind: "service", namespace, name: webhookServiceName(operator.name) } as const;
  return webhookConfigurations(webhooks, { name: operator.name, address });
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
 * Empty, since that is all an apply may say about it: the controllers fill it. That it is there already saves them the
 * right to create Secrets, which RBAC cannot restrict to a name.
 */
function secret(plan: InstallPlan, name: string): KubeObject & { readonly type: string } {
  return { apiVersion: "v1", kind: builtin.Secret.kind, metadata: metadataOf(plan, name), type: "Opaque" };
}
