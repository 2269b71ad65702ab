/**
 * installInFleet(): installs definitions in each cluster of a fleet: those of the controllers that run in the hub there, and all
 * others in the members.
 *
 * Guarantees: the clusters are worked on at the same time, and one that fails keeps no other one from its definitions; all
 * that failed are named at the end. A second run continues.
 */
import { isAbortOf, scope } from "../../async/mod.ts";
import type { DistinctClusters } from "../../fleet/mod.ts";
import type { AccessPlace } from "../../manager/mod.ts";
import { errorText, printable } from "../../observe/mod.ts";
import type { Crd } from "../../schema/mod.ts";
import { type ClusterSource, connectMember, firstClusters, providerOf } from "../clusters/mod.ts";
import type { Session } from "../command/mod.ts";
import type { Connection } from "../connection/mod.ts";
import { count } from "../output/mod.ts";
import { commandFailure } from "./crd_context.ts";

/** Where a controller of a fleet runs. */
export type FleetPlace = Exclude<AccessPlace, "cluster">;

/** A cluster, and what is to be installed in it. */
export interface InstallTarget {
  readonly connection: Connection;
  readonly crds: readonly Crd[];
  /** What its lines begin with: `east: `, "" for the hub. */
  readonly prefix: string;
}

/** Options of {@link installInFleet}. */
export interface InstallInFleetOptions {
  readonly hub: Connection;
  readonly source: ClusterSource;
  readonly session: Session;
  readonly signal: AbortSignal;
  readonly flags: { readonly connectTimeout: number; readonly kubeconfig?: string };
  /** The definitions of the controllers that run in a place. */
  readonly crdsOf: (place: FleetPlace) => readonly Crd[];
  readonly installIn: (target: InstallTarget) => Promise<unknown>;
}

/** Installs in all clusters. @throws CommandError that names those that failed */
export async function installInFleet(options: InstallInFleetOptions): Promise<void> {
  const { hub, session, crdsOf, installIn } = options;
  const inHub = crdsOf("hub");
  if (inHub.length > 0) await installIn({ connection: hub, crds: inHub, prefix: "" });
  const crds = crdsOf("members");
  if (crds.length === 0) return;
  const { clusters, repeated } = await clustersOf(options);
  const failures = await Promise.all([...clusters.values()].map(async (cluster) => {
    const name = printable(cluster.name);
    try {
      using connection = await connectMember(cluster, session);
      await installIn({ connection, crds, prefix: `${name}: ` });
      return [];
    } catch (error) {
      return [`${name}: ${errorText(error)}`];
    }
  }));
  const unnamed = [...repeated].map((name) =>
    `${printable(name)}: several clusters have this name, only the first is used`
  );
  const failed = [...failures.flat(), ...unnamed];
  if (failed.length === 0) return;
  throw commandFailure(
    `Cannot install in ${failed.length} of ${count(clusters.size + repeated.size, "cluster")}: ${failed.join("; ")}`,
    "See what they lack with doctor --clusters, then run it again: it continues where it stopped",
  );
}

/** The clusters that the provider reports. @throws CommandError when there are none in time */
async function clustersOf(
  { hub, source, session, signal, flags }: InstallInFleetOptions,
): Promise<DistinctClusters> {
  const { connectTimeout, kubeconfig } = flags;
  const provider = providerOf(source, { client: hub.client, session, kubeconfig });
  using limited = scope(signal, { timeoutMs: connectTimeout, clock: session.processEnvironment.clock });
  let state = "it reports no clusters";
  try {
    const reported = await firstClusters(provider, limited.signal);
    if (reported.clusters.size > 0) return reported;
  } catch (error) {
    state = isAbortOf(limited.signal, error) ? "no list of clusters in time" : errorText(error);
  }
  const advice = "Check the value of --clusters and the permissions in the hub";
  throw commandFailure(`Cannot install in the clusters of ${provider.name}: ${state}`, advice);
}
