/** Prints the digests of the recordings of some schedules, to compare runtimes. */
import { digestOf, faultKinds, recordSchedule, stormsOf } from "../../src/simulation/mod.ts";
import { findWorkload } from "./_controllers.ts";

/** One digest per schedule. */
export async function digests(): Promise<readonly string[]> {
  const lines: string[] = [];
  for (const [name, workload, replicas] of schedules) {
    const found = findWorkload(name, workload);
    const base = { controllers: [found.controller], workload: found.workload, replicas };
    const { points, stepRevisions, entries } = await recordSchedule(base);
    lines.push(`${name} ${workload}: ${digestOf(entries)}`);
    const storm = stormsOf({ points, stepRevisions, replicas }, new Set(faultKinds));
    for (const seed of [1, 2, 3]) {
      const plan = storm(seed);
      lines.push(`${name} ${workload} ${seed}: ${digestOf((await recordSchedule({ ...base, plan, seed })).entries)}`);
    }
  }
  return lines;
}

/** The workloads, with the number of replicas. */
export const schedules = [
  ["foo", "delete and create again", 1],
  ["foo", "scale", 2],
  ["nodepool", "change", 1],
  ["ingress", "an Ingress deleted by a user", 1],
] as const;

if (import.meta.main) console.log((await digests()).join("\n"));
