/** From the flags of `run` to the listeners for probes and metrics. */
import type { Clock } from "../async/mod.ts";
import type { Client } from "../client/mod.ts";
import { HealthChecks, type Manager, runEndpoints, type Runnable, serveEndpoints } from "../manager/mod.ts";
import type { MetricsRegistry } from "../observe/mod.ts";
import { joinPath, readText, type Server } from "../runtime/mod.ts";
import type { OperatorEndpoints } from "./operator.ts";
import type { BindAddress, ServingFlags } from "./serving_flags.ts";
import { UsageError } from "./usage_error.ts";

/** What the endpoints show, and who reviews those who ask. */
export interface Shown {
  readonly manager: Manager;
  readonly metrics: MetricsRegistry;
  readonly endpoints?: OperatorEndpoints;
  readonly reviewer: Client;
  readonly clock: Clock;
}

/** The listeners that the flags ask for, to be added to the Manager's phase "http". */
export function endpointsOf(flags: ServingFlags, shown: Shown): readonly Runnable[] {
  const { healthProbeBindAddress: health, metricsBindAddress: metrics } = flags;
  return [
    ...(health === undefined ? [] : [listener("health probes", () => serveHealth(health, shown))]),
    ...(metrics === undefined ? [] : [listener("metrics", () => serveMetrics(metrics, flags, shown))]),
  ];
}

/** Binds its port before later phases start, and serves until the stop. */
function listener(name: string, open: () => Promise<Server>): Runnable {
  let server: Server | undefined;
  return {
    name,
    async prepare() {
      server = await open();
    },
    async run({ stop }) {
      if (server !== undefined) await runEndpoints(server, stop);
    },
  };
}

function serveHealth(address: BindAddress, { manager, endpoints = {}, clock }: Shown): Promise<Server> {
  const { livenessName, readinessName } = endpoints;
  const names = { live: listed(livenessName), ready: listed(readinessName) };
  const health = new HealthChecks({ names, clock });
  for (const check of manager.checks()) {
    health.add(check.name === "leader-election" ? "live" : "ready", check.name, check.problem);
  }
  return serveEndpoints({ ...address, health, clock });
}

async function serveMetrics(address: BindAddress, flags: ServingFlags, shown: Shown): Promise<Server> {
  const { reviewer, clock } = shown;
  const { metricsPath, extra } = shown.endpoints ?? {};
  const served = { ...address, metrics: shown.metrics, metricsPath, extra, clock };
  if (isOnThisMachine(address)) return await serveEndpoints(served);
  if (flags.certDir === undefined) {
    throw new UsageError(
      `Cannot serve metrics on ${address.hostname}:${address.port}: others can reach it and there is no certificate`,
      "Use --metrics-bind-address 127.0.0.1:8080, or give --cert-dir",
    );
  }
  const [cert, key] = await Promise.all(
    ["tls.crt", "tls.key"].map((file) => readText(joinPath(flags.certDir ?? "", file))),
  );
  return await serveEndpoints({ ...served, reviewer, tls: { cert: cert ?? "", key: key ?? "" } });
}

function listed(name: string | undefined): readonly string[] | undefined {
  return name === undefined ? undefined : [name];
}

function isOnThisMachine({ hostname }: BindAddress): boolean {
  return hostname === "localhost" || hostname === "::1" || hostname.startsWith("127.");
}
