/** webhook: a defaulting webhook for Foo with a certificate from a folder; the Go peer's webhook.go does the same. */
import { parseArgs } from "node:util";
import { setTimeout as sleep } from "node:timers/promises";
import { MetricsRegistry } from "../../src/observe/mod.ts";
import { certificateFiles, defaulting, WebhookServer } from "../../src/webhook/mod.ts";
import { Foo } from "./_foo.ts";
import { inputEnded, report } from "./_stdio.ts";

const tierLabel = "example.dev/tier";

const fooDefaults = defaulting(Foo, (foo) => ({
  ...foo,
  metadata: { ...foo.metadata, labels: { [tierLabel]: "web", ...foo.metadata.labels } },
  spec: { ...foo.spec, replicas: foo.spec.replicas ?? 1 },
}));

/** Serves, reports, and goes on. */
export async function webhook(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { "cert-dir": { type: "string", default: "" }, port: { type: "string", default: "9443" } },
  });
  const server = new WebhookServer({
    webhooks: [fooDefaults],
    certificates: certificateFiles(values["cert-dir"]),
    hostname: "127.0.0.1",
    port: Number(values.port),
    // controller-runtime has these metrics as well.
    metrics: new MetricsRegistry(),
  });
  const stop = new AbortController();
  const running = server.run(stop.signal);
  const serving = async () => {
    while (!server.isReady) await sleep(5);
  };
  await Promise.race([serving(), running]);
  report({ kind: "serving" });
  await inputEnded();
}
