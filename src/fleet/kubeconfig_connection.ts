/**
 * How the providers of kubeconfigs connect: the revision of a kubeconfig, and the connection of a ClusterAccess.
 */
import { createHash } from "node:crypto";
import { type Clock, type Random, systemClock } from "../async/mod.ts";
import { type ClusterAccess, clusterTransport, measuredTransport } from "../client/mod.ts";
import type { MetricsRegistry } from "../observe/mod.ts";
import { type Environment, environment as processEnvironment } from "../runtime/mod.ts";
import type { ClusterConnection } from "./cluster_provider.ts";

/** How a provider connects to its clusters. */
export interface ConnectOptions {
  /** The name and the version of the program, e.g. `my-operator/1.0`. @default "controller" */
  readonly userAgent?: string;
  /** Counts the requests. @default no metrics */
  readonly metrics?: MetricsRegistry;
  /** The environment variables, for proxies and exec plugins. @default those of the process */
  readonly environment?: Environment;
  /** Measures delays and time limits. @default systemClock */
  readonly clock?: Clock;
  /** Varies delays. @default systemRandom */
  readonly random?: Random;
}

/** Opens the connection; nothing is sent yet. */
export function connectionOf(access: ClusterAccess, options: ConnectOptions): ClusterConnection {
  const { environment = processEnvironment(), metrics, clock = systemClock } = options;
  const { server } = access;
  const own = clusterTransport(access, { ...options, environment });
  const transport = metrics === undefined
    ? own
    : measuredTransport(own, { metrics, host: new URL(server).host, clock });
  return { server, transport, [Symbol.dispose]: () => own[Symbol.dispose]() };
}

/** A text that changes when the content does, and does not show it. */
export function revisionOf(content: unknown): string {
  return createHash("sha256").update(JSON.stringify(content) ?? "").digest("hex");
}
