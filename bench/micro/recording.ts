/**
 * What a recording in memory costs: the CPU of one process that reconciles Foos in a World (no network, the API server in
 * the same process), in turn without and with a Recording. Run it with `deno run -A bench/micro/recording.ts [ROUNDS]`.
 *
 * The difference per Foo is what counts: divide it by the CPU of a Foo in the case `reconcile` of RESULTS.md.
 */
import { cpuUsage } from "node:process";
import process from "node:process";
import { VirtualClock } from "../../src/async/mod.ts";
import { Foo, fooController } from "../../src/controllers/foo/mod.ts";
import { Recording } from "../../src/observe/mod.ts";
import { World } from "../../src/simulation/mod.ts";

const foos = 300;

/** Microseconds of CPU per Foo, and the entries per Foo. */
async function measure(isRecorded: boolean): Promise<{ readonly cpuUs: number; readonly entries: number }> {
  const clock = new VirtualClock();
  const recorder = isRecorded ? new Recording({ now: () => clock.now() }) : undefined;
  await using world = await World.start({ controllers: [fooController], clock, recorder, cluster: false });
  const before = cpuUsage();
  for (let index = 0; index < foos; index++) {
    await world.create(Foo, { name: `foo-${index}`, spec: { deploymentName: `web-${index}`, replicas: 1 } });
  }
  await world.settled();
  const { user, system } = cpuUsage(before);
  return { cpuUs: (user + system) / foos, entries: (recorder?.lastId ?? 0) / foos };
}

function median(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[values.length >> 1] ?? 0;
}

const rounds = Number(process.argv[2] ?? 7);
await measure(true);
await measure(false);
const off: number[] = [], on: number[] = [];
let entries = 0;
for (let round = 0; round < rounds; round++) {
  off.push((await measure(false)).cpuUs);
  const recorded = await measure(true);
  on.push(recorded.cpuUs);
  entries = recorded.entries;
}
console.log(`${foos} Foos, ${rounds} rounds: ${median(off).toFixed(0)} µs of CPU per Foo without a recording,`);
console.log(`${median(on).toFixed(0)} µs with ${entries.toFixed(1)} entries per Foo`);
console.log(
  `median of the differences of a round: ${median(on.map((value, index) => value - (off[index] ?? 0))).toFixed(1)} µs`,
);
