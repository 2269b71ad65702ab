/**
 * `controller plan foo` of the released binary on a cluster whose Foos all lack their Deployment and status: the snapshot
 * over the network, the controllers in a World, the diffs. Every run has a new process on the same cluster, which a plan
 * does not change.
 */
import { spawn } from "node:child_process";
import process from "node:process";
import { Cluster } from "../cluster.ts";
import type { Sample } from "../metric.ts";
import { commandOf } from "../programs.ts";
import { childrenCpuMs } from "../usage.ts";
import { type Case, interleaved, ours, type Outcome, type Setting, type Subject } from "./case.ts";

/** A plan in which every object changes. */
export const planCase: Case = {
  name: "plan",
  title: (scale) => `plan of ${scale.plannedObjects.toLocaleString("en")} Foos that all get a Deployment and a status`,
  subjects: [{ name: ours, program: "controller", args: ["plan", "foo", "-o", "name"] }],
  run: runPlan,
};

async function runPlan(setting: Setting): Promise<Outcome> {
  await using cluster = await Cluster.start();
  await cluster.grow(setting.scale.plannedObjects);
  const samples = await interleaved(setting, (subject) => measurePlan(cluster, subject, setting.scale.plannedObjects));
  return { samples, facts: {} };
}

async function measurePlan(cluster: Cluster, subject: Subject, objects: number): Promise<Sample["values"]> {
  const [cpuMs, startedAt] = [childrenCpuMs(), performance.now()];
  const { code, lines, errors } = await ended(commandOf(subject.program, subject.args, subject.checkout), cluster);
  if (code !== 2 || lines < 2 * objects) {
    throw new Error(`Cannot use a plan with exit code ${code} and ${lines} lines for ${objects} Foos: ${errors}`);
  }
  return { timeMs: performance.now() - startedAt, cpuMs: childrenCpuMs() - cpuMs };
}

async function ended([path = "", ...args]: readonly string[], { kubeconfig }: Cluster) {
  const child = spawn(path, args, {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, KUBECONFIG: kubeconfig },
  });
  let [lines, errors] = [0, ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => lines += text.split("\n").length - 1);
  child.stderr.setEncoding("utf8").on("data", (text: string) => errors = (errors + text).slice(-2_000));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject).once("close", resolve);
  });
  return { code, lines, errors };
}
