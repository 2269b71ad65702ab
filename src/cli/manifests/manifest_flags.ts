/** The flags of `manifests`. */
import { z } from "zod";
import { clustersFlag } from "../clusters/mod.ts";
import {
  addressRange,
  commandLineOnly,
  flag,
  label,
  namespaceName,
  objectName,
  oneOf,
  text,
  toleration,
  wholeNumber,
} from "../flags/mod.ts";

/** The flags. */
export const manifestFlags = z.object({
  all: flag(z.boolean().default(false), {
    ...commandLineOnly,
    flags: "--all",
    about: "run all controllers, as without names",
  }),
  namespace: flag(namespaceName().optional(), {
    flags: "-n, --namespace <name>",
    about: "namespace that the controllers run in (default: NAME-system)",
    completes: "namespace",
  }),
  createNamespace: flag(z.boolean().default(false), {
    ...commandLineOnly,
    flags: "--create-namespace",
    about: "also print the namespace that --namespace names; without --namespace, NAME-system is printed",
  }),
  existingNamespace: flag(z.boolean().default(false), {
    ...commandLineOnly,
    flags: "--existing-namespace",
    about: "do not print NAME-system either: it exists already",
  }),
  image: flag(text().optional(), {
    flags: "--image <image>",
    about: "container image (default: NAME:VERSION)",
    example: "--image registry.example.com/team/operator:1.2.3",
  }),
  name: flag(text().optional(), {
    ...commandLineOnly,
    flags: "--name <name>",
    about: "name of all objects and of the lease (default: the program's, and the names of selected controllers)",
  }),
  clusters: clustersFlag,
  replicas: flag(wholeNumber(1, 100).prefault("2"), {
    ...commandLineOnly,
    flags: "--replicas <count>",
    about: "number of Pods; one of them reconciles, the others wait",
  }),
  namespaced: flag(z.boolean().default(false), {
    ...commandLineOnly,
    flags: "--namespaced",
    about: "watch only the namespace that the controllers run in: Roles instead of ClusterRoles",
  }),
  watchNamespace: flag(z.array(namespaceName()).default([]), {
    ...commandLineOnly,
    flags: "--watch-namespace <name>",
    about: "watch only this namespace; can be repeated; Roles instead of ClusterRoles",
    arity: "list",
    completes: "namespace",
  }),
  toleration: flag(z.array(toleration()).default([]), {
    ...commandLineOnly,
    flags: "--toleration <taint>",
    about:
      "taint that the Pods tolerate, KEY[=VALUE][:EFFECT]; can be repeated; all taints, where controllers write Nodes",
    arity: "list",
    example: "--toleration dedicated=operators:NoSchedule",
  }),
  certSecret: flag(objectName().optional(), {
    ...commandLineOnly,
    flags: "--cert-secret <name>",
    about: "Secret with tls.crt and tls.key for webhooks and metrics; needed to serve metrics to the cluster",
  }),
  serviceMonitor: flag(z.boolean().default(false), {
    ...commandLineOnly,
    flags: "--service-monitor",
    about: "also print a ServiceMonitor for the Prometheus operator; needs --cert-secret",
  }),
  monitoring: flag(z.boolean().default(false), {
    ...commandLineOnly,
    flags: "--monitoring",
    about: "also print a ServiceMonitor, alerts (PrometheusRule) and a Grafana dashboard; needs --cert-secret",
  }),
  monitoringLabel: flag(z.array(label()).default([]), {
    ...commandLineOnly,
    flags: "--monitoring-label <label>",
    about:
      "label KEY=VALUE of the ServiceMonitor and the alerts, by which your Prometheus selects them; can be repeated",
    arity: "list",
    example: "--monitoring-label release=kube-prometheus-stack",
  }),
  runbookUrl: flag(text().default("https://pintle.dev/guide/production.html"), {
    ...commandLineOnly,
    flags: "--runbook-url <url>",
    about: "page that the alerts link to; its sections are called as the alerts",
    example: "--runbook-url https://wiki.example.com/operator",
  }),
  webhookConfiguration: flag(objectName().optional(), {
    ...commandLineOnly,
    flags: "--webhook-configuration <name>",
    about: "name of the webhook configurations (default: NAME.NAMESPACE)",
  }),
  admissionPolicies: flag(z.boolean().default(false), {
    ...commandLineOnly,
    flags: "--admission-policies",
    about: "print the rules of validating webhooks as ValidatingAdmissionPolicies; functions stay with the webhooks",
  }),
  webhookFrom: flag(z.array(addressRange()).default([]), {
    ...commandLineOnly,
    flags: "--webhook-from <cidr>",
    about: "address range that may call the webhooks, that of the API servers; can be repeated",
    arity: "list",
    example: "--webhook-from 10.0.0.0/28",
  }),
  runFlag: flag(z.array(text()).default([]), {
    ...commandLineOnly,
    flags: "--run-flag <flag>",
    about: "further flag of run; can be repeated",
    arity: "list",
    example: "--run-flag=--workers=4",
  }),
  runConfig: flag(text().optional(), {
    ...commandLineOnly,
    flags: "--run-config <path>",
    about: "configuration file of run, which becomes a ConfigMap that the Pods mount",
    example: "--run-config controller.yaml",
    completes: "file",
  }),
  includeCrds: flag(z.boolean().default(false), {
    ...commandLineOnly,
    flags: "--include-crds",
    about: "also print the custom resource definitions, instead of installing them with install-crds",
  }),
  output: flag(oneOf(["yaml", "json", "kustomize", "helm", "olm"]).prefault("yaml"), {
    ...commandLineOnly,
    flags: "-o, --output <format>",
    about: "yaml or json; or a package: a base for kustomize, a chart for helm, a bundle for olm",
  }),
  outputDir: flag(text().optional(), {
    ...commandLineOnly,
    flags: "--output-dir <path>",
    about: "write files into this folder; a package needs one. It replaces its own files only",
    completes: "directory",
  }),
});

/** The values of the flags. */
export type ManifestFlags = z.output<typeof manifestFlags>;
