/**
 * provenStarts(): the steps of a workload at which runs may start from a snapshot of the reference. A process that starts there
 * knows only what the server has; one that has lived through the steps before may have a timer, and an application beside the
 * server a state. So each step is tried without faults, and counts if nothing is different.
 */
import { isEqual } from "./cluster_state.ts";
import type { ProgramReference } from "./program_reference.ts";
import type { ForeignRunResult } from "./run_options.ts";

/** Tries the steps after the first one, and the end of the last one. @param run a run without faults from a step on */
export async function provenStarts(
  reference: ProgramReference,
  run: (firstStep: number) => Promise<ForeignRunResult>,
): Promise<ReadonlySet<number>> {
  const proven = new Set<number>();
  for (const { step: last, snapshot } of reference.steps) {
    const step = last + 1;
    if (step === 1 || snapshot === undefined) continue;
    if (isAsExpected(reference, await run(step))) proven.add(step);
  }
  return proven;
}

/** True when a run has the states of the reference after each step, its lifecycles, and the writes of its first step. */
function isAsExpected({ steps, points, masked }: ProgramReference, result: ForeignRunResult): boolean {
  const { firstStep } = result;
  const expected = steps.filter(({ step }) => step >= firstStep - 1);
  const isSame = expected.length === result.steps.length && expected.every(({ summary, outcomes }, index) => {
    const actual = result.steps[index];
    if (actual === undefined || !isEqual(summary.fields, actual.summary.fields, masked)) return false;
    const wanted = outcomes.filter(({ step }) => step >= firstStep);
    return `${actual.outcomes.map(({ kind }) => kind)}` === `${wanted.map(({ kind }) => kind)}`;
  });
  const [end, actualEnd] = [expected.at(-1), result.steps.at(-1)];
  if (!isSame || end === undefined || actualEnd === undefined) return false;
  if (!isEqual(end.summary.lifecycles, actualEnd.summary.lifecycles, masked)) return false;
  const passed = new Set(result.points.map(pointText));
  return points.every((point) => point.kind !== "write" || point.step !== firstStep || passed.has(pointText(point)));
}

function pointText({ kind, verb, resource, name, occurrence, step }: ProgramReference["points"][number]): string {
  return `${kind} ${verb} ${resource} ${name} ${occurrence} ${step}`;
}
