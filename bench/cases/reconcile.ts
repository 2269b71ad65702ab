/**
 * From exec until each of many new Foos has its Deployment, its status and its Event: three writes each, ten workers.
 * Every run has a new cluster, so that all start from the same state.
 */
import { Cluster } from "../cluster.ts";
import type { Sample } from "../metric.ts";
import { commandOf } from "../programs.ts";
import { reconciledLine } from "../protocol.ts";
import {
  bare,
  type Case,
  interleaved,
  josdkSubjects,
  kopf,
  ours,
  type Outcome,
  type Setting,
  type Subject,
} from "./case.ts";

/** Our own side with a recording in memory, of the default size. */
export const recordingSubject = `${ours}, with a recording`;

/** Many objects reconciled. */
export const reconcileCase: Case = {
  name: "reconcile",
  title: (scale) => `${scale.reconcileObjects.toLocaleString("en")} Foos reconciled, 3 writes each, 10 workers`,
  subjects: [
    { name: ours, program: "pintle", args: ["reconcile", "--workers=10"] },
    { name: recordingSubject, program: "pintle", args: ["reconcile", "--workers=10", "--recording"] },
    { name: bare, program: "pintle", args: ["bare-reconcile", "--workers=10"] },
    { name: "controller-runtime", program: "go", args: ["reconcile", "--workers=10"] },
    ...josdkSubjects("reconcile", "--workers=10"),
    { name: kopf, program: "python", args: ["reconcile", "--workers=10"] },
  ],
  run: runReconcile,
};

async function runReconcile(setting: Setting): Promise<Outcome> {
  const objects = setting.scale.reconcileObjects;
  const samples = await interleaved(setting, (subject) => measureReconcile(subject, objects));
  return { samples, facts: {} };
}

async function measureReconcile(subject: Subject, objects: number): Promise<Sample["values"]> {
  await using cluster = await Cluster.start();
  await cluster.grow(objects);
  await using program = cluster.measure(
    commandOf(subject.program, [...subject.args, `--objects=${objects}`], subject.checkout),
  );
  const { line, afterMs, usage } = await program.read(reconciledLine);
  if (line.objects !== objects) {
    throw new Error(`Cannot use the reconciles of ${subject.name}: ${line.objects} of ${objects} were made`);
  }
  // An older checkout does not count its reconciles.
  const counted = line.reconciles === undefined ? {} : { reconcilesPerObject: line.reconciles / objects };
  return { timeMs: afterMs, cpuMs: usage.cpuMs, maxRssBytes: usage.maxRssBytes, ...counted };
}
