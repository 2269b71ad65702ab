/**
 * Baseline: the state of an API server before an operator starts: its own namespaces, the established CRDs and the webhook
 * configurations. It is prepared once for a set of controllers.
 *
 * Guarantees: each run starts with a copy. A run depends only on its plan and seed, because a baseline depends on neither.
 */
import { kubernetesApi, type ObjectStorage } from "../apiserver/mod.ts";
import { runTurns, seededRandom, VirtualClock } from "../async/mod.ts";
import { Client } from "../client/mod.ts";
import { ControllerAccounts, installCustomResources, installWebhooks, webhookCaller } from "../cluster/mod.ts";
import type { AccessPlace, OperatorController } from "../manager/mod.ts";
import { ResponseCache } from "./_response_cache.ts";

/** The Lease of the replicas of a run. */
export const leaderLease = { namespace: "default", name: "simulation" } as const;

/** The state that runs start with. */
export interface Baseline {
  /** To be copied by each run. */
  readonly storage: ObjectStorage;
  /** The users that the controllers are. */
  readonly accounts: ControllerAccounts;
  /** The responses of servers that started with this baseline. */
  readonly cache: ResponseCache;
}

interface KnownBaseline {
  readonly controllers: readonly OperatorController[];
  readonly sequence: number;
  readonly place: AccessPlace;
  readonly baseline: Promise<Baseline>;
}

/** Baselines that are kept in memory: controllers are simulated one after the other. */
const maxBaselines = 9;
let baselines: readonly KnownBaseline[] = [];

/**
 * The baseline for a set of controllers, prepared at the first call.
 *
 * @param sequence the random sequence of the servers; only servers with the same one can share a cache
 * @param place what of a fleet the servers are
 */
export async function baselineOf(
  controllers: readonly OperatorController[],
  sequence: number,
  place: AccessPlace = "cluster",
): Promise<Baseline> {
  const isMeant = (one: KnownBaseline) =>
    one.sequence === sequence && one.place === place && isSame(one.controllers, controllers);
  const found = baselines.find(isMeant) ??
    { controllers, sequence, place, baseline: prepare(controllers, sequence, place) };
  baselines = [found, ...baselines.filter((one) => one !== found)].slice(0, maxBaselines);
  return await found.baseline;
}

function isSame(some: readonly OperatorController[], others: readonly OperatorController[]): boolean {
  return some.length === others.length && some.every((one, index) => one === others[index]);
}

/** Changes that a server has seen before a run, so that resource versions differ between random sequences. */
const extraChanges = 23;

async function prepare(
  controllers: readonly OperatorController[],
  sequence: number,
  place: AccessPlace,
): Promise<Baseline> {
  const clock = new VirtualClock();
  const { server } = kubernetesApi({ clock, random: seededRandom(0), callWebhook: webhookCaller(controllers, clock) });
  using _ending = server;
  const client = new Client(server.fetch, { clock });
  await client.raw("/readyz"); // when the server responds, its own namespaces exist
  await installCustomResources(client, controllers);
  await installWebhooks(client, controllers, { name: "simulation" });
  for (let change = 0; change < (sequence - 1) * extraChanges; change++) await writeUnrelated(client, change);
  await runTurns();
  const lease = place === "members" ? undefined : leaderLease;
  const accounts = new ControllerAccounts({ controllers, name: "simulation", place, ...(lease && { lease }) });
  return { storage: server.storage, accounts, cache: new ResponseCache() };
}

/** Changes a Lease that no one else uses. */
async function writeUnrelated(client: Client, change: number): Promise<void> {
  const path = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";
  const metadata = { name: "unrelated", labels: { change: String(change) } };
  const body = JSON.stringify({ apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata });
  if (change === 0) await client.raw(path, { method: "POST", body, contentType: "application/json" });
  else await client.raw(`${path}/unrelated`, { method: "PATCH", body, contentType: "application/merge-patch+json" });
}
