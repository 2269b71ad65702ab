/** A Manager in front of a FakeCluster, on a virtual clock, and a controller for it. */
import { FakeCluster } from "../../../tests/fakes/cluster.ts";
import { assert, assertEquals } from "../../../tests/testing.ts";
import { builtin, type KubeObject } from "../../api/mod.ts";
import { drain, seededRandom, VirtualClock } from "../../async/mod.ts";
import { Client } from "../../client/mod.ts";
import { controller, type ControllerDefinition, done, manifest } from "../../controller/mod.ts";
import { Manager } from "../manager.ts";
import type { ManagerOptions } from "../manager_options.ts";

const { ConfigMap, Namespace } = builtin;

/** A Namespace. */
export function namespace(name: string): KubeObject {
  return { apiVersion: "v1", kind: "Namespace", metadata: { name } };
}

/** A controller that creates a ConfigMap in each Namespace. */
export function greeter(name = "greeter"): ControllerDefinition {
  return controller(name).for(Namespace).owns(ConfigMap).reconcile(async (ctx) => {
    const metadata = { namespace: ctx.object.metadata.name, name };
    await ctx.apply(manifest(ConfigMap, { metadata, data: { text: "hello" } }));
    return done;
  });
}

/** A Manager and its surroundings. */
export interface TestManager extends AsyncDisposable {
  readonly cluster: FakeCluster;
  readonly clock: VirtualClock;
  readonly manager: Manager;
  readonly stop: AbortController;
  /** Starts the Manager. @returns The promise of `run`. */
  start(): Promise<void>;
  /** Lets everything run until `condition` holds. */
  until(condition: () => boolean): Promise<void>;
}

/** Creates a Manager. Disposing it stops it, and fails the test if a watch or a timer is left. */
export function createTestManager(
  definitions: readonly ControllerDefinition[],
  options: Partial<ManagerOptions> = {},
): TestManager {
  const cluster = new FakeCluster();
  const clock = new VirtualClock();
  const client = new Client(cluster.transport, { clock });
  const manager = new Manager({ client, clock, random: seededRandom(1), strictAccess: true, ...options });
  for (const definition of definitions) manager.add(definition);
  const stop = new AbortController();
  let running: Promise<void> | undefined;
  return {
    cluster,
    clock,
    manager,
    stop,
    start: () => running ??= manager.run(stop.signal),
    async until(condition) {
      for (let turn = 0; turn < 2000 && !condition(); turn++) await drain();
      assert(condition(), "the condition did not become true");
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running?.catch(() => undefined);
      assertEquals([cluster.openWatches, clock.pendingTimers], [0, 0], "[62] no watch and no timer is left");
    },
  };
}
