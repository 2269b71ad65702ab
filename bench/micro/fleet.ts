/**
 * One operator on two real control planes: how long a new Foo of one cluster waits for its Deployment while both clusters
 * work, while the API server of the other one is stopped, and when it is back.
 *
 *   deno run -A tests/controlplane/with.ts -- deno run -A bench/micro/fleet.ts [foos]
 */
import process from "node:process";
import { ControlPlane } from "../../tests/controlplane/mod.ts";
import { createNamespace } from "../../tests/controlplane/test.ts";
import { FleetRun, FooUser } from "../../tests/e2e/_fleet_run.ts";

const count = Number(process.argv[2] ?? "200");
await using east = await ControlPlane.attach();
await using west = await ControlPlane.start({ binaries: east.description.binaries });
await using _fleet = await FleetRun.start(east, west);
await using inEast = await FooUser.connect(east, await createNamespace(east));
await using inWest = await FooUser.connect(west, await createNamespace(west));

function print(phase: string, latencies: readonly number[]): void {
  const at = (part: number) => (latencies[Math.ceil(latencies.length * part) - 1] ?? 0).toFixed(1);
  console.log(`${phase.padEnd(22)} p50 ${at(0.5)} ms, p90 ${at(0.9)} ms, p99 ${at(0.99)} ms, max ${at(1)} ms`);
}

await inEast.latencies("warm", 20);
await inWest.latencies("warm", 20);
for (const round of [1, 2]) {
  print(`${round}: both work`, await inEast.latencies(`both-${round}`, count));
  await west.stopApiServer();
  print(`${round}: the other stopped`, await inEast.latencies(`stopped-${round}`, count));
  await west.startApiServer();
  await inWest.create(`back-${round}`);
  await inWest.see(`back-${round}`);
  print(`${round}: the other is back`, await inEast.latencies(`back-${round}`, count));
}
