/**
 * The alerts of `manifests --monitoring`: what an operator's metrics say when somebody has to look at it. Each alert has a
 * section of its name in docs/guide/production.md, which says what to do, and its annotation `runbook_url` leads there.
 *
 * Guarantees: an expression names only metrics that the process exposes, selects those of one installation, and keeps the label
 * `namespace`, by which alerts are routed. tests/monitoring proves with promtool when each of them fires, and when not.
 */

/** How urgent an alert is. critical: nothing works; warning: look at it today. */
type Severity = "critical" | "warning";

/** One alert. */
export interface Alert {
  /** The name, and the heading of its section in the guide. */
  readonly name: string;
  readonly severity: Severity;
  /** How long the expression must hold, as Prometheus writes durations. */
  readonly for: string;
  readonly expr: string;
  /** One sentence: what is wrong, with labels of the series as `{{ $labels.x }}`. */
  readonly summary: string;
  /** One sentence more: what it means for users, and the value. */
  readonly description: string;
}

/** Whose metrics are selected. */
export interface MonitoredTarget {
  /** The label `job` of the series: the name of the Service. */
  readonly job: string;
  /** The label `namespace` of the series. @default any, for a package that is installed in any namespace */
  readonly namespace?: string;
  /** False for controllers without webhooks, which have no metrics about them. */
  readonly hasWebhooks: boolean;
}

/** The part of a selector that all series of the target have: `job="a-metrics",namespace="a-system"`. */
export function matchersOf({ job, namespace }: Pick<MonitoredTarget, "job" | "namespace">): string {
  return [`job="${job}"`, ...namespace === undefined ? [] : [`namespace="${namespace}"`]].join(",");
}

/** Returns the alerts of a target. */
export function alertsOf(target: MonitoredTarget): readonly Alert[] {
  const own = matchersOf(target);
  const series = (name: string, more = "") => `${name}{${own}${more === "" ? "" : `,${more}`}}`;
  /** The 99th percentile of a histogram, for each value of the labels. */
  const slowest = (name: string, labels: string) =>
    `histogram_quantile(0.99, sum by (le, namespace, ${labels}) (rate(${series(`${name}_bucket`)}[10m])))`;
  const perSecond = (name: string, labels: string, more = "") =>
    `sum by (namespace, ${labels}) (rate(${series(name, more)}[10m]))`;
  return [
    ...processAlerts(series),
    ...reconcileAlerts(series, slowest),
    ...requestAlerts(perSecond),
    ...target.hasWebhooks ? webhookAlerts(series, slowest, perSecond) : [],
  ];
}

type Series = (name: string, more?: string) => string;
type Slowest = (name: string, labels: string) => string;
type PerSecond = (name: string, labels: string, more?: string) => string;

/** Is it there, does it lead, does it follow. */
function processAlerts(series: Series): readonly Alert[] {
  const transitions = series("leader_election_lease_transitions");
  return [
    {
      name: "ControllerDown",
      severity: "critical",
      for: "5m",
      expr: `absent(${series("up")} == 1)`,
      summary: "No replica of the controllers responds to Prometheus.",
      description: "Objects are not reconciled, or nobody can see whether they are.",
    },
    {
      name: "ControllerNoLeader",
      severity: "critical",
      for: "5m",
      expr: `max by (namespace, name) (${series("leader_election_master_status")}) == 0`,
      summary: "No replica holds the Lease {{ $labels.name }}.",
      description: "Replicas run, but none of them reconciles.",
    },
    {
      name: "ControllerLeaseFlapping",
      severity: "warning",
      for: "0m",
      expr: `max by (namespace, name) (max_over_time(${transitions}[1h])) - ` +
        `min by (namespace, name) (min_over_time(${transitions}[1h])) > 3`,
      summary: "The Lease {{ $labels.name }} has changed its holder {{ $value }} times within an hour.",
      description: "Each change ends running reconciles and begins with all objects again.",
    },
    {
      name: "ControllerNotFollowing",
      severity: "critical",
      for: "5m",
      expr: `max by (namespace, pod, name) (${series("informer_following")}) == 0`,
      summary: "The cache of {{ $labels.name }} does not follow the API server.",
      description: "The Pod {{ $labels.pod }} does not see changes of these objects, and works with old ones.",
    },
  ];
}

/** Do reconciles succeed, and in time. */
function reconcileAlerts(series: Series, slowest: Slowest): readonly Alert[] {
  return [
    {
      name: "ControllerKeysFailing",
      severity: "warning",
      for: "30m",
      expr: `sum by (namespace, controller) (${series("pintle_controller_failing_keys", 'result="error"')}) > 0`,
      summary: "{{ $value }} objects of the controller {{ $labels.controller }} keep failing.",
      description: "They are not in the state that their users asked for. Some object has failed for half an hour.",
    },
    {
      name: "ControllerWriteLoop",
      severity: "warning",
      for: "15m",
      expr: `sum by (namespace, controller) (${series("pintle_controller_parked_keys")}) > 0`,
      summary: "{{ $value }} objects of the controller {{ $labels.controller }} are parked.",
      description: "Another client reverts what the controller writes, so the controller pauses these objects.",
    },
    {
      name: "ControllerQueueSlow",
      severity: "warning",
      for: "15m",
      expr: `${slowest("workqueue_queue_duration_seconds", "controller")} > 60`,
      summary: "Objects wait {{ $value | humanizeDuration }} for the controller {{ $labels.controller }}.",
      description: "Its workers are slower than changes arrive.",
    },
    {
      name: "ControllerReconcileSlow",
      severity: "warning",
      for: "15m",
      expr: `${slowest("controller_runtime_reconcile_time_seconds", "controller")} > 30`,
      summary: "Reconciles of the controller {{ $labels.controller }} take {{ $value | humanizeDuration }}.",
      description: "One of a hundred reconciles takes at least so long.",
    },
    {
      name: "ControllerReconcileStuck",
      severity: "warning",
      for: "1m",
      expr: `max by (namespace, controller) (${series("workqueue_longest_running_processor_seconds")}) > 300`,
      summary: "A reconcile of the controller {{ $labels.controller }} has run for {{ $value | humanizeDuration }}.",
      description: "It blocks one worker, and its object is not reconciled until it ends.",
    },
  ];
}

/** Do the requests to the API server succeed. */
function requestAlerts(perSecond: PerSecond): readonly Alert[] {
  const failed = perSecond("rest_client_requests_total", "host", 'code=~"5..|<error>"');
  return [
    {
      name: "ControllerThrottled",
      severity: "warning",
      for: "15m",
      expr: `${perSecond("rest_client_request_retries_total", "host", 'code="429"')} > 0.1`,
      summary:
        'The API server {{ $labels.host }} rejects {{ $value | printf "%.1f" }} requests per second of the controllers.',
      description: "It asks the controllers to send fewer requests (429); they wait and repeat them.",
    },
    {
      name: "ControllerRequestErrors",
      severity: "warning",
      for: "15m",
      expr: `${failed} / ${perSecond("rest_client_requests_total", "host")} > 0.1`,
      summary: "{{ $value | humanizePercentage }} of the requests to the API server {{ $labels.host }} fail.",
      description: "The server is overloaded or restarts, or the connection to it breaks.",
    },
  ];
}

/** Do the calls of the API server succeed. */
function webhookAlerts(series: Series, slowest: Slowest, perSecond: PerSecond): readonly Alert[] {
  const requests = "controller_runtime_webhook_requests_total";
  return [
    {
      name: "ControllerWebhookErrors",
      severity: "critical",
      for: "10m",
      expr: `${perSecond("pintle_webhook_failures_total", "webhook")} / ${perSecond(requests, "webhook")} > 0.05`,
      summary: "{{ $value | humanizePercentage }} of the calls of the webhook {{ $labels.webhook }} fail.",
      description: "The API server rejects the writes of these calls: the webhook throws, or takes too long.",
    },
    {
      name: "ControllerWebhookSlow",
      severity: "warning",
      for: "10m",
      expr: `${slowest("controller_runtime_webhook_latency_seconds", "webhook")} > 1`,
      summary: "The webhook {{ $labels.webhook }} takes {{ $value | humanizeDuration }}.",
      description: "Every write of its kind takes as long, and is rejected when the time limit is over.",
    },
    {
      name: "ControllerCertificateExpiring",
      severity: "critical",
      for: "15m",
      // 0 is the time of a replica that has no certificate yet.
      expr: `min by (namespace, pod, server) (${series("pintle_certificate_expiration_timestamp_seconds")} > 0) - ` +
        `time() < 7 * 86400`,
      summary:
        "The certificate of the {{ $labels.server }} server of {{ $labels.pod }} ends in {{ $value | humanizeDuration }}.",
      description:
        "After that, nobody connects to it. Without webhooks, the API server rejects all writes to their kinds.",
    },
  ];
}
