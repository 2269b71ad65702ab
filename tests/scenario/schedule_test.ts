/** Tests of schedules and sources of a controller, in a World and under simulated faults. */
import { ConfigMap, controller, done, Namespace, schedule } from "../../src/mod.ts";
import { simulateController, World } from "../../src/testing.ts";
import { assertEquals, test } from "../testing.ts";

test("a schedule without keys reconciles every object at each time, by the clock of the World", async () => {
  const reviewed: string[] = [];
  const reviewer = controller("reviewer").for(ConfigMap).source(schedule("30 2 * * *")).reconcile(
    ({ object, clock }) => {
      const { name = "", labels } = object.metadata;
      if (labels?.review !== undefined) reviewed.push(`${name} ${new Date(clock.now()).toISOString().slice(11, 16)}`);
      return Promise.resolve(done);
    },
  );
  await using world = await World.start({ controllers: [reviewer], cluster: false });
  for (const name of ["a", "b"]) await world.create(ConfigMap, { name, data: {}, labels: { review: "" } });
  await world.settled();
  reviewed.length = 0;
  await world.clock.advance(4 * 3_600_000);
  await world.settled();
  assertEquals(reviewed.toSorted(), ["a 02:30", "b 02:30"]);
});

test("faults around a time of a schedule change nothing: the next start reconciles every object", async () => {
  const counting = controller("counting").for(Namespace).owns(ConfigMap).source(schedule("*/5 * * * *")).reconcile(
    async (ctx) => {
      if (ctx.object.metadata.labels?.["example.dev/counted"] === undefined) return done;
      const metadata = { namespace: ctx.object.metadata.name ?? "", name: "counted" };
      await ctx.apply({ apiVersion: "v1", kind: "ConfigMap", metadata, data: { is: "counted" } });
      return done;
    },
  );
  const object = {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: "shop", labels: { "example.dev/counted": "" } },
  };
  const workloads = [{
    name: "two times",
    steps: [{ kind: "create", object }, { kind: "advance", toMs: 700_000 }],
  }] as const;
  const { findings, schedules } = await simulateController(counting, { workloads, points: 25, storms: 2 });
  assertEquals(findings.map(({ violations }) => violations), []);
  assertEquals(schedules > 10, true);
});
