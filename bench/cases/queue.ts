/** Operations a second of the work queue: one producer that is also the consumer, no cluster. */
import { MeasuredProcess } from "../measured_process.ts";
import type { Sample } from "../metric.ts";
import { commandOf } from "../programs.ts";
import { ratesLine } from "../protocol.ts";
import { type Case, interleaved, ours, type Outcome, type Setting, type Subject } from "./case.ts";

/** The queue without a cluster. */
export const queueCase: Case = {
  name: "queue",
  title: () => "workqueue, operations a second",
  subjects: [
    { name: ours, program: "pintle", args: ["queue"] },
    { name: "client-go", program: "go", args: ["queue"] },
  ],
  run: runQueue,
};

async function runQueue(setting: Setting): Promise<Outcome> {
  return { samples: await interleaved(setting, measureQueue), facts: {} };
}

async function measureQueue(subject: Subject): Promise<Sample["values"]> {
  await using program = new MeasuredProcess({
    command: commandOf(subject.program, subject.args, subject.checkout),
    env: {},
  });
  return (await program.read(ratesLine)).line.perSecond;
}
