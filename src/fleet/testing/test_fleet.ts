/** A Fleet in front of FakeClusters, on a virtual clock, with a provider that a test controls. */
import { FakeCluster } from "../../../tests/fakes/cluster.ts";
import { assert, assertEquals } from "../../../tests/testing.ts";
import { builtin, type KubeObject } from "../../api/mod.ts";
import { aborted, drain, seededRandom, VirtualClock } from "../../async/mod.ts";
import { Client } from "../../client/mod.ts";
import { controller, type ControllerDefinition, done, manifest } from "../../controller/mod.ts";
import { Manager, type ManagerOptions } from "../../manager/mod.ts";
import type { ClusterConnection, ClusterProvider, FleetCluster } from "../cluster_provider.ts";
import { Fleet, type FleetOptions } from "../fleet.ts";

const { ConfigMap, Namespace } = builtin;

/** A Namespace. */
export function namespace(name: string): KubeObject {
  return { apiVersion: "v1", kind: "Namespace", metadata: { name } };
}

/** The path of the ConfigMap that the greeter creates in a Namespace. */
export const greeting = (name: string) => `/api/v1/namespaces/${name}/configmaps/greeter`;

/** A controller that creates a ConfigMap with the name of the cluster in each Namespace. */
export function greeter(): ControllerDefinition {
  return controller("greeter").for(Namespace).owns(ConfigMap).reconcile(async (ctx) => {
    const metadata = { namespace: ctx.object.metadata.name, name: "greeter" };
    await ctx.apply(manifest(ConfigMap, { metadata, data: { cluster: ctx.cluster?.name ?? "none" } }));
    return done;
  });
}

/** A provider whose list a test sets. */
export class TestProvider implements ClusterProvider {
  readonly name = "the test";
  #list: readonly FleetCluster[] | undefined;
  #changed: () => void = () => {};
  /** Thrown by the next look at the list. */
  failure: Error | undefined;

  /** Reports a new list. */
  set(...clusters: readonly FleetCluster[]): void {
    this.#list = clusters;
    this.#changed();
  }

  async *watch(signal: AbortSignal): AsyncGenerator<readonly FleetCluster[]> {
    using stopped = aborted(signal);
    while (!signal.aborted) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#changed = resolve;
      const { failure } = this;
      this.failure = undefined;
      if (failure !== undefined) throw failure;
      if (this.#list !== undefined) yield this.#list;
      await Promise.race([promise, stopped]);
    }
  }
}

/** A connection to a FakeCluster. */
export function connectionTo(cluster: FakeCluster, more: Partial<ClusterConnection> = {}): ClusterConnection {
  return { server: "https://fake.example.dev", transport: cluster.transport, [Symbol.dispose]() {}, ...more };
}

/** A cluster that is reachable at once. */
export function reachable(name: string, cluster: FakeCluster, revision = "1"): FleetCluster {
  return { name, revision, connect: () => Promise.resolve(connectionTo(cluster)) };
}

/** A Fleet and its surroundings. */
export interface TestFleet extends AsyncDisposable {
  readonly hub: FakeCluster;
  readonly members: Readonly<Record<"a" | "b" | "c", FakeCluster>>;
  readonly clock: VirtualClock;
  readonly provider: TestProvider;
  readonly fleet: Fleet;
  readonly stop: AbortController;
  start(): Promise<void>;
  /** Lets everything run until `condition` holds, without moving the clock. */
  until(condition: () => boolean): Promise<void>;
}

/** Creates a Fleet. Disposing it stops it, and fails the test if a watch or a timer is left. */
export function createTestFleet(
  definitions: readonly ControllerDefinition[],
  options: Partial<ManagerOptions> & Pick<FleetOptions, "maxConcurrentReconciles"> = {},
): TestFleet {
  const [hub, members] = [new FakeCluster(), { a: new FakeCluster(), b: new FakeCluster(), c: new FakeCluster() }];
  const clock = new VirtualClock();
  const { maxConcurrentReconciles, ...managerOptions } = options;
  const client = new Client(hub.transport, { clock });
  const manager = new Manager({ client, clock, random: seededRandom(1), ...managerOptions });
  const provider = new TestProvider();
  const fleet = new Fleet({ hub: manager, provider, maxConcurrentReconciles });
  for (const definition of definitions) fleet.add(definition);
  const stop = new AbortController();
  let running: Promise<void> | undefined;
  return {
    ...{ hub, members, clock, provider, fleet, stop },
    start: () => running ??= fleet.run(stop.signal),
    async until(condition) {
      for (let turn = 0; turn < 2000 && !condition(); turn++) await drain();
      assert(condition(), "the condition did not become true");
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      let hasEnded = running === undefined;
      running?.then(() => hasEnded = true, () => hasEnded = true);
      for (let turn = 0; turn < 100 && !hasEnded; turn++) await clock.advance(1_000);
      assert(hasEnded, "the fleet did not end");
      const open = [hub, ...Object.values(members)].map(({ openWatches }) => openWatches);
      assertEquals([open, clock.pendingTimers], [[0, 0, 0, 0], 0], "no watch and no timer is left");
    },
  };
}
