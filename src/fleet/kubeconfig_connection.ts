/**
 * How the providers of kubeconfigs connect: the revision of a kubeconfig, and the connection of a ClusterAccess.
 */
import { createHash } from "node:crypto";
import { type Clock, type Random, systemClock } from "../async/mod.ts";
import { type ClusterAccess, clusterTransport, measuredTransport } from "../client/mod.ts";
import type { MetricsRegistry } from "../observe/mod.ts";
import { type Environment, environment as processEnvironment, findText } from "../runtime/mod.ts";
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

/**
 * Opens the connection; nothing is sent yet.
 *
 * @param options `uid`: that of the object which describes the cluster, if another object means another cluster
 */
export async function connectionOf(
  access: ClusterAccess,
  options: ConnectOptions & { readonly uid?: string },
): Promise<ClusterConnection> {
  const { environment = processEnvironment(), metrics, clock = systemClock, uid } = options;
  const { server } = access;
  const identity = revisionOf([uid, await identityOf(access)]);
  const own = clusterTransport(access, { ...options, environment });
  if (metrics === undefined) return { server, identity, transport: own, [Symbol.dispose]: () => own[Symbol.dispose]() };
  const transport = measuredTransport(own, { metrics, host: new URL(server).host, clock });
  const dispose = () => {
    own[Symbol.dispose]();
    transport[Symbol.dispose]();
  };
  return { server, identity, transport, [Symbol.dispose]: dispose };
}

/**
 * What makes the server at a URL the one of this cluster: who signs its certificate, and the way to it. A cluster that was
 * created anew at the address of an old one has another certificate authority.
 */
async function identityOf({ certificateAuthority: ca, serverName, proxy }: ClusterAccess): Promise<unknown> {
  const pem = ca?.kind === "file" ? await findText(ca.path) : ca?.pem.reveal();
  // Without the credentials of the proxy, which may change.
  return [pem, serverName, URL.parse(proxy ?? "")?.host];
}

/** A text that changes when the content does, and does not show it. */
export function revisionOf(content: unknown): string {
  return createHash("sha256").update(JSON.stringify(content) ?? "").digest("hex");
}
