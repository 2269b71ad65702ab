/**
 * The Grafana dashboard of `manifests --monitoring`, as data for Grafana 10 and later.
 *
 * Guarantees: it works without an edit in a Grafana that provisions it: the data source and the namespace are variables, so it
 * has no input that an import must fill. It has no `uid` and no `id`, so that two installations do not replace each other's.
 */
import { matchersOf, type MonitoredTarget } from "./monitoring_alerts.ts";

/** One query of a panel. */
interface Query {
  readonly expr: string;
  /** The name of a series, with labels as `{{label}}`. */
  readonly legend: string;
}

/** A panel before it has a place. */
interface PanelOptions {
  readonly title: string;
  /** What it says when it is high. */
  readonly about: string;
  /** As Grafana names units. */
  readonly unit: "short" | "s" | "ops" | "reqps" | "percentunit" | "bytes" | "bool" | "dateTimeFromNow";
  readonly kind?: "timeseries" | "stat";
  readonly queries: readonly Query[];
}

interface Row {
  readonly title: string;
  readonly panels: readonly PanelOptions[];
}

const dataSource = { type: "prometheus", uid: "${datasource}" } as const;
const columns = 24;
const [panelWidth, panelHeight] = [8, 7] as const;

/** Returns the content of the dashboard. @param title e.g. `website (website-system)` */
export function dashboardOf(title: string, target: MonitoredTarget): object {
  return {
    annotations: { list: [] },
    description: "What the controllers do: leadership, caches, queues, reconciles, requests, webhooks and the process.",
    editable: true,
    graphTooltip: 1,
    links: [],
    panels: placed(rows(target.hasWebhooks)),
    refresh: "30s",
    schemaVersion: 39,
    tags: ["kubernetes", "controllers"],
    templating: { list: variables(target) },
    time: { from: "now-3h", to: "now" },
    timepicker: {},
    timezone: "browser",
    title,
    version: 1,
  };
}

function variables(target: MonitoredTarget): readonly object[] {
  const query = (name: string, label: string, metric: string) => ({
    name,
    label,
    type: "query",
    datasource: dataSource,
    query: { query: `label_values(${metric}, ${name})`, refId: "StandardVariableQuery" },
    definition: `label_values(${metric}, ${name})`,
    refresh: 2,
    sort: 1,
    includeAll: true,
    multi: true,
    allValue: ".*",
    current: { selected: true, text: ["All"], value: ["$__all"] },
  });
  const { namespace } = target;
  return [
    { name: "datasource", label: "Data source", type: "datasource", query: "prometheus", refresh: 1 },
    { name: "job", type: "constant", query: target.job, hide: 2 },
    namespace === undefined
      ? query("namespace", "Namespace", `up{job="${target.job}"}`)
      : { name: "namespace", label: "Namespace", type: "constant", query: namespace, hide: 2 },
    query("controller", "Controller", `controller_runtime_active_workers{${matchersOf(target)}}`),
    query("pod", "Pod", `up{${matchersOf(target)}}`),
  ];
}

/** The series of the chosen installation and Pods. */
function series(name: string, more = ""): string {
  return `${name}{job="$job",namespace=~"$namespace",pod=~"$pod"${more === "" ? "" : `,${more}`}}`;
}

const chosen = 'controller=~"$controller"';

function rate(name: string, labels: string, more = ""): string {
  return `sum by (${labels}) (rate(${series(name, more)}[$__rate_interval]))`;
}

function quantile(part: number, name: string, labels: string, more = ""): string {
  return `histogram_quantile(${part}, ${rate(`${name}_bucket`, `le, ${labels}`, more)})`;
}

/** The median and the 99th percentile of a histogram. */
function quantiles(name: string, label: string, more = ""): readonly Query[] {
  return [
    { expr: quantile(0.5, name, label, more), legend: `{{${label}}} p50` },
    { expr: quantile(0.99, name, label, more), legend: `{{${label}}} p99` },
  ];
}

function rows(hasWebhooks: boolean): readonly Row[] {
  return [
    { title: "Overview", panels: overview() },
    { title: "Reconciles", panels: reconciles() },
    { title: "Queues", panels: queues() },
    { title: "Caches", panels: caches() },
    { title: "Requests to the API server", panels: requests() },
    ...hasWebhooks ? [{ title: "Webhooks", panels: webhooks() }] : [],
    { title: "Process", panels: processPanels() },
  ];
}

function overview(): readonly PanelOptions[] {
  const stat = { kind: "stat", unit: "short" } as const;
  return [
    {
      ...stat,
      title: "Leader",
      about: "The replica that reconciles; the others wait with filled caches.",
      queries: [{ expr: `${series("leader_election_master_status")} == 1`, legend: "{{pod}}" }],
    },
    {
      ...stat,
      title: "Failing objects",
      about: "Objects whose last reconcile failed. error: it is retried; terminal_error: it waits for a change.",
      queries: [{
        expr: `sum by (controller, result) (${series("pintle_controller_failing_keys", chosen)})`,
        legend: "{{controller}} {{result}}",
      }],
    },
    {
      ...stat,
      title: "Caches that do not follow",
      about: "Caches without an open watch: their controllers do not see changes.",
      queries: [{ expr: `count(${series("informer_following")} == 0) or vector(0)`, legend: "caches" }],
    },
  ];
}

function reconciles(): readonly PanelOptions[] {
  return [
    {
      title: "Reconciles",
      about: "Reconciles per second and result.",
      unit: "ops",
      queries: [{
        expr: rate("controller_runtime_reconcile_total", "controller, result", chosen),
        legend: "{{controller}} {{result}}",
      }],
    },
    {
      title: "Duration",
      about: "High: slow requests, or a slow external system.",
      unit: "s",
      queries: quantiles("controller_runtime_reconcile_time_seconds", "controller", chosen),
    },
    {
      title: "Busy workers",
      about: "At 1, all workers of the controller are busy: see --workers.",
      unit: "percentunit",
      queries: [{
        expr: `sum by (controller) (${series("controller_runtime_active_workers", chosen)}) / ` +
          `sum by (controller) (${series("controller_runtime_max_concurrent_reconciles", chosen)})`,
        legend: "{{controller}}",
      }],
    },
  ];
}

function queues(): readonly PanelOptions[] {
  return [
    {
      title: "Depth",
      about: "Keys that wait for a worker, by priority.",
      unit: "short",
      queries: [{
        expr: `sum by (controller, priority) (${series("workqueue_depth", chosen)})`,
        legend: "{{controller}} priority {{priority}}",
      }],
    },
    {
      title: "Wait",
      about: "How long a key waits for a worker.",
      unit: "s",
      queries: quantiles("workqueue_queue_duration_seconds", "controller", chosen),
    },
    {
      title: "Work",
      about: "How long a worker has a key.",
      unit: "s",
      queries: quantiles("workqueue_work_duration_seconds", "controller", chosen),
    },
    {
      title: "Adds and retries",
      about: "Adds without changes in the cluster: a controller that requeues itself, or a write loop.",
      unit: "ops",
      queries: [
        { expr: rate("workqueue_adds_total", "controller", chosen), legend: "{{controller}} adds" },
        { expr: rate("workqueue_retries_total", "controller", chosen), legend: "{{controller}} retries" },
      ],
    },
    {
      title: "Longest running reconcile",
      about: "It grows while a reconcile is stuck.",
      unit: "s",
      queries: [
        {
          expr: `max by (controller) (${series("workqueue_longest_running_processor_seconds", chosen)})`,
          legend: "{{controller}} longest",
        },
        {
          expr: `sum by (controller) (${series("workqueue_unfinished_work_seconds", chosen)})`,
          legend: "{{controller}} all",
        },
      ],
    },
    {
      title: "Parked objects",
      about: "Objects that are paused, because what is written is reverted again and again.",
      unit: "short",
      queries: [{
        expr: `sum by (controller) (${series("pintle_controller_parked_keys", chosen)})`,
        legend: "{{controller}}",
      }],
    },
  ];
}

function caches(): readonly PanelOptions[] {
  return [
    {
      title: "Following",
      about: "1 while the watch of a cache is open.",
      unit: "bool",
      queries: [{ expr: `min by (name) (${series("informer_following")})`, legend: "{{name}}" }],
    },
    {
      title: "Objects",
      about: "Objects in the caches of one replica.",
      unit: "short",
      queries: [{ expr: `max by (name) (${series("informer_store_objects")})`, legend: "{{name}}" }],
    },
    {
      title: "Opened watches",
      about: "Usually one in some minutes for each cache. More: a server or a proxy closes them early.",
      unit: "ops",
      queries: [{ expr: rate("reflector_watches_total", "name"), legend: "{{name}}" }],
    },
  ];
}

function requests(): readonly PanelOptions[] {
  return [
    {
      title: "Requests",
      about: "Requests per second by status; <error> got no response.",
      unit: "reqps",
      queries: [{ expr: rate("rest_client_requests_total", "method, code"), legend: "{{method}} {{code}}" }],
    },
    {
      title: "Duration",
      about: "Until the response begins.",
      unit: "s",
      queries: quantiles("rest_client_request_duration_seconds", "verb"),
    },
    {
      title: "Repeated requests",
      about: "429: the server asks for fewer requests.",
      unit: "reqps",
      queries: [{ expr: rate("rest_client_request_retries_total", "verb, code"), legend: "{{verb}} after {{code}}" }],
    },
  ];
}

function webhooks(): readonly PanelOptions[] {
  return [
    {
      title: "Calls",
      about:
        "Calls per second by HTTP status, and those without a decision, because the webhook threw or was too slow.",
      unit: "reqps",
      queries: [
        {
          expr: rate("controller_runtime_webhook_requests_total", "webhook, code"),
          legend: "{{webhook}} {{code}}",
        },
        { expr: rate("pintle_webhook_failures_total", "webhook, reason"), legend: "{{webhook}} {{reason}}" },
      ],
    },
    {
      title: "Duration",
      about: "Every write of the kind waits so long.",
      unit: "s",
      queries: quantiles("controller_runtime_webhook_latency_seconds", "webhook"),
    },
    {
      title: "End of the certificate",
      about: "When clients stop accepting the servers of a replica: webhooks, metrics, debugging.",
      kind: "stat",
      unit: "dateTimeFromNow",
      queries: [{
        expr: `1000 * (${series("pintle_certificate_expiration_timestamp_seconds")} > 0)`,
        legend: "{{pod}} {{server}}",
      }],
    },
  ];
}

function processPanels(): readonly PanelOptions[] {
  return [
    {
      title: "CPU",
      about: "Processors in use; a process uses about one at most.",
      unit: "short",
      queries: [{ expr: rate("process_cpu_seconds_total", "pod"), legend: "{{pod}}" }],
    },
    {
      title: "Memory",
      about: "Resident memory; most of it is the caches.",
      unit: "bytes",
      queries: [{ expr: series("process_resident_memory_bytes"), legend: "{{pod}}" }],
    },
    {
      title: "Event loop lag",
      about: "How late timers are: high while a synchronous function computes.",
      unit: "s",
      queries: [{ expr: series("nodejs_eventloop_lag_p99_seconds"), legend: "{{pod}} p99" }],
    },
  ];
}

/** Places the panels in lines of three, below the title of their row. */
function placed(all: readonly Row[]): readonly object[] {
  const panels: object[] = [];
  let y = 0;
  for (const { title, panels: own } of all) {
    const collapsed = { type: "row", title, collapsed: false, panels: [] };
    panels.push({ ...collapsed, id: panels.length + 1, gridPos: { x: 0, y: y++, w: columns, h: 1 } });
    own.forEach((panel, index) => {
      const x = index * panelWidth % columns;
      if (index > 0 && x === 0) y += panelHeight;
      panels.push({ ...panelOf(panel), id: panels.length + 1, gridPos: { x, y, w: panelWidth, h: panelHeight } });
    });
    y += panelHeight;
  }
  return panels;
}

function panelOf({ title, about, unit, kind = "timeseries", queries }: PanelOptions): object {
  const options = kind === "stat"
    ? { reduceOptions: { calcs: ["lastNotNull"], values: false }, textMode: "value_and_name", colorMode: "none" }
    : { legend: { displayMode: "list", placement: "bottom" }, tooltip: { mode: "multi", sort: "desc" } };
  return {
    type: kind,
    title,
    description: about,
    datasource: dataSource,
    fieldConfig: { defaults: { unit, min: unit === "dateTimeFromNow" ? undefined : 0 }, overrides: [] },
    options,
    targets: queries.map(({ expr, legend }, index) => ({
      datasource: dataSource,
      expr,
      legendFormat: legend,
      refId: String.fromCharCode(65 + index),
    })),
  };
}
