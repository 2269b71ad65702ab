/**
 * From sending an update until the reconcile of its Foo begins, and the part of this time after the server's response to
 * the update (it can be negative: a watch event may arrive before the response). The same load generator makes the
 * updates for every subject. It writes its clock into an annotation, and the reconciler subtracts that from its own.
 */
import { Cluster } from "../cluster.ts";
import type { Sample } from "../metric.ts";
import { commandOf } from "../programs.ts";
import { latenciesLine, syncedLine, type TimedUpdate } from "../protocol.ts";
import { median, quantile } from "../statistics.ts";
import { type Case, interleaved, josdkSubjects, kopf, ours, type Outcome, type Setting, type Subject } from "./case.ts";

const load = { objects: 100, rate: 50 } as const;

/** Updates at a steady rate. */
export const latencyCase: Case = {
  name: "latency",
  title: (scale) => `update → reconcile begins, ${scale.updates} updates at ${load.rate}/s`,
  subjects: [
    { name: ours, program: "pintle", args: ["latency"] },
    { name: "controller-runtime", program: "go", args: ["latency"] },
    ...josdkSubjects("latency"),
    { name: kopf, program: "python", args: ["latency"] },
  ],
  run: runLatency,
};

async function runLatency(setting: Setting): Promise<Outcome> {
  await using cluster = await Cluster.start();
  await cluster.grow(load.objects);
  const measure = (subject: Subject) => measureLatency(cluster, subject, setting.scale.updates);
  return { samples: await interleaved(setting, measure), facts: {} };
}

async function measureLatency(cluster: Cluster, subject: Subject, updates: number): Promise<Sample["values"]> {
  await using program = cluster.measure(commandOf(subject.program, subject.args, subject.checkout));
  await program.read(syncedLine);
  await cluster.calm();
  const cpuBeforeMs = program.usage().cpuMs;
  const answered = await cluster.update({ ...load, count: updates });
  await cluster.calm(); // the last updates arrive
  const cpuMs = program.usage().cpuMs - cpuBeforeMs;
  program.ask();
  const { line } = await program.read(latenciesLine);
  if (line.updates.length !== updates) {
    throw new Error(`Cannot use the latencies of ${subject.name}: it saw ${line.updates.length} of ${updates} updates`);
  }
  const micros = line.updates.map((update) => update.micros);
  const afterAnswer = sinceAnswer(line.updates, answered);
  return {
    p50Us: quantile(micros, 0.5),
    p99Us: quantile(micros, 0.99),
    afterAnswerP50Us: quantile(afterAnswer, 0.5),
    afterAnswerP99Us: quantile(afterAnswer, 0.99),
    answeredP50Us: median(answered.map((update) => update.micros)),
    cpuMs,
  };
}

/** Microseconds from the response to each update until its reconcile began. */
function sinceAnswer(begun: readonly TimedUpdate[], answered: readonly TimedUpdate[]): readonly number[] {
  const microsBySentAt = new Map(answered.map(({ sentAt, micros }) => [sentAt, micros]));
  return begun.map(({ sentAt, micros }) => micros - (microsBySentAt.get(sentAt) ?? NaN));
}
