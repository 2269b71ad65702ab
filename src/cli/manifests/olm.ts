/**
 * The files of `manifests -o olm`: a bundle for the Operator Lifecycle Manager, which makes the account, the permissions, the
 * webhook configurations and the certificates itself, from the ClusterServiceVersion.
 *
 * Caveats: its webhook configurations have no matchConditions, and select the namespaces of the OperatorGroup. Rules for other
 * namespaces than the operator's own become rules for the whole cluster. A NetworkPolicy is not part of the bundle: OLM v1,
 * and OLM v0 before the middle of 2025, refuse a bundle that contains one.
 */
import type { KubeObject, PolicyRule } from "../../api/mod.ts";
import type { AdmissionWebhook, Webhook } from "../../webhook/mod.ts";
import { formatObjects, formatValue } from "../output/mod.ts";
import { UsageError } from "../flags/mod.ts";
import { crdsOf } from "../command/mod.ts";
import type { Crd } from "../../schema/mod.ts";
import { metricsReader, rulesOf } from "./access.ts";
import { isSemantic } from "./helm.ts";
import type { InstallPlan } from "./install_plan.ts";
import { monitoringObjects } from "./monitoring_objects.ts";
import { ownedKinds } from "./olm_kinds.ts";
import { scorecardConfiguration, scorecardFolder, scorecardLabels } from "./olm_scorecard.ts";
import { generatedComment, type PackageFile } from "./output_folder.ts";
import { deployment, disruptionBudget, labelsOf, metricsService, ports, runConfigMap } from "./workload.ts";

/** The folders of a bundle; all files in them are generated. */
export const olmFolders = ["manifests", "metadata", scorecardFolder] as const;

/** Where the manager mounts the certificate of the webhooks. */
const mountedCertDir = "/tmp/k8s-webhook-server/serving-certs";

/** Kubernetes 1.30 has the rules of the kinds that the definitions use. */
const minKubeVersion = "1.30.0";

/** Returns the files. @throws UsageError when the flags ask for what the manager decides */
export function olmFiles(given: InstallPlan): readonly PackageFile[] {
  assertBundle(given);
  const plan = given.webhooks.length === 0 ? given : { ...given, mountedCertDir };
  const labels = labelsOfBundle(plan.name);
  const annotations = { annotations: labels };
  const crds = crdsOf(plan.controllers).map((crd) => ({ ...crd, spec: { ...crd.spec, conversion: undefined } }));
  const objects = [
    ...crds.map(withoutUndefined),
    ...[
      ...disruptionBudget(plan),
      ...metricsService(plan),
      ...metricsReader(plan),
      ...runConfigMap(plan),
      ...monitoringObjects(plan),
    ]
      .map(withoutNamespace),
  ];
  return [
    {
      path: `manifests/${plan.name}.clusterserviceversion.yaml`,
      text: generatedComment + formatObjects([serviceVersion(plan)], "yaml"),
    },
    ...objects.map((object) => ({
      path: `manifests/${object.metadata.name}.${object.kind.toLowerCase()}.yaml`,
      text: generatedComment + formatObjects([object], "yaml"),
    })),
    { path: "metadata/annotations.yaml", text: generatedComment + formatValue(annotations, "yaml") },
    {
      path: `${scorecardFolder}/config.yaml`,
      text: generatedComment + formatValue(scorecardConfiguration(), "yaml"),
    },
    { path: "bundle.Dockerfile", text: generatedComment + dockerfile(labels) },
  ];
}

function assertBundle(plan: InstallPlan): void {
  const { certSecret, watched, version, hasMonitoring, webhooks, hasAdmissionPolicies } = plan;
  if (hasAdmissionPolicies) {
    throw new UsageError(
      "Cannot make a bundle with --admission-policies: the Operator Lifecycle Manager installs no admission policies",
      "Leave --admission-policies out",
    );
  }
  if (watched.length > 0) {
    throw new UsageError(
      "Cannot make a bundle: it is installed in any namespace, and --namespaced or --watch-namespace names some",
      "Leave them out",
    );
  }
  if (certSecret !== undefined) {
    throw new UsageError(
      "Cannot make a bundle with --cert-secret: the Operator Lifecycle Manager mounts the certificates of the webhooks",
      "Leave --cert-secret out",
    );
  }
  if (hasMonitoring && webhooks.length === 0) {
    throw new UsageError(
      "Cannot make a bundle with --monitoring: the Operator Lifecycle Manager makes certificates for webhooks only, and " +
        "without one, the metrics are served inside of the Pod only",
      "Leave --monitoring out",
    );
  }
  if (!isSemantic(version)) {
    throw new UsageError(
      `Cannot make a bundle: the version "${version}" of this program is not a semantic version`,
      "Set it in operatorCli(), such as 1.2.3",
    );
  }
}

/** JSON has no undefined. */
function withoutUndefined(crd: Crd): Crd {
  return JSON.parse(JSON.stringify(crd));
}

/** The manager installs the objects in the namespace of the operator. */
function withoutNamespace(object: KubeObject): KubeObject {
  const { namespace: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

function serviceVersion(plan: InstallPlan): KubeObject {
  const { name, operator, version, controllers, image, namespace } = plan;
  const number = version.replace(/^v/, "");
  const owned = new Set(
    crdsOf(controllers).flatMap(({ spec: { group, names, versions } }) =>
      versions.map(({ name }) => `${group}/${name} ${names.kind}`)
    ),
  );
  const samples = controllers.flatMap((controller) => controller.samples ?? [])
    .filter(({ apiVersion, kind }) => owned.has(`${apiVersion} ${kind}`));
  const title = operator.description ?? `The controllers of ${operator.name}`;
  const metadata = {
    name: `${name}.v${number.replaceAll("+", "-")}`,
    annotations: {
      "alm-examples": JSON.stringify(samples, undefined, 2),
      capabilities: "Basic Install",
      containerImage: image,
      description: title,
      "operatorframework.io/suggested-namespace": namespace,
    },
    labels: labelsOf(plan),
  };
  const spec = {
    displayName: operator.name,
    description: title,
    version: number,
    minKubeVersion,
    maturity: "alpha",
    provider: { name: operator.name },
    installModes: ["OwnNamespace", "SingleNamespace", "MultiNamespace", "AllNamespaces"]
      .map((type) => ({ type, supported: type === "AllNamespaces" })),
    install: { strategy: "deployment", spec: installOf(plan) },
    customresourcedefinitions: { owned: ownedKinds(controllers) },
    ...plan.webhooks.length === 0
      ? {}
      : { webhookdefinitions: plan.webhooks.filter(isCalled).map((webhook) => webhookOf(webhook, plan)) },
  };
  return Object.assign({ apiVersion: "operators.coreos.com/v1alpha1", kind: "ClusterServiceVersion", metadata }, {
    spec,
  });
}

function installOf(plan: InstallPlan): object {
  const { name: serviceAccountName, namespace: own } = plan;
  const rules = (isOwn: boolean): readonly PolicyRule[] =>
    rulesOf(plan).flatMap(([namespace, rules]) => (namespace === own) === isOwn ? rules : []);
  const { metadata: { name }, spec } = deployment(plan);
  return {
    deployments: [{ name, label: labelsOf(plan), spec }],
    permissions: [{ serviceAccountName, rules: rules(true) }],
    clusterPermissions: [{ serviceAccountName, rules: rules(false) }],
  };
}

/** False for a webhook without operations, which the API server would reject. */
function isCalled(webhook: Webhook): boolean {
  return webhook.kind === "converting" || webhook.operations.length > 0;
}

function webhookOf(webhook: Webhook, { name: deploymentName }: InstallPlan): object {
  const common = { admissionReviewVersions: ["v1"], deploymentName, containerPort: 443, targetPort: ports.webhooks };
  if (webhook.kind !== "converting") return { ...common, ...admissionOf(webhook) };
  const { resource: { plural, group }, path } = webhook;
  const crd = `${plural}.${group}`;
  return {
    ...common,
    type: "ConversionWebhook",
    generateName: `convert.${crd}`,
    conversionCRDs: [crd],
    sideEffects: "None",
    webhookPath: path,
  };
}

function admissionOf({ kind, name, resource, operations, path, timeoutSeconds, options }: AdmissionWebhook): object {
  const { failurePolicy = "Fail", matchPolicy = "Equivalent", sideEffects = "None", subresources = [] } = options;
  const { objectSelector, reinvocationPolicy = "IfNeeded" } = options;
  return {
    type: kind === "mutating" ? "MutatingAdmissionWebhook" : "ValidatingAdmissionWebhook",
    generateName: name,
    ...{ failurePolicy, matchPolicy, sideEffects, timeoutSeconds, webhookPath: path },
    rules: [{
      apiGroups: [resource.group],
      apiVersions: [resource.version],
      operations,
      resources: [resource.plural, ...subresources.map((part) => `${resource.plural}/${part}`)],
      scope: resource.scope,
    }],
    ...objectSelector === undefined ? {} : { objectSelector },
    ...kind === "mutating" ? { reinvocationPolicy } : {},
  };
}

function labelsOfBundle(name: string): Readonly<Record<string, string>> {
  const prefix = "operators.operatorframework.io.bundle";
  return {
    [`${prefix}.mediatype.v1`]: "registry+v1",
    [`${prefix}.manifests.v1`]: "manifests/",
    [`${prefix}.metadata.v1`]: "metadata/",
    [`${prefix}.package.v1`]: name,
    [`${prefix}.channels.v1`]: "stable",
    [`${prefix}.channel.default.v1`]: "stable",
    ...scorecardLabels,
  };
}

function dockerfile(labels: Readonly<Record<string, string>>): string {
  return [
    "FROM scratch",
    ...Object.entries(labels).map(([name, value]) => `LABEL ${name}=${value}`),
    "COPY manifests /manifests/",
    "COPY metadata /metadata/",
    `COPY ${scorecardFolder} /${scorecardFolder}/`,
    "",
  ].join("\n");
}
