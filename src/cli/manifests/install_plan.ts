/**
 * InstallPlan: what `manifests` prints, derived from its flags: names, namespaces and permissions. Flags that contradict each
 * other are rejected here.
 */
import { type Toleration, UsageError } from "../flags/mod.ts";
import { namespaceProblem, resourceName } from "../../api/mod.ts";
import { type AccessGrant, controllerGrants, type OperatorController } from "../../manager/mod.ts";
import { serviceAccountUser, type Webhook, type WebhookAddress } from "../../webhook/mod.ts";
import {
  crdsOf,
  defaultNamespace,
  type Operator,
  selectNamedOrAll,
  type Session,
  webhookConfigurationName,
  webhookServiceName,
} from "../command/mod.ts";
import type { ClusterSource } from "../clusters/mod.ts";
import type { ManifestFlags } from "./manifest_flags.ts";
import type { RunConfig } from "./run_config.ts";

/** What to install, where, and under which names. */
export interface InstallPlan {
  readonly operator: Operator;
  readonly version: string;
  readonly controllers: readonly OperatorController[];
  readonly webhooks: readonly Webhook[];
  /** The name of all objects in namespaces, and of the Lease. */
  readonly name: string;
  /** The name of the ClusterRole and its binding. It contains the namespace: another one may have an installation, too. */
  readonly clusterName: string;
  /** True when the API server itself checks the rules of webhooks. */
  readonly hasAdmissionPolicies: boolean;
  /** The name of the webhook configurations. */
  readonly webhookConfiguration: string;
  /** The namespace that the controllers run in. */
  readonly namespace: string;
  /** True when the manifests contain the namespace. An existing one may have labels of others, and is left alone. */
  readonly hasNamespace: boolean;
  readonly image: string;
  readonly replicas: number;
  /** The watched namespaces; empty: those of the controllers' options, else all. */
  readonly watched: readonly string[];
  /** The taints of Nodes that the Pods tolerate. */
  readonly tolerations: readonly Toleration[];
  /** True when the manifests contain a ServiceMonitor. */
  readonly hasServiceMonitor: boolean;
  /** True when they also contain alerts and a dashboard. */
  readonly hasMonitoring: boolean;
  /** Labels of what the Prometheus operator reads, by which a Prometheus selects it. */
  readonly monitoringLabels: Readonly<Record<string, string>>;
  /** The page whose sections say what to do about each alert. */
  readonly runbookUrl: string;
  /** Name of the Secret with your own certificates. */
  readonly certSecret?: string;
  /** The folder where the platform mounts the certificates of the webhooks. @default none, they come from elsewhere */
  readonly mountedCertDir?: string;
  /** Address ranges that may call webhooks; empty: all. */
  readonly webhookFrom: readonly string[];
  /** Where the clusters of the fleet are listed; undefined: there is one cluster. */
  readonly clusters?: ClusterSource;
  /** Further flags of `run`. */
  readonly runFlags: readonly string[];
  /** The configuration file of `run`; undefined: there is none. */
  readonly runConfig?: RunConfig;
}

/** Namespaces that never belong to one operator. */
const sharedNamespace = /^(default|kube-.*)$/;

/** The arguments of the command, and the files that it has read. */
export interface PlanInput {
  readonly positionals: readonly string[];
  readonly flags: ManifestFlags;
  readonly session: Session;
  /** @default there is no configuration file */
  readonly runConfig?: RunConfig;
}

/** Creates the plan. @throws UsageError when the flags contradict each other */
export function createInstallPlan({ positionals: words, flags, session, runConfig }: PlanInput): InstallPlan {
  const { operator, version } = session;
  const all = flags.all || words.length === 0;
  const controllers = selectNamedOrAll({ operator, names: words, all, action: "run" });
  const { namespace = namespaceOf(operator), certSecret, webhookFrom } = flags;
  const name = checkedName(flags.name ?? nameOf(operator, controllers));
  const watched = watchedNamespaces(flags, namespace);
  const plan: InstallPlan = {
    operator,
    version,
    controllers,
    webhooks: controllers.flatMap((controller) => controller.webhooks ?? []),
    name,
    clusterName: `${name}.${namespace}`,
    hasAdmissionPolicies: flags.admissionPolicies,
    webhookConfiguration: flags.webhookConfiguration ?? webhookConfigurationName(operator.name, namespace),
    namespace,
    hasNamespace: hasNamespace(flags, namespace),
    image: flags.image ?? `${operator.name}:${version}`,
    replicas: flags.replicas,
    watched,
    tolerations: [
      ...controllers.some((controller) => writesNodes(controller, watched)) ? nodeWriterTolerations : [],
      ...flags.toleration,
    ],
    hasServiceMonitor: flags.serviceMonitor || flags.monitoring,
    hasMonitoring: flags.monitoring,
    monitoringLabels: Object.fromEntries(flags.monitoringLabel),
    runbookUrl: flags.runbookUrl,
    certSecret,
    webhookFrom,
    clusters: flags.clusters,
    runFlags: flags.runFlag,
    runConfig,
  };
  assertRunFlags(flags.runFlag);
  assertMonitoring(flags);
  assertPolicies(plan);
  crdsOf(controllers); // a kind that nothing converts is refused
  if (plan.watched.length > 0) assertNamespaced(plan);
  return plan;
}

function assertPolicies({ hasAdmissionPolicies, webhooks }: InstallPlan): void {
  if (!hasAdmissionPolicies || webhooks.some((webhook) => "rules" in webhook && (webhook.rules ?? []).length > 0)) {
    return;
  }
  throw new UsageError(
    "Cannot print admission policies: no webhook has rules",
    "Leave --admission-policies out, or give rules to validating()",
  );
}

/** A namespace that the command line names may exist already, so that it is printed only on demand. */
function hasNamespace(
  { createNamespace, existingNamespace, namespace: given }: ManifestFlags,
  namespace: string,
): boolean {
  if (createNamespace && existingNamespace) {
    throw new UsageError(
      "Cannot make manifests: both --create-namespace and --existing-namespace are given",
      "Leave one of them out",
    );
  }
  if (createNamespace && sharedNamespace.test(namespace)) {
    throw new UsageError(
      `Cannot create the namespace "${namespace}": it belongs to the cluster`,
      "Leave --create-namespace out",
    );
  }
  return createNamespace || (!existingNamespace && given === undefined);
}

/** True when the controllers run with a flag, given by its name, or by its key in the configuration file. */
export function runsWith({ runFlags, runConfig }: InstallPlan, longName: string, key: string): boolean {
  return runFlags.some((flag) => flag === longName || flag.startsWith(`${longName}=`)) ||
    runConfig?.keys.has(key) === true;
}

/** The user name of the controllers. */
export function ownUserOf({ namespace, name }: InstallPlan): string {
  return serviceAccountUser({ namespace, name });
}

/** The address at which the API server calls the webhooks. */
export function webhookAddressOf({ operator, namespace }: InstallPlan): WebhookAddress & { readonly kind: "service" } {
  return { kind: "service", namespace, name: webhookServiceName(operator.name) };
}

/**
 * The tolerations of controllers that write Nodes: they may set any taint, also on the Nodes of their own Pods, which must
 * start there again to take it back. The first two are those that the API server adds to every Pod; without them, a Pod
 * would never leave a Node that has failed, because the first matching toleration counts.
 */
const nodeWriterTolerations: readonly Toleration[] = [
  { key: "node.kubernetes.io/not-ready", operator: "Exists", effect: "NoExecute", tolerationSeconds: 300 },
  { key: "node.kubernetes.io/unreachable", operator: "Exists", effect: "NoExecute", tolerationSeconds: 300 },
  { operator: "Exists", effect: "NoSchedule" },
  { operator: "Exists", effect: "NoExecute" },
];

function writesNodes(controller: OperatorController, watched: readonly string[]): boolean {
  const isWrite = ({ rule: { group, resource, verbs } }: AccessGrant) =>
    group === "" && resource === "nodes" && verbs.some((verb) => ["create", "update", "patch"].includes(verb));
  return controllerGrants(controller, { namespaces: watched }).some(isWrite);
}

function nameOf(operator: Operator, controllers: readonly OperatorController[]): string {
  const isAll = controllers.length === operator.controllers.length;
  return isAll ? operator.name : [operator.name, ...controllers.map(({ name }) => name)].join("-");
}

function watchedNamespaces({ namespaced, watchNamespace }: ManifestFlags, own: string): readonly string[] {
  if (namespaced && watchNamespace.length > 0) {
    throw new UsageError(
      "Cannot make manifests: both --namespaced and --watch-namespace are given",
      `To watch the namespace of the controllers and others, add --watch-namespace ${own}`,
    );
  }
  const watched = namespaced ? [own] : watchNamespace;
  return [...new Set(watched)];
}

/** The default namespace. The name of an operator is not limited, that of a namespace is. */
function namespaceOf({ name }: Operator): string {
  const namespace = defaultNamespace(name);
  const problem = namespaceProblem(namespace);
  if (problem === undefined) return namespace;
  throw new UsageError(`Cannot use the namespace "${namespace}": ${problem}`, "Choose another one with --namespace");
}

/** Checks a name. Most objects are called by it, some with a suffix. */
function checkedName(name: string): string {
  if (/^[a-z]([-a-z0-9]{0,48}[a-z0-9])?$/.test(name)) return name;
  throw new UsageError(
    `Cannot parse --name "${name}": it is not a name of at most 50 lower case letters, digits and "-"`,
  );
}

function assertRunFlags(runFlags: readonly string[]): void {
  const odd = runFlags.find((flag) => !flag.startsWith("-"));
  if (odd === undefined) return;
  throw new UsageError(`Cannot parse --run-flag "${odd}": it is not a flag`, "Example: --run-flag=--workers=4");
}

function assertMonitoring({ serviceMonitor, monitoring, certSecret, output, monitoringLabel }: ManifestFlags): void {
  if (monitoringLabel.length > 0 && !serviceMonitor && !monitoring) {
    throw new UsageError(
      "Cannot set --monitoring-label: nothing is printed that has it",
      "Add --monitoring or --service-monitor",
    );
  }
  // In a bundle, the certificate of the webhooks is used.
  if (certSecret !== undefined || (monitoring && output === "olm")) return;
  if (!serviceMonitor && !monitoring) return;
  throw new UsageError(
    `Cannot make ${monitoring ? "the objects of --monitoring" : "a ServiceMonitor"}: ` +
      "without certificates, the metrics are served inside of the Pod only",
    "Add --cert-secret",
  );
}

/** Rejects what needs permissions on the whole cluster. */
function assertNamespaced({ controllers, webhooks, certSecret }: InstallPlan): void {
  for (const { name, watches, permissions } of controllers) {
    const clusterScoped = [...watches, ...permissions].find(({ resource }) => resource.scope === "Cluster");
    if (clusterScoped === undefined) continue;
    throw new UsageError(
      `Cannot restrict "${name}" to namespaces: it uses ${
        resourceName(clusterScoped.resource)
      }, which have no namespace`,
      "Leave --namespaced and --watch-namespace out, or name other controllers",
    );
  }
  if (webhooks.length > 0) {
    throw new UsageError("Cannot restrict webhooks to namespaces: their configurations apply to the whole cluster");
  }
  if (certSecret !== undefined) {
    throw new UsageError(
      "Cannot serve metrics to the cluster with Roles only: the review of requests needs a ClusterRole",
      "Leave --cert-secret out",
    );
  }
}
