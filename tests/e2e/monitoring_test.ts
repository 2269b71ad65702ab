/**
 * What `manifests --monitoring` of the compiled binary asks for, and what the same binary exposes at /metrics: every metric of
 * the alerts and of the dashboard exists, with every label by which it is selected. Run with:
 *
 *   ./compile.sh && deno run -A tests/controlplane/with.ts --apply crds -- deno test -A tests/e2e/monitoring_test.ts
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { issueCertificates } from "../../src/webhook/mod.ts";
import type { ControlPlane } from "../controlplane/mod.ts";
import { until } from "../controlplane/mod.ts";
import { run } from "../controlplane/run.ts";
import { controlPlaneTest, createNamespace } from "../controlplane/test.ts";
import { freePort } from "../free_port.ts";
import { metricsIn, queriesOf, readMonitoring } from "../monitoring/printed.ts";
import { assert, assertEquals } from "../testing.ts";
import { Binary, binaryPath } from "./_binary.ts";

/** The labels that Prometheus adds. */
const targetLabels = ["job", "namespace", "pod"];

/** The labels of each exposed metric; undefined when it has no series yet. */
type Exposed = ReadonlyMap<string, ReadonlySet<string> | undefined>;

function exposedIn(text: string): Exposed {
  const exposed = new Map<string, Set<string> | undefined>();
  for (const [, name = "", type] of text.matchAll(/^# TYPE (\S+) (\w+)$/gm)) {
    const names = type === "histogram" ? ["_bucket", "_count", "_sum"].map((suffix) => name + suffix) : [name];
    for (const one of names) exposed.set(one, undefined);
  }
  for (const [, name = "", labels = ""] of text.matchAll(/^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? /gm)) {
    exposed.set(name, new Set([...labels.matchAll(/(\w+)="/g)].map(([, label = ""]) => label)));
  }
  return exposed;
}

async function printed(controller: string) {
  const args = ["manifests", controller, "--monitoring", "--cert-secret", "tls", "-o", "json"];
  const result = await run(binaryPath(), args, {});
  if (result.kind !== "ended" || result.code !== 0) throw new Error(`Cannot run manifests: ${JSON.stringify(result)}`);
  const { alerts, dashboard } = readMonitoring(result.stdout);
  return [...alerts.map(({ expr }) => expr), ...queriesOf(dashboard)];
}

/** The text at /metrics of a binary that runs the controller, with everything that manifests ask for. */
async function metricsOf(controller: string, controlPlane: ControlPlane): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "pintle-monitoring-"));
  const port = await freePort();
  const { cert, key } = await issueCertificates({ hosts: ["localhost"], now: Date.now(), lifetimeMs: 3_600_000 });
  writeFileSync(join(folder, "tls.crt"), cert);
  writeFileSync(join(folder, "tls.key"), key);
  try {
    await using binary = new Binary([
      ...["run", controller, "--leader-elect", "--leader-election-namespace", await createNamespace(controlPlane)],
      ...["--cert-dir", folder, "--webhook-port", "0", "--metrics-bind-address", `127.0.0.1:${port}`],
    ], { kubeconfig: controlPlane.kubeconfig });
    return await until("lead and follow", async () => {
      const text = await fetch(`http://127.0.0.1:${port}/metrics`).then((response) => response.text(), String);
      const follows = /^informer_following\{.*\} 1$/m.test(text) && !/^informer_following\{.*\} 0$/m.test(text);
      const isReady = follows && /^controller_runtime_max_concurrent_reconciles\{.*\} [1-9]/m.test(text) &&
        /^pintle_certificate_expiration_timestamp_seconds\{server="webhook"\} [1-9]/m.test(text);
      return isReady
        ? { kind: "found", value: text }
        : { kind: "pending", state: `${text.slice(0, 2_000)} ${binary.stderr}` };
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

controlPlaneTest(
  "[124] every metric of the alerts and the dashboard exists in what the binary exposes, with its labels",
  async (controlPlane) => {
    const queries = await printed("nodepool");
    const exposed = exposedIn(await metricsOf("nodepool", controlPlane));
    const selected = queries.flatMap(metricsIn).filter(({ name }) => name !== "up");
    assert(selected.length > 40, `${selected.length} selectors`);
    const missing = selected.filter(({ name }) => !exposed.has(name)).map(({ name }) => name);
    assertEquals([...new Set(missing)], []);
    const unknown = selected.flatMap(({ name, labels }) => {
      const own = exposed.get(name);
      return own === undefined
        ? []
        : labels.filter((label) => !targetLabels.includes(label) && !own.has(label)).map((label) => `${name} ${label}`);
    });
    assertEquals([...new Set(unknown)], []);
    // Only what no API server has called yet has no series, and the depth, which has one for each priority in use.
    const empty = selected.filter(({ name }) => exposed.get(name) === undefined).map(({ name }) => name);
    assertEquals(
      [...new Set(empty)].filter((name) => !/^(controller_runtime|pintle)_webhook_|^workqueue_depth$/.test(name)),
      [],
    );
  },
);
