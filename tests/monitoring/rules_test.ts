/**
 * The alerts and the dashboard of `manifests --monitoring`, read by promtool: Prometheus accepts them, each alert fires when it
 * should and is silent when it should, and every query of the dashboard can be parsed. Each alert has a section in the guide.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fooController } from "../../src/controllers/foo/mod.ts";
import { nodepoolController, nodepoolWebhooks } from "../../src/controllers/nodepool/mod.ts";
import { withWebhooks } from "../../src/mod.ts";
import { root } from "../../tasks/_root.ts";
import { assert, assertEquals, assertMatch, test } from "../testing.ts";
import { type PrintedAlert, printMonitoring, queriesOf, withoutVariables } from "./printed.ts";
import { buildPromtool, runPromtool } from "./promtool.ts";

const operator = {
  name: "controller",
  version: "1.2.3",
  controllers: [fooController, withWebhooks(nodepoolController, nodepoolWebhooks)],
};
const { alerts, dashboard } = await printMonitoring(operator, "nodepool", "-n", "ops");
const outcome = await buildPromtool();
// Where Go is missing, CI fails with the other tests that need it.
const promtoolTest = outcome.kind === "ready"
  ? (name: string, fn: (promtool: string) => Promise<void>) => test(name, () => fn(outcome.promtool))
  : (name: string) => test.skip(name, outcome.reason);

const target = 'job="controller-nodepool-metrics",namespace="ops"';
const other = 'job="controller-nodepool-metrics",namespace="elsewhere"';

/** Series as promtool writes them: a selector without its own labels, and values such as `0+1x30`. */
type Series = Readonly<Record<string, string>>;

/** When an alert fires, and when it does not. */
interface Case {
  readonly fires: Series;
  /** When it has begun to fire. */
  readonly at: string;
  /** The labels of the alert, beside those of the rule. */
  readonly labels: Readonly<Record<string, string>>;
  /** The value in its summary, as templates format it. @default not in the summary */
  readonly value?: string;
  /** Each of these is silent all the time. */
  readonly silent: readonly Series[];
}

const ns = { namespace: "ops" };
const pod = 'pod="a"';
/** A histogram whose values are all in one bucket: ten a minute. */
const histogram = (name: string, label: string, below: string, from: string): Series => ({
  [`${name}_bucket{${label},le="${from}"}`]: "0x60",
  [`${name}_bucket{${label},le="${below}"}`]: "0+10x60",
  [`${name}_bucket{${label},le="+Inf"}`]: "0+10x60",
});

const cases: Readonly<Record<string, Case>> = {
  ControllerDown: {
    fires: { [`up{${pod}}`]: "0x60" },
    at: "6m",
    labels: ns,
    silent: [{ [`up{${pod}}`]: "1x60" }, { [`up{${pod}}`]: "1x20 0x3 1x37" }, {
      [`up{${pod}}`]: "0x60",
      'up{pod="b"}': "1x60",
    }],
  },
  ControllerNoLeader: {
    fires: {
      [`leader_election_master_status{${pod},name="op"}`]: "0x60",
      'leader_election_master_status{pod="b",name="op"}': "0x60",
    },
    at: "6m",
    labels: { ...ns, name: "op" },
    silent: [
      {
        [`leader_election_master_status{${pod},name="op"}`]: "0x60",
        'leader_election_master_status{pod="b",name="op"}': "1x60",
      },
      { [`leader_election_master_status{${pod},name="op"}`]: "1x20 0x3 1x37" },
    ],
  },
  ControllerLeaseFlapping: {
    fires: { [`leader_election_lease_transitions{${pod},name="op"}`]: "7+1x4 11x55" },
    at: "10m",
    labels: { ...ns, name: "op" },
    value: "4",
    // A rollout; and a replica that starts later and reads a number that is already high.
    silent: [{ [`leader_election_lease_transitions{${pod},name="op"}`]: "7x20 8x10 9x30" }, {
      [`leader_election_lease_transitions{${pod},name="op"}`]: "_x20 900x40",
    }],
  },
  ControllerNotFollowing: {
    fires: { [`informer_following{${pod},name="foos",handler=""}`]: "1x10 0x50" },
    at: "17m",
    labels: { ...ns, pod: "a", name: "foos" },
    silent: [{ [`informer_following{${pod},name="foos",handler=""}`]: "0x2 1x20 0x3 1x30" }],
  },
  ControllerKeysFailing: {
    fires: {
      [`pintle_controller_failing_keys{${pod},controller="foo",result="error"}`]: "0x5 3x55",
      [`pintle_controller_failing_keys{${pod},controller="foo",result="terminal_error"}`]: "1x60",
    },
    at: "37m",
    labels: { ...ns, controller: "foo" },
    value: "3",
    silent: [
      { [`pintle_controller_failing_keys{${pod},controller="foo",result="terminal_error"}`]: "5x60" },
      { [`pintle_controller_failing_keys{${pod},controller="foo",result="error"}`]: "3x20 0x2 3x20 0x10" },
    ],
  },
  ControllerWriteLoop: {
    fires: { [`pintle_controller_parked_keys{${pod},controller="foo"}`]: "1x60" },
    at: "16m",
    labels: { ...ns, controller: "foo" },
    value: "1",
    silent: [{ [`pintle_controller_parked_keys{${pod},controller="foo"}`]: "0x10 1x10 0x40" }],
  },
  ControllerQueueSlow: {
    fires: histogram("workqueue_queue_duration_seconds", `${pod},controller="foo",name="foo"`, "100", "10"),
    at: "17m",
    labels: { ...ns, controller: "foo" },
    value: "1m 39s",
    silent: [histogram("workqueue_queue_duration_seconds", `${pod},controller="foo",name="foo"`, "10", "1")],
  },
  ControllerReconcileSlow: {
    fires: histogram("controller_runtime_reconcile_time_seconds", `${pod},controller="foo"`, "50", "40"),
    at: "17m",
    labels: { ...ns, controller: "foo" },
    value: "49.9s",
    silent: [histogram("controller_runtime_reconcile_time_seconds", `${pod},controller="foo"`, "30", "25")],
  },
  ControllerReconcileStuck: {
    fires: { [`workqueue_longest_running_processor_seconds{${pod},controller="foo",name="foo"}`]: "0+60x60" },
    at: "7m",
    labels: { ...ns, controller: "foo" },
    value: "7m 0s",
    silent: [{ [`workqueue_longest_running_processor_seconds{${pod},controller="foo",name="foo"}`]: "0+60x5 0x55" }],
  },
  ControllerThrottled: {
    fires: { [`rest_client_request_retries_total{${pod},host="h",verb="GET",code="429"}`]: "0+12x60" },
    at: "25m",
    labels: { ...ns, host: "h" },
    value: "0.2",
    silent: [
      { [`rest_client_request_retries_total{${pod},host="h",verb="GET",code="503"}`]: "0+60x60" },
      { [`rest_client_request_retries_total{${pod},host="h",verb="GET",code="429"}`]: "0+5x60" },
    ],
  },
  ControllerRequestErrors: {
    fires: {
      [`rest_client_requests_total{${pod},host="h",method="GET",code="200"}`]: "0+30x60",
      [`rest_client_requests_total{${pod},host="h",method="GET",code="503"}`]: "0+10x60",
      [`rest_client_requests_total{${pod},host="h",method="GET",code="<error>"}`]: "0+20x60",
    },
    at: "17m",
    labels: { ...ns, host: "h" },
    value: "50%",
    silent: [{
      [`rest_client_requests_total{${pod},host="h",method="GET",code="200"}`]: "0+30x60",
      [`rest_client_requests_total{${pod},host="h",method="GET",code="404"}`]: "0+30x60",
      [`rest_client_requests_total{${pod},host="h",method="GET",code="500"}`]: "0+1x60",
    }],
  },
  ControllerWebhookErrors: {
    fires: {
      [`controller_runtime_webhook_requests_total{${pod},webhook="/v",code="200"}`]: "0+40x60",
      [`pintle_webhook_failures_total{${pod},webhook="/v",reason="error"}`]: "0+6x60",
      [`pintle_webhook_failures_total{${pod},webhook="/v",reason="timeout"}`]: "0+4x60",
    },
    at: "12m",
    labels: { ...ns, webhook: "/v" },
    value: "25%",
    silent: [{
      [`controller_runtime_webhook_requests_total{${pod},webhook="/v",code="200"}`]: "0+30x60",
      [`pintle_webhook_failures_total{${pod},webhook="/v",reason="error"}`]: "0+1x60",
    }],
  },
  ControllerWebhookSlow: {
    fires: histogram("controller_runtime_webhook_latency_seconds", `${pod},webhook="/v"`, "10", "1"),
    at: "12m",
    labels: { ...ns, webhook: "/v" },
    value: "9.91s",
    silent: [histogram("controller_runtime_webhook_latency_seconds", `${pod},webhook="/v"`, "1", "0.1")],
  },
  ControllerCertificateExpiring: {
    fires: { [`pintle_certificate_expiration_timestamp_seconds{${pod},server="webhook"}`]: `${6 * 86_400}x60` },
    at: "20m",
    labels: { ...ns, pod: "a", server: "webhook" },
    value: "5d 23h 40m 0s",
    silent: [{ [`pintle_certificate_expiration_timestamp_seconds{${pod},server="webhook"}`]: `${8 * 86_400}x60` }, {
      [`pintle_certificate_expiration_timestamp_seconds{${pod},server="webhook"}`]: "0x60",
    }],
  },
};

/** The series of an installation, for promtool. */
function inputSeries(series: Series, matchers = target) {
  return Object.entries(series).map(([selector, values]) => ({
    series: selector.replace(/\}$/, `,${matchers}}`),
    values,
  }));
}

/** What an alert looks like when it fires. */
function firing({ annotations, labels: own }: PrintedAlert, { labels, value = "" }: Case) {
  const filled = (text: string) =>
    text.replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, (_, label) => labels[label] ?? "")
      .replaceAll(/\{\{ \$value[^}]*\}\}/g, value);
  return {
    exp_labels: { ...own, ...labels },
    exp_annotations: Object.fromEntries(Object.entries(annotations).map(([name, text]) => [name, filled(text)])),
  };
}

const evaluated = Array.from({ length: 20 }, (_, index) => `${3 * index}m`);

/** The unit tests of one alert: it fires, it is silent, and series of another installation mean nothing to it. */
function unitTests(alert: PrintedAlert, one: Case): readonly object[] {
  const alertname = alert.alert;
  const silent = (name: string, series: readonly object[]) => ({
    name: `${alertname}: ${name}`,
    interval: "1m",
    input_series: series,
    alert_rule_test: evaluated.map((eval_time) => ({ eval_time, alertname, exp_alerts: [] })),
  });
  return [
    {
      name: `${alertname}: fires`,
      interval: "1m",
      input_series: inputSeries(one.fires),
      alert_rule_test: [{ eval_time: one.at, alertname, exp_alerts: [firing(alert, one)] }],
    },
    ...one.silent.map((series, index) => silent(`silent ${index}`, inputSeries(series))),
    // An installation without any series is down.
    ...alertname === "ControllerDown" ? [] : [silent("another installation", inputSeries(one.fires, other))],
  ];
}

promtoolTest(
  "[124] promtool accepts the rules, and each alert fires when it should and only then",
  async (promtool) => {
    assertEquals(alerts.map(({ alert }) => alert).sort(), Object.keys(cases).sort(), "each alert has its case");
    const rules = { groups: [{ name: "controller", rules: alerts }] };
    const checked = await runPromtool(promtool, ["check", "rules", "--lint=all", "--lint-fatal", "rules.json"], {
      "rules.json": rules,
    });
    assertEquals([checked.code, checked.text.includes(`${alerts.length} rules found`)], [0, true], checked.text);
    const tests = alerts.flatMap((alert) => {
      const one = cases[alert.alert];
      return one === undefined ? [] : unitTests(alert, one);
    });
    const files = {
      "rules.json": rules,
      "tests.json": { rule_files: ["rules.json"], evaluation_interval: "1m", tests },
    };
    const tested = await runPromtool(promtool, ["test", "rules", "tests.json"], files);
    assertEquals(tested.code, 0, tested.text);

    // They can fail: with thresholds that nothing reaches, no alert fires.
    const dull = rules.groups.map((group) => ({
      ...group,
      rules: group.rules.map((rule) => ({ ...rule, expr: `(${rule.expr}) and vector(1) > 2` })),
    }));
    const failed = await runPromtool(promtool, ["test", "rules", "tests.json"], {
      ...files,
      "rules.json": { groups: dull },
    });
    assert(failed.code !== 0 && failed.text.includes("ControllerDown: fires"), failed.text);
  },
);

promtoolTest("[124] promtool parses every query of the dashboard", async (promtool) => {
  const queries = queriesOf(dashboard);
  assert(queries.length > 30, `${queries.length} queries`);
  const rules = (exprs: readonly string[]) => ({
    groups: [{
      name: "dashboard",
      rules: exprs.map((expr, index) => ({ record: `query:${index}`, expr: withoutVariables(expr) })),
    }],
  });
  const checked = await runPromtool(promtool, ["check", "rules", "queries.json"], { "queries.json": rules(queries) });
  assertEquals([checked.code, checked.text.includes(`${queries.length} rules found`)], [0, true], checked.text);
  const broken = await runPromtool(promtool, ["check", "rules", "queries.json"], {
    "queries.json": rules([...queries, "sum by (x) (rate(a{}[$__unknown]))"]),
  });
  assert(broken.code !== 0, broken.text);
});

test("[124] the dashboard works where it is provisioned: no input, no uid, panels that do not overlap", () => {
  assertEquals([dashboard.uid, dashboard.title], [undefined, "controller-nodepool (ops)"]);
  assert(!JSON.stringify(dashboard).includes("${DS_"), "it has an input that an import must fill");
  const { panels } = dashboard;
  assertEquals(new Set(panels.map(({ id }) => id)).size, panels.length);
  const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) => {
    assert(x + w <= 24, `${x} + ${w}`);
    return Array.from({ length: w * h }, (_, cell) => `${x + cell % w},${y + Math.floor(cell / w)}`);
  });
  assertEquals(new Set(cells).size, cells.length, "panels overlap");
  for (const { type, title, datasource, targets = [] } of panels.filter(({ type }) => type !== "row")) {
    assertEquals(datasource?.uid, "${datasource}", title);
    assert(["timeseries", "stat"].includes(type) && targets.length > 0, title);
    assertEquals(new Set(targets.map(({ refId }) => refId)).size, targets.length, title);
  }
});

test("[124] each alert has a section in the guide that its runbook_url names", () => {
  const guide = readFileSync(join(root, "docs", "guide", "production.md"), "utf8");
  const sections = [...guide.matchAll(/^### (Controller\w+)$/gm)].map(([, name = ""]) => name);
  assertEquals(sections.toSorted(), alerts.map(({ alert }) => alert).sort());
  for (const { alert, annotations: { runbook_url: url } } of alerts) {
    assertEquals(url, `https://pintle.dev/guide/production.html#${alert.toLowerCase()}`);
  }
});

test("[124] --runbook-url and --monitoring-label change what alerts link to, and no others are printed without webhooks", async () => {
  const plain = await printMonitoring(operator, "foo", "--runbook-url", "https://wiki.example.com/op");
  assertEquals(plain.alerts.filter(({ alert }) => /Webhook|Certificate/.test(alert)), []);
  assertEquals(plain.dashboard.panels.filter(({ title }) => title === "Webhooks"), []);
  assertMatch(plain.alerts[0]?.annotations.runbook_url ?? "", /^https:\/\/wiki\.example\.com\/op#controller/);
});
