/**
 * The kubelets of the simulated nodes: Pods start, become ready, end where they are made to end, and go when they are
 * deleted. No container runs; what is simulated is what a controller sees.
 */
import { builtin, type KubeObject } from "../api/mod.ts";
import {
  controller,
  type ControllerDefinition,
  done,
  requeueAfter,
  type Result,
  type Toolbox,
} from "../controller/mod.ts";
import { isNotFound } from "../client/mod.ts";
import { deletePod, isFinished, isReady, type Pod } from "./_pods.ts";
import { endedStatus, runningStatus } from "./_pod_status.ts";
import { simulatedLabel } from "./nodes.ts";

/** How fast simulated Pods live, in milliseconds. */
export interface KubeletPace {
  /** From being bound to being ready. @default 0 */
  readonly startMs?: number;
  /** From ready to the end, for Pods that are not restarted for ever. @default 0 */
  readonly runMs?: number;
}

/** Runs the Pods that are bound to simulated nodes. */
export function kubeletController(pace: KubeletPace = {}): ControllerDefinition {
  return controller("kubelet", { maxConcurrentReconciles: 5 })
    .for(builtin.Pod, { when: ({ object }) => object.spec.nodeName !== undefined || isGoing(object) })
    .watches(builtin.Node, { to: () => [] })
    .reconcileKey(async ({ key }, toolbox) => {
      const pod = toolbox.find(builtin.Pod, key);
      if (pod === undefined) return done;
      if (isGoing(pod)) return await remove(pod, toolbox);
      if (pod.spec.nodeName === undefined || isFinished(pod)) return done;
      const node = toolbox.find(builtin.Node, pod.spec.nodeName) ?? await liveNode(pod.spec.nodeName, toolbox);
      // Its node is gone, and with it what could run it.
      if (node === undefined) return await remove(pod, toolbox);
      if (node.metadata.labels?.[simulatedLabel] === undefined) return done;
      return isReady(pod) ? await finish(pod, toolbox, pace.runMs ?? 0) : await start(pod, toolbox, pace.startMs ?? 0);
    });
}

function isGoing(object: KubeObject): boolean {
  return object.metadata.deletionTimestamp !== undefined;
}

async function liveNode(name: string, toolbox: Toolbox) {
  return await toolbox.client.find(builtin.Node, name, { signal: toolbox.signal });
}

/** A Pod that was asked to go has nothing that must stop first. */
async function remove(pod: Pod, toolbox: Toolbox): Promise<Result> {
  await deletePod(toolbox.client, pod, toolbox.signal, 0);
  return done;
}

async function start(pod: Pod, toolbox: Toolbox, startMs: number): Promise<Result> {
  const bound = pod.status?.conditions?.find(({ type }) => type === "PodScheduled")?.lastTransitionTime;
  const since = bound === undefined ? toolbox.clock.now() : Date.parse(`${bound}`);
  const left = since + startMs - toolbox.clock.now();
  if (left > 0) return requeueAfter(left);
  const status = runningStatus(pod, toolbox.clock.now());
  return await report(pod, status, toolbox);
}

/** Ends a Pod that is meant to end: those of Jobs. */
async function finish(pod: Pod, toolbox: Toolbox, runMs: number): Promise<Result> {
  if ((pod.spec.restartPolicy ?? "Always") === "Always") return done;
  const ready = pod.status?.conditions?.find(({ type }) => type === "Ready")?.lastTransitionTime;
  const left = Date.parse(`${ready}`) + runMs - toolbox.clock.now();
  if (left > 0) return requeueAfter(left);
  return await report(pod, endedStatus(pod, toolbox.clock.now()), toolbox);
}

async function report(pod: Pod, status: object, toolbox: Toolbox): Promise<Result> {
  try {
    await toolbox.patchStatus(builtin.Pod, pod, status);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  return done;
}
