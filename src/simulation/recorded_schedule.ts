/**
 * recordSchedule(): one run with its recording: for the timeline of a finding, for `simulate --record`, and to compare runs.
 *
 * Guarantees: the run is the same as without a recording.
 */
import type { Clock } from "../async/mod.ts";
import { type Entry, type NoteEntry, Recording } from "../observe/mod.ts";
import { runSchedule } from "./schedule.ts";
import type { ScheduleOptions, ScheduleResult } from "./schedule_result.ts";
import type { Violation } from "./violation.ts";

/** The result of a run, with everything that happened. */
export interface RecordedSchedule extends ScheduleResult {
  /** Oldest first, with whole objects, without secrets. */
  readonly entries: readonly Entry[];
}

/** Runs a workload once, and records everything. */
export async function recordSchedule(options: Omit<ScheduleOptions, "recorder">): Promise<RecordedSchedule> {
  const entries: Entry[] = [];
  const sink = { keepsStates: true, write: (entry: Entry) => void entries.push(entry) };
  const recorder = (clock: Clock) => new Recording({ now: () => clock.now(), maxBytes: 0, sink });
  let length = 0;
  const result = await runSchedule({ ...options, recorder, onResult: () => void (length = entries.length) });
  return { ...result, entries: entries.slice(0, length) };
}

/** The violations of a run as the end of its recording. @param last the entry before them */
export function violationNotes(violations: readonly Violation[], last: Entry | undefined): readonly NoteEntry[] {
  const { id = 0, at = 0 } = last ?? {};
  return violations.map(({ invariant, message }, index) => {
    return { kind: "note", id: id + 1 + index, at, causes: [], actor: "violation", what: invariant, detail: message };
  });
}
