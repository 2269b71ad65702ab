/**
 * The files of `manifests -o helm`: a chart whose values are what clusters differ in: image, replicas, resources, where Pods
 * run, further flags, the kinds and the ServiceMonitor. Everything else follows from the controllers and is fixed.
 *
 * Names are fixed, too: those without a namespace contain that of the release, so that a chart can be installed once in each
 * namespace. The templates are the objects as they are otherwise printed, with marks in the places of values, which
 * `templateOf` replaces by actions of Helm; so a chart with its default values equals the other formats.
 */
import type { KubeObject } from "../../api/mod.ts";
import type { Crd } from "../../schema/mod.ts";
import { formatObjects, formatValue } from "../output/mod.ts";
import { chartValues, valuesSchema, valuesText } from "./helm_values.ts";
import type { InstallPlan } from "./install_plan.ts";
import { fileNameOf, installedObjects } from "./objects.ts";
import { generatedComment, generatedMark, type PackageFile } from "./output_folder.ts";
import { crdObjects } from "./webhook_objects.ts";
import { checksumAnnotation, configMapName } from "./run_config.ts";
import { deployment, disruptionBudget, runConfigMap } from "./workload.ts";

/** The folders of a chart; all files in them are generated. */
export const helmFolders = [""] as const;

/** The namespace while the objects are made. It is replaced by that of the release, or the one that a value names. */
export const releaseNamespace = "namespace-of-the-release";

/** Kubernetes 1.30 has the conditions of webhooks. */
const kubeVersion = ">=1.30.0-0";

/** Returns the files. @param plan Made for {@link releaseNamespace} */
export function helmFiles(plan: InstallPlan): readonly PackageFile[] {
  const values = chartValues(plan);
  // The further flags are a value, and the budget and what reads metrics depend on values.
  const hasMetrics = plan.certSecret !== undefined;
  const fixed: InstallPlan = {
    ...plan,
    ...{ runFlags: [], replicas: 2, hasServiceMonitor: hasMetrics, hasMonitoring: hasMetrics },
    monitoringLabels: { more: mark("labels", "monitoring.labels") },
  };
  const objects = installedObjects(fixed, { includeCrds: false });
  return [
    { path: "Chart.yaml", text: generatedComment + formatValue(chartOf(plan), "yaml") },
    { path: "values.yaml", text: `${generatedComment}\n${valuesText(values)}` },
    {
      path: "values.schema.json",
      text: formatValue({ $comment: generatedMark, ...valuesSchema(values) }, "json"),
    },
    ...objects.map((object) => ({
      path: `templates/${fileNameOf(object, plan.namespace)}`,
      text: generatedComment + objectTemplate(object, fixed),
    })),
    ...crdObjects(plan).map((crd) => ({
      path: `templates/${fileNameOf(crd, plan.namespace)}`,
      text: generatedComment + conditional(".Values.crds.enabled", templateOf(keptCrd(crd))),
    })),
  ];
}

function chartOf({ name, operator, version }: InstallPlan): object {
  return {
    apiVersion: "v2",
    name,
    description: operator.description ?? `The controllers of ${operator.name}`,
    type: "application",
    version: isSemantic(version) ? version.replace(/^v/, "") : "0.0.0-dev",
    appVersion: version,
    kubeVersion,
  };
}

/** True for `1.2.3` and `v1.2.3-rc.1`. */
export function isSemantic(version: string): boolean {
  return /^v?\d{1,9}\.\d{1,9}\.\d{1,9}(-[0-9A-Za-z.-]{1,64})?(\+[0-9A-Za-z.-]{1,64})?$/.test(version);
}

function objectTemplate(object: KubeObject, plan: InstallPlan): string {
  switch (object.kind) {
    case "Deployment":
      return templateOf(markedDeployment(plan));
    case "PodDisruptionBudget":
      return disruptionBudget(plan).map((budget) => conditional("gt (int .Values.replicas) 1", templateOf(budget)))
        .join("");
    case "ServiceMonitor":
      return conditional(".Values.serviceMonitor.enabled", templateOf(object));
    case "ConfigMap":
      if (object.metadata.name === configMapName(plan.name)) return templateOf(markedConfigMap(plan));
      return conditional(".Values.monitoring.enabled", templateOf(object));
    case "PrometheusRule":
      return conditional(".Values.monitoring.enabled", templateOf(object));
    default:
      return templateOf(object);
  }
}

function conditional(condition: string, template: string): string {
  return `{{- if ${condition} }}\n${template}{{- end }}\n`;
}

/**
 * The mark of a value. `value`: its text; `yaml`: its YAML; `with`: its YAML, or nothing; `labels`: its fields beside those of
 * the object; `each`: one item for each element.
 */
function mark(action: "value" | "yaml" | "with" | "labels" | "each", path: string): string {
  return `@@${action} ${path}@@`;
}

/** The Deployment with the marks of all values. */
function markedDeployment(plan: InstallPlan): KubeObject {
  const made = deployment(plan);
  const pod = made.spec.template.spec;
  if (pod === undefined) throw new TypeError("Cannot make a chart: the Deployment has no Pods");
  const containers = pod.containers.map((container) => ({
    ...container,
    image: mark("value", "image"),
    args: [...container.args ?? [], mark("each", "extraArgs")],
    resources: mark("yaml", "resources"),
  }));
  const spec = {
    ...pod,
    containers,
    imagePullSecrets: mark("with", "imagePullSecrets"),
    nodeSelector: mark("with", "nodeSelector"),
    tolerations: mark("with", "tolerations"),
    affinity: mark("with", "affinity"),
  };
  const annotations = plan.runConfig && { [checksumAnnotation]: mark("value", "runConfig.checksum") };
  const metadata = { ...made.spec.template.metadata, ...(annotations === undefined ? {} : { annotations }) };
  const template = { ...made.spec.template, metadata, spec };
  return Object.assign({}, made, { spec: { ...made.spec, replicas: mark("value", "replicas"), template } });
}

/** The configuration file of `run`, whose text is a value. */
function markedConfigMap(plan: InstallPlan): KubeObject {
  const [made] = runConfigMap(plan);
  if (made === undefined) throw new TypeError("Cannot make a chart: there is no configuration file");
  const data = Object.fromEntries(Object.keys(made.data ?? {}).map((name) => [name, mark("value", "runConfig")]));
  return Object.assign({}, made, { data });
}

/** The definition with the annotation that keeps it, and so all objects of its kind, when the release is uninstalled. */
function keptCrd(crd: Crd): Crd {
  const annotations = { ...crd.metadata.annotations, "helm.sh/resource-policy": mark("value", "crds.keep") };
  return { ...crd, metadata: { ...crd.metadata, annotations } };
}

/** How the text of a scalar value is made. */
const scalars: Readonly<Record<string, string>> = {
  image: '"{{ .Values.image.repository }}{{ with .Values.image.tag }}:{{ . }}{{ end }}' +
    '{{ with .Values.image.digest }}@{{ . }}{{ end }}"',
  replicas: "{{ .Values.replicas }}",
  runConfig: "{{ .Values.runConfig | quote }}",
  "runConfig.checksum": "{{ .Values.runConfig | sha256sum | quote }}",
};

const markedLine = /^( *)(?:([\w./-]+): |- )"?@@(value|yaml|with|labels|each) ([\w.]+)@@"?$/;

/** Prints an object as a template. What Helm would read as an action is escaped. */
function templateOf(object: object): string {
  const text = formatObjects([object], "yaml").replaceAll("{{", '{{ "{{" }}');
  const lines = text.split("\n").flatMap((line) => {
    const [, indent = "", key, action, path = ""] = markedLine.exec(line) ?? [];
    return action === undefined ? [inReleaseNamespace(line)] : markedLines({ indent, key: key ?? "", action, path });
  });
  if (lines.some((line) => line.includes("@@"))) throw new TypeError("Cannot make a chart: a value was not replaced");
  return lines.join("\n");
}

interface MarkedLine {
  readonly indent: string;
  readonly key: string;
  readonly action: string;
  /** The path of the value. */
  readonly path: string;
}

function markedLines({ indent, key, action, path }: MarkedLine): readonly string[] {
  const inner = indent.length + 2;
  switch (action) {
    case "value":
      return path === "crds.keep"
        ? [`${indent}{{- if .Values.crds.keep }}`, `${indent}${key}: keep`, `${indent}{{- end }}`]
        : [`${indent}${key}: ${scalars[path]}`];
    case "yaml":
      return [`${indent}${key}:`, `${indent}  {{- toYaml .Values.${path} | nindent ${inner} }}`];
    case "with":
      return [
        `${indent}{{- with .Values.${path} }}`,
        `${indent}${key}:`,
        `${indent}  {{- toYaml . | nindent ${inner} }}`,
        `${indent}{{- end }}`,
      ];
    case "labels":
      return [
        `${indent}{{- with .Values.${path} }}`,
        `${indent}{{- toYaml . | nindent ${indent.length} }}`,
        `${indent}{{- end }}`,
      ];
    default:
      return [`${indent}{{- range .Values.${path} }}`, `${indent}- {{ . | quote }}`, `${indent}{{- end }}`];
  }
}

/** Replaces the namespace. In quotes it stays text, whatever its name is. */
function inReleaseNamespace(line: string): string {
  if (!line.includes(releaseNamespace)) return line;
  const quoted = line.includes('"') ? line : line.replace(/^( *(?:- )*(?:[\w./-]+: )?)(.*)$/, '$1"$2"');
  return quoted.replaceAll(releaseNamespace, "{{ .Values.namespaceOverride | default .Release.Namespace }}");
}
