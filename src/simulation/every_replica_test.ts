/** Runs of two replicas with a controller that each of them runs. */
import { assertEquals, test } from "../../tests/testing.ts";
import { builtin } from "../api/mod.ts";
import { controller, done, manifest } from "../controller/mod.ts";
import { withFactory } from "../manager/mod.ts";
import type { Fault } from "./fault_plan.ts";
import { runSchedule } from "./schedule.ts";
import { correct, recreateWorkload } from "./testing/sample_controllers.ts";

const { ConfigMap, Secret } = builtin;

const faults: readonly (readonly Fault[])[] = [
  [],
  [{ kind: "crash", write: 2, moment: "committed", downMs: 1_000 }],
  [{ kind: "partition", write: 1, forMs: 20_000 }],
  [{ kind: "pause", of: "write", request: 2, forMs: 20_000 }],
];

/** A controller that each replica runs, with the names of the objects that each process has seen. */
function mirror(seen: Set<string>[]) {
  return withFactory(() => {
    const own = new Set<string>();
    seen.push(own);
    return controller("mirror", { replicas: "every" }).for(Secret).owns(ConfigMap).reconcile(async (ctx) => {
      own.add(ctx.object.metadata.name ?? "");
      const { resourceVersion } = await ctx.apply(
        manifest(ConfigMap, { metadata: { namespace: "default", name: "mirror" } }),
      )
        .then(({ metadata }) => metadata);
      ctx.log.debug("mirrored", { resourceVersion });
      return done;
    });
  });
}

for (const sharded of [false, true]) {
  for (const plan of faults.map((list) => ({ faults: list }))) {
    const name = `${sharded ? "replicas with shards" : "a leader and a standby"} under ${JSON.stringify(plan.faults)}`;
    test(`each of two replicas runs a controller for "every": ${name}`, async () => {
      const seen: Set<string>[] = [];
      const base = { controllers: [correct, mirror(seen)], workload: recreateWorkload, replicas: 2, sharded };
      const result = await runSchedule({ ...base, plan });
      assertEquals(result.violations, []);
      // The first one belongs to the definition that withFactory() creates at once.
      const started = seen.slice(1);
      assertEquals(started.slice(-2).map((names) => [...names]), [["team"], ["team"]]);
    });
  }
}
