/**
 * The traces that the compiled binary sends, taken by the receiver of the OpenTelemetry collector. Run with:
 *
 *   ./compile.sh && deno run -A tests/controlplane/with.ts -- deno test -A tests/e2e/tracing_test.ts
 */
import { spawnSync } from "node:child_process";
import type { ControlPlane } from "../controlplane/mod.ts";
import { until } from "../controlplane/mod.ts";
import { controlPlaneTest, createNamespace } from "../controlplane/test.ts";
import { freePort } from "../free_port.ts";
import { buildPromtool } from "../monitoring/promtool.ts";
import { assert, assertEquals, assertMatch } from "../testing.ts";
import { Collector } from "../tracing/collector.ts";
import { Binary } from "./_binary.ts";
import { installFoo, TestNamespace } from "./_cluster.ts";

const openMetricsType = "application/openmetrics-text";

async function freshNamespace(controlPlane: ControlPlane): Promise<TestNamespace> {
  await installFoo(controlPlane);
  return new TestNamespace(controlPlane, await createNamespace(controlPlane));
}

controlPlaneTest(
  "[125] a collector gets the reconciles with their writes inside and their causes as links, up to the last one",
  async (controlPlane) => {
    const namespace = await freshNamespace(controlPlane);
    await using collector = await Collector.start();
    const port = await freePort();
    // The name is taken, so the first reconcile fails and is retried.
    await controlPlane.kubectlOutput(
      ["create", "deployment", "web", "--image=registry.example.com/web:1", "--namespace", namespace.name],
    );
    await using binary = new Binary(
      ["run", "foo", "-n", namespace.name, "--metrics-bind-address", `127.0.0.1:${port}`],
      {
        kubeconfig: controlPlane.kubeconfig,
        // Nothing is sent before the stop, so that what arrives was flushed.
        env: {
          OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
          OTEL_SERVICE_NAME: "foos",
          OTEL_BSP_SCHEDULE_DELAY: "3600000",
        },
      },
    );
    await namespace.applyFoo({ name: "a", deploymentName: "web", replicas: 1 });
    await binary.logged(/reconcile failed, retrying/);
    await namespace.applyFoo({ name: "b", deploymentName: "api", replicas: 1 });
    await namespace.eventually("deployment/api", () => true);
    const metrics = await until("see exemplars of several reconciles", async () => {
      const response = await fetch(`http://127.0.0.1:${port}/metrics`, { headers: { accept: openMetricsType } });
      assertMatch(response.headers.get("content-type") ?? "", /^application\/openmetrics-text/);
      const text = await response.text();
      const count = Number(/^controller_runtime_reconcile_time_seconds_count\{.*\} (\d+)$/m.exec(text)?.[1] ?? 0);
      return count >= 4 ? { kind: "found", value: text } : { kind: "pending", state: `${count} reconciles` };
    });
    assertEquals(collector.spans, []);
    binary.signal("SIGTERM");
    assertEquals((await binary.ended()).code, 0);

    const { spans, resource } = collector;
    const reconciles = spans.filter(({ name }) => name === "reconcile foo");
    const byId = new Map(spans.map((span) => [span.spanId, span]));
    const applied = spans.filter(({ name }) => name === "apply deployments.apps");
    assert(reconciles.length >= 4 && applied.length > 0, spans.map(({ name }) => name).join(", "));
    for (const span of applied) {
      const parent = byId.get(span.parentSpanId ?? "");
      assertEquals([parent?.name, parent?.traceId], ["reconcile foo", span.traceId]);
      assert(parent !== undefined && parent.startTimeUnixNano <= span.startTimeUnixNano);
      assert(parent.endTimeUnixNano >= span.endTimeUnixNano);
    }
    const failed = reconciles.filter(({ status }) => status?.code === 2);
    const retried = reconciles.filter(({ links = [] }) =>
      links.some(({ spanId }) => failed.some((other) => other.spanId === spanId))
    );
    assert(failed.length > 0 && retried.length > 0, `${failed.length} failed, ${retried.length} linked`);
    assertEquals([resource.get("service.name"), resource.has("service.version")], ['{"stringValue":"foos"}', true]);
    await assertExemplars(metrics, new Set(spans.map(({ traceId }) => traceId)));
  },
);

/** Prometheus reads the exemplars, and each names a trace that the collector has. */
async function assertExemplars(metrics: string, traces: ReadonlySet<string>): Promise<void> {
  const outcome = await buildPromtool();
  if (outcome.kind === "unavailable") throw new Error(`Cannot build the reader of OpenMetrics: ${outcome.reason}`);
  const { stdout, stderr, status } = spawnSync(outcome.openMetrics, [], { input: metrics, encoding: "utf8" });
  assertEquals([status, stderr], [0, ""]);
  const { series, exemplars }: {
    readonly series: number;
    readonly exemplars: readonly { readonly series: string; readonly labels: { readonly trace_id: string } }[];
  } = JSON.parse(stdout);
  assert(series > 100 && exemplars.length > 0, stdout);
  assert(exemplars.some(({ series }) => series.startsWith("controller_runtime_reconcile_time_seconds_bucket")), stdout);
  assertEquals(exemplars.filter(({ labels }) => !traces.has(labels.trace_id)), []);
}

controlPlaneTest(
  "[125] a collector that does not respond neither fails nor delays a reconcile, and is logged once",
  async (controlPlane) => {
    const namespace = await freshNamespace(controlPlane);
    const endpoint = `http://127.0.0.1:${await freePort()}`;
    await using binary = new Binary(["run", "foo", "-n", namespace.name, "--otlp-endpoint", endpoint], {
      kubeconfig: controlPlane.kubeconfig,
      env: { OTEL_BSP_SCHEDULE_DELAY: "100", OTEL_EXPORTER_OTLP_TIMEOUT: "500" },
    });
    await namespace.applyFoo({ name: "a", deploymentName: "web", replicas: 1 });
    await binary.logged(/the collector does not take traces/);
    for (const name of ["b", "c"]) {
      await namespace.applyFoo({ name, deploymentName: `web-${name}`, replicas: 1 });
      await namespace.eventually(`deployment/web-${name}`, () => true);
    }
    binary.signal("SIGTERM");
    const { code, stderr } = await binary.ended();
    assertEquals([code, stderr.split("the collector does not take traces").length - 1], [0, 1], stderr);
  },
);
