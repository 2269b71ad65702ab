/**
 * Single faults that lead to equal runs. A process that starts on a stale server sees only what lists and watches show: an
 * older revision at which none of the collections that it reads was different is the same start. Such schedules are checked
 * once, and all of them get the result.
 *
 * Guarantees: the runs are equal up to their fault, because all have the seed of the reference; at the fault every process
 * ends, so nothing that a controller remembers is left; what the new processes see is equal but for the resource version of
 * the lists, which is older than each of their own writes.
 */
import { transientCollections } from "./_stored_views.ts";
import type { Fault } from "./fault_plan.ts";
import type { PointCounts } from "./fault_points.ts";

/** A run without faults, up to whose points the schedules are equal. */
export interface CommonRun {
  readonly points: Pick<PointCounts, "lists">;
  /** The number of changes on the server until the end of each step. */
  readonly stepRevisions: readonly number[];
  /** The collection of each change on the server, oldest first. */
  readonly changedCollections: readonly string[];
}

/**
 * Names what a single fault does in a run: faults with the same name lead to equal runs.
 *
 * @returns undefined when no other fault is known to do the same
 */
export function effectOf(fault: Fault, { points, stepRevisions, changedCollections }: CommonRun): string | undefined {
  if (fault.kind !== "stale" || fault.at !== undefined) return undefined;
  const { step, back, thawMs, only, early = false } = fault;
  const revisions = stepRevisions[step - 1];
  if (revisions === undefined || revisions > changedCollections.length) return undefined;
  const isShown = (collection: string) =>
    only === undefined ? points.lists.has(collection) || !transientCollections.has(collection) : collection === only;
  const hidden = changedCollections.slice(Math.max(0, revisions - back), revisions).filter(isShown).length;
  return `stale ${step} ${thawMs} ${early} ${only ?? ""} ${hidden}`;
}

/** A schedule that may have the same effect as others. */
interface Comparable {
  /** Equal in schedules that lead to equal runs. @default no other schedule is equal */
  readonly effect?: string;
}

/**
 * Checks one schedule of each effect, and gives its result to the others.
 *
 * Guarantees: the results come in the order of the list.
 *
 * @param check checks schedules in order, and may read ahead
 */
export async function* checkDistinct<Schedule extends Comparable, Checked extends { readonly schedule: Schedule }>(
  schedules: Iterable<Schedule>,
  check: (distinct: Iterable<Schedule>) => AsyncIterable<Checked>,
): AsyncGenerator<Checked, void> {
  const waiting: Schedule[] = [];
  const known = new Map<string, Checked>();
  for await (const checked of check(distinctOf(schedules, waiting))) {
    const { effect } = checked.schedule;
    if (effect !== undefined) known.set(effect, checked);
    yield checked;
    waiting.shift();
    for (let next = knownOf(waiting, known); next !== undefined; next = knownOf(waiting, known)) {
      yield next;
      waiting.shift();
    }
  }
}

/** The result of the first schedule that waits, if it is known. */
function knownOf<Schedule extends Comparable, Checked>(
  [first]: readonly Schedule[],
  known: ReadonlyMap<string, Checked>,
): Checked | undefined {
  const checked = known.get(first?.effect ?? "");
  return checked === undefined ? undefined : { ...checked, schedule: first };
}

/** The first schedule of each effect. @param passed gets all schedules that were read */
function* distinctOf<Schedule extends Comparable>(
  schedules: Iterable<Schedule>,
  passed: Schedule[],
): Generator<Schedule> {
  const effects = new Set<string>();
  for (const schedule of schedules) {
    passed.push(schedule);
    if (schedule.effect !== undefined && effects.has(schedule.effect)) continue;
    effects.add(schedule.effect ?? "");
    yield schedule;
  }
}
