/** What `manifests --monitoring` prints, as tests read it: the alerts and the queries of the dashboard. */
import { operatorCli } from "../../src/cli/mod.ts";
import { TestProcess } from "../../src/cli/testing/test_process.ts";
import type { Operator } from "../../src/cli/command/operator.ts";
import { assertEquals } from "../testing.ts";

/** A rule of the PrometheusRule. */
export interface PrintedAlert {
  readonly alert: string;
  readonly expr: string;
  readonly for: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<"summary" | "description" | "runbook_url", string>>;
}

/** A panel of the dashboard; a row has no targets. */
export interface PrintedPanel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly datasource?: { readonly uid: string };
  readonly targets?: readonly { readonly refId: string; readonly expr: string; readonly legendFormat: string }[];
}

/** The dashboard. */
export interface PrintedDashboard {
  readonly title: string;
  readonly uid?: string;
  readonly panels: readonly PrintedPanel[];
  readonly templating: { readonly list: readonly PrintedVariable[] };
}

interface PrintedVariable {
  readonly name: string;
  readonly type: string;
  readonly query: string | { readonly query: string };
}

/** What monitors an installation. */
export interface PrintedMonitoring {
  readonly alerts: readonly PrintedAlert[];
  readonly dashboard: PrintedDashboard;
}

interface PrintedObject {
  readonly kind: string;
  readonly spec?: { readonly groups?: readonly { readonly rules: readonly PrintedAlert[] }[] };
  readonly data?: Readonly<Record<string, string>>;
}

/** Reads the output of `manifests --monitoring -o json`. */
export function readMonitoring(text: string): PrintedMonitoring {
  const { items }: { readonly items: readonly PrintedObject[] } = JSON.parse(text);
  const alerts = items.flatMap(({ spec }) => spec?.groups ?? []).flatMap(({ rules }) => rules);
  const [dashboard] = items.filter(({ kind }) => kind === "ConfigMap").flatMap(({ data }) => Object.values(data ?? {}));
  return { alerts, dashboard: JSON.parse(dashboard ?? "") };
}

/** Calls `manifests` of an operator in this process. */
export async function printMonitoring(operator: Operator, ...flags: readonly string[]): Promise<PrintedMonitoring> {
  const process = new TestProcess(["manifests", "--monitoring", "--cert-secret", "tls", "-o", "json", ...flags]);
  assertEquals([await operatorCli(operator, process), process.err], [0, ""]);
  return readMonitoring(process.out);
}

/** The queries of the panels and of the variables. */
export function queriesOf({ panels, templating }: PrintedDashboard): readonly string[] {
  const ofVariables = templating.list.flatMap(({ type, query }) => {
    const text = typeof query === "string" ? query : query.query;
    const [, metric] = /^label_values\((.+), \w+\)$/.exec(text) ?? [];
    return type === "query" && metric !== undefined ? [metric] : [];
  });
  return [...panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)), ...ofVariables];
}

/** A query with values for the variables of Grafana. */
export function withoutVariables(query: string): string {
  return query.replaceAll("$__rate_interval", "5m").replaceAll(/\$(?:job|namespace|controller|pod)\b/g, "x");
}

/** A metric that a query selects, and the labels by which it is selected. */
export interface SelectedMetric {
  readonly name: string;
  readonly labels: readonly string[];
}

/** The metrics of a query: all of our selectors have braces. */
export function metricsIn(query: string): readonly SelectedMetric[] {
  return [...query.matchAll(/([a-zA-Z_:][\w:]*)\{([^}]*)\}/g)].map(([, name = "", matchers = ""]) => ({
    name,
    labels: [...matchers.matchAll(/(\w+)(?:=~|!~|!=|=)"/g)].map(([, label = ""]) => label),
  }));
}
