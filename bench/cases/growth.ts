/**
 * Whether the cost of an object stays the same with more objects: the sync case at several sizes. The cost of a process
 * with an empty cache is measured first and subtracted. The lower bound for every client is measured as well: the
 * server's stream, read and discarded.
 */
import { Cluster } from "../cluster.ts";
import type { Sample } from "../metric.ts";
import { median } from "../statistics.ts";
import { type Case, interleaved, ours, type Outcome, type Setting, valuesOf } from "./case.ts";
import { measureSync } from "./sync.ts";

/** More and more objects. */
export const growthCase: Case = {
  name: "growth",
  title: (scale) => `cost as the work grows: ${scale.growth.map((size) => size.toLocaleString("en")).join(", ")} Foos`,
  subjects: [
    { name: ours, program: "pintle", args: ["sync"] },
    { name: "the stream alone", program: "go", args: ["stream"] },
  ],
  run: runGrowth,
};

/** The largest size of a full run, for which a bar is set. */
export const mostGrown = 200_000;

/** The name of a subject at one size. */
export function growthSubject(subject: string, objects: number): string {
  return `${subject}, ${objects.toLocaleString("en")} Foos`;
}

async function runGrowth(setting: Setting): Promise<Outcome> {
  await using cluster = await Cluster.start();
  const empty = await interleaved(setting, (subject) => measureSync(cluster, subject, 0));
  const samples: Sample[] = [];
  for (const objects of setting.scale.growth) {
    await cluster.grow(objects);
    for (const sample of await interleaved(setting, (subject) => measureSync(cluster, subject, objects))) {
      const values = { ...sample.values, ...perObject(sample, empty, objects) };
      samples.push({ subject: growthSubject(sample.subject, objects), values });
    }
  }
  return { samples, facts: {} };
}

function perObject(sample: Sample, empty: readonly Sample[], objects: number): Sample["values"] {
  const grown = (metric: "timeMs" | "maxRssBytes") =>
    ((sample.values[metric] ?? NaN) - median(valuesOf(empty, sample.subject, metric))) / objects;
  return { usPerObject: grown("timeMs") * 1000, bytesPerObject: grown("maxRssBytes") };
}
