/**
 * The objects of `manifests --monitoring`: the ServiceMonitor, the alerts as a PrometheusRule of the Prometheus operator, and the
 * dashboard in a ConfigMap that the sidecar of Grafana's chart finds by its label.
 */
import type { KubeObject } from "../../api/mod.ts";
import type { InstallPlan } from "./install_plan.ts";
import { type Alert, alertsOf, type MonitoredTarget } from "./monitoring_alerts.ts";
import { dashboardOf } from "./monitoring_dashboard.ts";
import { exposesMetrics, labelsOf, metadataOf, metricsLabels, metricsServiceName } from "./workload.ts";

/** The label by which the sidecar of Grafana's chart finds dashboards. */
const dashboardLabel = { "grafana_dashboard": "1" } as const;

/** Returns what Prometheus and Grafana read. */
export function monitoringObjects(plan: InstallPlan): readonly KubeObject[] {
  return [...serviceMonitor(plan), ...plan.hasMonitoring ? [prometheusRule(plan), dashboard(plan)] : []];
}

/** Tells the Prometheus operator to collect the metrics, and by which certificate authority it knows them. */
function serviceMonitor(plan: InstallPlan): readonly KubeObject[] {
  const { hasServiceMonitor, operator } = plan;
  if (!hasServiceMonitor || !exposesMetrics(plan)) return [];
  const endpoint = {
    port: "metrics",
    path: operator.endpoints?.metricsPath ?? "/metrics",
    scheme: "https",
    bearerTokenFile: "/var/run/secrets/kubernetes.io/serviceaccount/token",
    tlsConfig: tlsConfigOf(plan),
  };
  const spec = { selector: { matchLabels: metricsLabels(plan) }, endpoints: [endpoint] };
  return [{
    apiVersion: "monitoring.coreos.com/v1",
    kind: "ServiceMonitor",
    metadata: foundMetadata(plan),
    ...{ spec },
  }];
}

function tlsConfigOf({ certSecret, name, namespace }: InstallPlan): object {
  if (certSecret !== undefined) {
    return {
      serverName: `${metricsServiceName(name)}.${namespace}.svc`,
      ca: { secret: { name: certSecret, key: "ca.crt" } },
    };
  }
  // The names that the Operator Lifecycle Manager gives the certificate of a Deployment with webhooks.
  return {
    serverName: `${name}-service.${namespace}.svc`,
    ca: { secret: { name: `${name}-service-cert`, key: "olmCAKey" } },
  };
}

function prometheusRule(plan: InstallPlan): KubeObject {
  const target = targetOf(plan);
  // An alert about series that are missing has no labels of its own.
  const labels = { operator: plan.name, ...target.namespace === undefined ? {} : { namespace: target.namespace } };
  const rules = alertsOf(target).map((alert) => ruleOf(alert, labels, plan.runbookUrl));
  const spec = { groups: [{ name: plan.name, rules }] };
  return { apiVersion: "monitoring.coreos.com/v1", kind: "PrometheusRule", metadata: foundMetadata(plan), ...{ spec } };
}

function ruleOf(alert: Alert, labels: Readonly<Record<string, string>>, runbookUrl: string): object {
  const { severity, summary, description } = alert;
  return {
    alert: alert.name,
    expr: alert.expr,
    for: alert.for,
    labels: { severity, ...labels },
    annotations: { summary, description, runbook_url: `${runbookUrl}#${alert.name.toLowerCase()}` },
  };
}

function dashboard(plan: InstallPlan): KubeObject {
  const { name, namespace } = plan;
  const metadata = metadataOf(plan, `${name}-dashboard`);
  const content = dashboardOf(isBundle(plan) ? name : `${name} (${namespace})`, targetOf(plan));
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { ...metadata, labels: { ...metadata.labels, ...dashboardLabel } },
    ...{ data: { [`${name}.json`]: `${JSON.stringify(content, undefined, 1)}\n` } },
  };
}

/** A Prometheus often reads only objects with certain labels. */
function foundMetadata(plan: InstallPlan): KubeObject["metadata"] {
  return { ...metadataOf(plan), labels: { ...labelsOf(plan), ...plan.monitoringLabels } };
}

function targetOf(plan: InstallPlan): MonitoredTarget {
  const { name, namespace, webhooks } = plan;
  const target = { job: metricsServiceName(name), hasWebhooks: webhooks.length > 0 };
  return isBundle(plan) ? target : { ...target, namespace };
}

/** A bundle is installed in any namespace. */
function isBundle({ mountedCertDir }: InstallPlan): boolean {
  return mountedCertDir !== undefined;
}
