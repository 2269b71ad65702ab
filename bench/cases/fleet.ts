/**
 * One operator on two real control planes: how long a new Foo of one cluster waits for its Deployment, seen by a watch of a
 * user, while both clusters work, while the API server of the other one is stopped, and when it is back. Each run has new
 * Foos in the same clusters.
 */
import { buildControlPlane, ControlPlane } from "../../tests/controlplane/mod.ts";
import { createNamespace } from "../../tests/controlplane/test.ts";
import { FleetRun, FooUser } from "../../tests/e2e/_fleet_run.ts";
import type { Sample } from "../metric.ts";
import { commandOf } from "../programs.ts";
import { quantile } from "../statistics.ts";
import { type Case, ours, type Outcome, type Setting } from "./case.ts";

/** While both clusters work, and when the other one is back. While it is stopped, the subject is {@link ours}. */
export const bothSubject = "both clusters work";
const backSubject = "the other one is back";

/** Foos before the measured ones. */
const warmFoos = 20;

/** A cluster whose neighbour is stopped. */
export const fleetCase: Case = {
  name: "fleet",
  title: (scale) =>
    `a fleet of two clusters: Foo → Deployment in one while the other is stopped, ${scale.fleetFoos} Foos`,
  subjects: [ours, bothSubject, backSubject].map((name) => ({ name, program: "controller", args: [] })),
  makesOwnLoad: true,
  run: runFleet,
};

async function runFleet({ subjects: [subject], runs, scale, note }: Setting): Promise<Outcome> {
  const built = await buildControlPlane();
  if (built.kind === "unavailable") throw new Error(`Cannot start two clusters: ${built.reason}`);
  if (subject === undefined) return { samples: [], facts: {} };
  const { kubeControllerManager: _, ...binaries } = built.binaries;
  await using east = await ControlPlane.start({ binaries });
  await using west = await ControlPlane.start({ binaries });
  const [binary = ""] = commandOf(subject.program, subject.args, subject.checkout);
  await using _fleet = await FleetRun.start(east, west, { binary });
  await using inEast = await FooUser.connect(east, await createNamespace(east));
  await using inWest = await FooUser.connect(west, await createNamespace(west));
  await inEast.latencies("warm", warmFoos);
  await inWest.latencies("warm", warmFoos);
  const samples: Sample[] = [];
  for (let run = 1; run <= runs; run++) {
    const measure = async (name: string, prefix: string) => {
      const values = valuesOf(await inEast.latencies(`${prefix}-${run}`, scale.fleetFoos));
      samples.push({ subject: name, values });
      note(`run ${run}, ${name}: ${JSON.stringify(values)}`);
    };
    await measure(bothSubject, "both");
    await west.stopApiServer();
    await measure(ours, "stopped");
    await west.startApiServer();
    await inWest.create(`back-${run}`);
    await inWest.see(`back-${run}`);
    await measure(backSubject, "back");
  }
  return { samples, facts: {} };
}

/** @param latencies in milliseconds */
function valuesOf(latencies: readonly number[]): Sample["values"] {
  const micros = latencies.map((ms) => ms * 1_000);
  return { p50Us: quantile(micros, 0.5), p99Us: quantile(micros, 0.99) };
}
