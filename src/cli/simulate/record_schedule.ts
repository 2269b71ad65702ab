/** writeRecording(): the recording of a simulated schedule as a file, for `why --file`. */
import type { Entry } from "../../observe/mod.ts";
import type { PlannedSchedule, Violation } from "../../simulation/mod.ts";
import type { Session } from "../command/mod.ts";
import { RecordFile } from "../recording/mod.ts";

/** A schedule that was recorded. */
export interface RecordedFinding extends PlannedSchedule {
  readonly controller: string;
  readonly violations: readonly Violation[];
  readonly recording: readonly Entry[];
}

/** Writes the file. @throws CommandError when it cannot be created, or something else is at its place */
export async function writeRecording(path: string, finding: RecordedFinding, session: Session): Promise<void> {
  const { controller, workload, seed, replicas, plan, recording } = finding;
  const { operator, version, processEnvironment: { clock } } = session;
  const violations = finding.violations.map(({ invariant, message }) => ({ invariant, message }));
  const header = {
    operator: operator.name,
    version,
    controllers: [controller],
    startedAt: recording[0]?.at ?? 0,
    simulation: { workload, seed, replicas, plan: { faults: plan.faults.map((fault) => ({ ...fault })) }, violations },
  };
  const file = new RecordFile({ path, header, clock, maxBytes: Infinity });
  await file.open();
  for (const entry of recording) file.write(entry);
  await file.close();
}
