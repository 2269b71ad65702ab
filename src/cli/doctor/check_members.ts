/**
 * checkMembers(): the checks of `doctor` in each cluster of a fleet.
 *
 * Guarantees: the clusters are checked at the same time, and one that does not answer fails after its own time limit, without
 * a delay for the others.
 */
import { isAbortOf, scope } from "../../async/mod.ts";
import type { DistinctClusters, FleetCluster } from "../../fleet/mod.ts";
import { exitCode } from "../command/mod.ts";
import { connectMember, firstClusters, providerOf } from "../clusters/mod.ts";
import { type Check, type DoctorContext, failed, ok, warning } from "./check.ts";

/** Checks one cluster. */
type MemberCheck = (context: DoctorContext, connectTimeoutMs: number) => Promise<readonly Check[]>;

/** The flags that it needs. */
interface MemberFlags {
  readonly connectTimeout: number;
  readonly kubeconfig?: string;
}

/** Checks whether the provider reports clusters, and then each of them. */
export async function checkMembers(
  context: DoctorContext,
  check: MemberCheck,
  { connectTimeout, kubeconfig }: MemberFlags,
): Promise<readonly Check[]> {
  const { clusters: source, connection: { client }, session, signal } = context;
  if (source === undefined) return [];
  const provider = providerOf(source, { client, session, kubeconfig });
  using limited = scope(signal, { timeoutMs: connectTimeout, clock: session.processEnvironment.clock });
  let reported: DistinctClusters;
  try {
    reported = await firstClusters(provider, limited.signal);
  } catch (error) {
    const state = isAbortOf(limited.signal, error) ? "no list of clusters in time" : messageOf(error);
    const advice = "Check the value of --clusters and the permissions in the hub";
    return [{ about: "fleet", subject: provider.name, ...failed(exitCode.unreachable, state, advice) }];
  }
  const clusters = [...reported.clusters.values()];
  const finding = clusters.length === 0
    ? warning("no clusters", "Nothing is reconciled until there is one")
    : ok(`${clusters.length} clusters`);
  const members = await Promise.all(
    clusters.map((cluster) => checkMember(cluster, context, { check, connectTimeout })),
  );
  return [
    { about: "fleet", subject: provider.name, ...finding },
    ...[...reported.repeated].map(nameCheck),
    ...await checkSecondNames(clusters),
    ...members.flat(),
  ];
}

function nameCheck(cluster: string): Check {
  const state = "several clusters have this name, and only the first one is used";
  return { about: "fleet", cluster, subject: "", ...failed(exitCode.failed, state, "Give each one a name of its own") };
}

/** Finds names of the same cluster, whose objects would be reconciled once for each name. Sends no request. */
async function checkSecondNames(clusters: readonly FleetCluster[]): Promise<readonly Check[]> {
  const places = await Promise.all(clusters.map(placeOf));
  return clusters.flatMap(({ name }, index) => {
    const first = places.indexOf(places[index]);
    if (places[index] === undefined || first === index) return [];
    const state = `it is the same cluster as "${clusters[first]?.name}", so its objects are reconciled twice`;
    return [{ about: "fleet", cluster: name, subject: "", ...warning(state, "Leave one of the two out") }];
  });
}

/** A text for each cluster; undefined when it cannot be connected, which another check reports. */
async function placeOf(cluster: FleetCluster): Promise<string | undefined> {
  try {
    using connection = await cluster.connect();
    const { server, identity } = connection;
    return JSON.stringify([server, identity]);
  } catch {
    return undefined;
  }
}

async function checkMember(
  cluster: FleetCluster,
  context: DoctorContext,
  { check, connectTimeout }: { readonly check: MemberCheck; readonly connectTimeout: number },
): Promise<readonly Check[]> {
  const { name } = cluster;
  const controllers = context.controllers.filter(({ options }) => options.runsIn !== "hub");
  try {
    using connection = await connectMember(cluster, context.session);
    const checks = await check({ ...context, connection, controllers, place: "members" }, connectTimeout);
    return checks.map((one) => ({ ...one, cluster: name }));
  } catch (error) {
    return [{ about: "cluster", cluster: name, subject: "", ...failed(exitCode.unreachable, messageOf(error)) }];
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
