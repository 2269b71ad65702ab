/** Tests which process holds the Lease, judged by the times of the server. */
import { seededRandom, VirtualClock } from "../async/mod.ts";
import { assertEquals, test } from "../../tests/testing.ts";
import { LeaderOracle } from "./_leader_oracle.ts";
import { OperatorProcess, ProcessClock } from "./_operator_process.ts";
import { SimulatedServer } from "./_simulated_server.ts";

async function start() {
  const clock = new VirtualClock();
  const server = new SimulatedServer({ controllers: [], clock, seed: 1 });
  await server.start();
  const oracle = new LeaderOracle(server);
  const { accounts } = server;
  const [one, two] = [1, 2].map((id) =>
    new OperatorProcess({ id, controllers: [], accounts, clock: new ProcessClock(clock), random: seededRandom(id) })
  );
  const hold = async (holderIdentity: string) => {
    const path = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
    const body = { metadata: { name: "simulation" }, spec: { holderIdentity, leaseDurationSeconds: 15 } };
    await server.client.raw(path, { method: "POST", body: JSON.stringify(body) });
    oracle.observe(clock.monotonic());
  };
  const holderFor = (process: OperatorProcess | undefined) =>
    process === undefined ? undefined : oracle.otherHolder(process, clock.monotonic());
  return { clock, oracle, one, two, hold, holderFor };
}

test("otherHolder() returns the holder to other processes only, until the Lease expires", async () => {
  const { clock, one, two, hold, holderFor } = await start();
  assertEquals(holderFor(two), undefined);
  await hold("process-1");
  assertEquals([holderFor(one), holderFor(two)], [undefined, "process-1"]);
  await clock.advance(15_000);
  assertEquals(holderFor(two), "process-1");
  await clock.advance(1);
  assertEquals(holderFor(two), undefined);
});

test("after the deletion of the Lease, the old leader has 10 s to learn of it", async () => {
  const { clock, oracle, one, hold, holderFor } = await start();
  await hold("process-1");
  await oracle.deleteLease(clock.monotonic());
  await hold("process-2");
  assertEquals([oracle.wasDeleted, holderFor(one)], [true, undefined]);
  await clock.advance(10_000);
  assertEquals(holderFor(one), "process-2");
});
