/** From exec until the caches of a Foo controller (Foos, Deployments) are synced on an empty cluster; its memory at rest. */
import { setTimeout as sleep } from "node:timers/promises";
import { Cluster } from "../cluster.ts";
import type { Sample } from "../metric.ts";
import { commandOf } from "../programs.ts";
import { syncedLine } from "../protocol.ts";
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

/** A start with nothing to do. */
export const startCase: Case = {
  name: "start",
  title: (scale) => `process start → first sync on an empty cluster; idle RSS ${scale.idleMs / 1000} s later`,
  subjects: [
    { name: ours, program: "pintle", args: ["idle"] },
    { name: bare, program: "pintle", args: ["bare-idle"] },
    { name: "controller-runtime", program: "go", args: ["idle"] },
    { name: "kube-rs (reflectors only)", program: "rust", args: ["idle"] },
    ...josdkSubjects("idle"),
    { name: kopf, program: "python", args: ["idle"] },
  ],
  run: runStart,
};

async function runStart(setting: Setting): Promise<Outcome> {
  await using cluster = await Cluster.start();
  const measure = (subject: Subject) => measureStart(cluster, subject, setting.scale.idleMs);
  return { samples: await interleaved(setting, measure), facts: {} };
}

async function measureStart(cluster: Cluster, subject: Subject, idleMs: number): Promise<Sample["values"]> {
  await using program = cluster.measure(commandOf(subject.program, subject.args, subject.checkout));
  const { afterMs, usage } = await program.read(syncedLine);
  await sleep(idleMs);
  const { rssBytes, anonymousBytes } = program.usage();
  return { timeMs: afterMs, cpuMs: usage.cpuMs, idleRssBytes: rssBytes, idleAnonymousBytes: anonymousBytes };
}
