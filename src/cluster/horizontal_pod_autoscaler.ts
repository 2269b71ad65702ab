/**
 * The HorizontalPodAutoscaler controller: every 15 s it scales the target of each autoscaler to what its metrics ask for.
 * The metrics come from an annotation of the autoscaler (`autoscaler_metrics.ts`); without it, the autoscaler reports what
 * one in a cluster without metrics reports.
 */
import {
  builtin,
  type Infer,
  isDeepEqual,
  isSelected,
  keyOf,
  type KubeObject,
  type LabelSelector,
  parseLabelSelector,
  type Resource,
} from "../api/mod.ts";
import { Discovery } from "../client/mod.ts";
import {
  type Change,
  controller,
  type ControllerDefinition,
  type ReconcileContext,
  requeueAfter,
} from "../controller/mod.ts";
import { MetricError, type MetricProposal, proposalOf } from "./autoscaler_metrics.ts";
import { normalizeReplicas, noteScaling, type ScalingHistory } from "./scaling_behavior.ts";
import { messageOf, timeText } from "./_values.ts";

type Autoscaler = Infer<typeof builtin.HorizontalPodAutoscaler>;
type Status = NonNullable<Autoscaler["status"]>;
type Context = ReconcileContext<typeof builtin.HorizontalPodAutoscaler, typeof builtin.HorizontalPodAutoscaler>;

/** Milliseconds between two attempts, kube-controller-manager's --horizontal-pod-autoscaler-sync-period. */
const syncPeriodMs = 15_000;

interface Scale extends KubeObject {
  readonly spec?: { readonly replicas?: number };
  readonly status?: { readonly replicas?: number; readonly selector?: string };
}

/** What the controller remembers of an autoscaler. */
interface Memory extends ScalingHistory {
  readonly uid: string | undefined;
  selector?: LabelSelector;
}

/** Another autoscaler of the namespace, and the Pods of its target. */
interface Rival {
  readonly key: string;
  readonly selector: LabelSelector;
}

/** Scales the targets of HorizontalPodAutoscalers. */
export function horizontalPodAutoscalerController(): ControllerDefinition {
  const memories = new Map<string, Memory>();
  return controller("horizontal-pod-autoscaler-controller", { maxConcurrentReconciles: 5 })
    // Not after writes of the status, so that an autoscaler keeps its pace.
    .for(builtin.HorizontalPodAutoscaler, { when: isChanged })
    .reconcile(async (ctx) => {
      const key = keyOf(ctx.object);
      const { uid } = ctx.object.metadata;
      const known = memories.get(key);
      const memory = known?.uid === uid && known !== undefined ? known : { uid, recommendations: [], changes: [] };
      memories.set(key, memory);
      const others = ctx.list(builtin.HorizontalPodAutoscaler)
        .filter((one) => one.metadata.namespace === ctx.object.metadata.namespace && one.metadata.uid !== uid)
        .flatMap((one) => {
          const selector = memories.get(keyOf(one))?.selector;
          return selector === undefined ? [] : [{ key: keyOf(one), selector }];
        });
      await new AutoscalerRun(ctx, memory, others).reconcile();
      return requeueAfter(syncPeriodMs);
    });
}

function isChanged(change: Change<Autoscaler>): boolean {
  return change.kind !== "updated" || !isDeepEqual(change.object.spec, change.old.spec) ||
    !isDeepEqual(change.object.metadata.annotations, change.old.metadata.annotations);
}

/** Ends an attempt: the conditions say why. */
class Stopped extends Error {}

/** One attempt. The status is written once, at its end. */
class AutoscalerRun {
  readonly #ctx: Context;
  readonly #memory: Memory;
  readonly #others: readonly Rival[];
  readonly #now: string;
  #status: Status;

  constructor(ctx: Context, memory: Memory, others: readonly Rival[]) {
    this.#ctx = ctx;
    this.#memory = memory;
    this.#others = others;
    this.#now = timeText(ctx.clock.now());
    this.#status = ctx.object.status ?? { desiredReplicas: 0 };
  }

  async reconcile(): Promise<void> {
    try {
      await this.#scale();
    } catch (error) {
      if (!(error instanceof Stopped)) throw error;
    }
    const { currentMetrics, conditions, currentReplicas = 0, desiredReplicas, lastScaleTime } = this.#status;
    // As from the server, it may be null.
    const metrics = (currentMetrics?.length ?? 0) === 0 ? null : currentMetrics;
    await this.#ctx.patchStatus({
      currentReplicas,
      desiredReplicas,
      lastScaleTime,
      conditions,
      currentMetrics: metrics,
    });
  }

  async #scale(): Promise<void> {
    const { scaleTargetRef, minReplicas = 1, maxReplicas } = this.#ctx.object.spec;
    const { resource, scale } = await this.#target();
    this.#condition(
      "AbleToScale",
      true,
      "SucceededGetScale",
      "the HPA controller was able to get the target's current scale",
    );
    const current = scale.spec?.replicas ?? 0;
    if (this.#memory.recommendations.length === 0) {
      this.#memory.recommendations = [{ replicas: current, at: this.#ctx.clock.now() }];
    }
    let [desired, why] = [current, ""];
    let metrics: Status["currentMetrics"] = [];
    if (current === 0) {
      const message = "scaling is disabled since the replica count of the target is zero";
      this.#condition("ScalingActive", false, "ScalingDisabled", message);
    } else if (current > maxReplicas) {
      [desired, why] = [maxReplicas, "Current number of replicas above Spec.MaxReplicas"];
    } else if (current < minReplicas) {
      [desired, why] = [minReplicas, "Current number of replicas below Spec.MinReplicas"];
    } else {
      const wanted = await this.#wanted(scale, current);
      metrics = wanted.statuses;
      why = wanted.replicas > current ? `${wanted.name} above target` : "All metrics below target";
      desired = this.#normalize(current, wanted.replicas);
    }
    if (desired !== current) {
      const key = `${this.#ctx.object.metadata.namespace}/${scaleTargetRef.name}`;
      await this.#rescale(resource, key, { current, desired, why, metrics });
    }
    this.#report(current, desired, metrics);
  }

  /** The target and its scale. */
  async #target(): Promise<{ readonly resource: Resource; readonly scale: Scale }> {
    const { kind, name, apiVersion = "" } = this.#ctx.object.spec.scaleTargetRef;
    const group = apiVersion.includes("/") ? apiVersion.slice(0, apiVersion.indexOf("/")) : "";
    const { client, signal } = this.#ctx;
    try {
      const found = await new Discovery(client).findKind({ group, kind }, signal);
      if (found === undefined) {
        throw new Error(`no matches for kind ${JSON.stringify(kind)} in group ${JSON.stringify(group)}`);
      }
      const { resource } = found;
      const key = `${this.#ctx.object.metadata.namespace}/${name}`;
      // The type of a generic Resource says nothing of its subresource.
      const scale = await client.get(resource as Resource<Scale>, key, { subresource: "scale", signal });
      return { resource, scale };
    } catch (error) {
      if (signal.aborted) throw error;
      const message = error instanceof Error && error.constructor === Error ? error.message : messageOf(error);
      this.#ctx.event("Warning", "FailedGetScale", message);
      const what = "the HPA controller was unable to get the target's current scale";
      this.#condition("AbleToScale", false, "FailedGetScale", `${what}: ${message}`);
      throw new Stopped();
    }
  }

  /** What the metrics ask for. */
  async #wanted(scale: Scale, current: number) {
    const { metrics = [] } = this.#ctx.object.spec;
    const selector = this.#selector(scale.status?.selector ?? "");
    const { namespace } = this.#ctx.object.metadata;
    const { items } = await this.#ctx.client.list(builtin.Pod, {
      ...{ namespace, labelSelector: selector, signal: this.#ctx.signal },
    });
    const rivals = this.#others.filter((other) => items.some((pod) => isSelected(other.selector, pod)));
    if (rivals.length > 0) {
      const keys = [keyOf(this.#ctx.object), ...rivals.map(({ key }) => key)].toSorted().join(" ");
      const message = `pods by selector ${scale.status?.selector} are controlled by multiple HPAs: [${keys}]`;
      this.#fail("AmbiguousSelector", message, [message]);
    }
    const source = {
      autoscaler: this.#ctx.object,
      pods: items,
      replicas: { spec: current, status: scale.status?.replicas ?? 0 },
      now: this.#ctx.clock.now(),
    };
    const results = metrics.map((metric): MetricProposal | MetricError => {
      try {
        return proposalOf(metric, source);
      } catch (error) {
        if (!(error instanceof MetricError)) throw error;
        this.#ctx.event("Warning", error.reason, error.message);
        return error;
      }
    });
    return this.#highest(results, current);
  }

  #highest(results: readonly (MetricProposal | MetricError)[], current: number) {
    const proposals = results.flatMap((one) => one instanceof MetricError ? [] : [one]);
    const errors = results.flatMap((one) => one instanceof MetricError ? [one] : []);
    const statuses = results.map((one) => one instanceof MetricError ? { type: "" } : one.status);
    const highest = proposals.reduce<MetricProposal | undefined>(
      (best, one) => best === undefined || one.replicas > best.replicas ? one : best,
      undefined,
    );
    const [error] = errors;
    // While one metric cannot be read, the others may only ask for more.
    if (highest === undefined || (error !== undefined && highest.replicas < current)) {
      this.#report(current, this.#status.desiredReplicas ?? 0, statuses);
      const counts = `invalid metrics (${errors.length} invalid out of ${results.length})`;
      const message = `the HPA was unable to compute the replica count: ${error?.message}`;
      this.#fail(error?.reason ?? "", message, [`${counts}, first error is: ${error?.summary}`]);
    }
    const message = `the HPA was able to successfully calculate a replica count from ${highest.name}`;
    this.#condition("ScalingActive", true, "ValidMetricFound", message);
    return { replicas: highest.replicas, name: highest.name, statuses };
  }

  #selector(text: string): LabelSelector {
    if (text === "") {
      this.#ctx.event("Warning", "SelectorRequired", "selector is required");
      this.#fail("InvalidSelector", "the HPA target's scale is missing a selector", ["selector is required"]);
    }
    try {
      return this.#memory.selector = parseLabelSelector(text);
    } catch (error) {
      const message = `couldn't convert selector into a corresponding internal selector object: ${messageOf(error)}`;
      this.#ctx.event("Warning", "InvalidSelector", message);
      return this.#fail("InvalidSelector", message, [message]);
    }
  }

  #fail(reason: string, message: string, [summary = ""]: readonly string[]): never {
    if (reason === "AmbiguousSelector") this.#ctx.event("Warning", reason, message);
    this.#condition("ScalingActive", false, reason, message);
    this.#ctx.event("Warning", "FailedComputeMetricsReplicas", summary);
    throw new Stopped();
  }

  #normalize(current: number, wanted: number): number {
    const sizes = { current, desired: wanted, now: this.#ctx.clock.now() };
    const { replicas, stabilized, limited } = normalizeReplicas(this.#memory, this.#ctx.object.spec, sizes);
    this.#condition("AbleToScale", true, stabilized.reason, stabilized.message);
    this.#condition("ScalingLimited", limited.isLimited, limited.reason, limited.message);
    return replicas;
  }

  async #rescale(
    resource: Resource,
    key: string,
    { current, desired, why, metrics }: {
      readonly current: number;
      readonly desired: number;
      readonly why: string;
      readonly metrics: Status["currentMetrics"];
    },
  ): Promise<void> {
    const { client, signal } = this.#ctx;
    try {
      const value = { spec: { replicas: desired } };
      await client.patch(resource as Resource<Scale>, key, { kind: "merge", value }, { subresource: "scale", signal });
    } catch (error) {
      if (signal.aborted) throw error;
      const message = messageOf(error);
      this.#ctx.event("Warning", "FailedRescale", `New size: ${desired}; reason: ${why}; error: ${message}`);
      const what = "the HPA controller was unable to update the target scale";
      this.#condition("AbleToScale", false, "FailedUpdateScale", `${what}: ${message}`);
      this.#report(current, this.#status.desiredReplicas ?? 0, metrics);
      throw new Stopped();
    }
    const message = `the HPA controller was able to update the target scale to ${desired}`;
    this.#condition("AbleToScale", true, "SucceededRescale", message);
    this.#ctx.event("Normal", "SuccessfulRescale", `New size: ${desired}; reason: ${why}`);
    noteScaling(this.#memory, desired - current, this.#ctx.clock.now());
    this.#status = { ...this.#status, lastScaleTime: this.#now };
  }

  #report(currentReplicas: number, desiredReplicas: number, currentMetrics: Status["currentMetrics"]): void {
    this.#status = { ...this.#status, currentReplicas, desiredReplicas, currentMetrics };
  }

  #condition(type: string, isTrue: boolean, reason: string, message: string): void {
    const status = isTrue ? "True" : "False";
    const before = this.#status.conditions?.find((one) => one.type === type);
    const lastTransitionTime = before?.status === status ? before.lastTransitionTime : this.#now;
    const condition = { type, status, lastTransitionTime, reason, message };
    const conditions = this.#status.conditions ?? [];
    this.#status = {
      ...this.#status,
      conditions: before === undefined
        ? [...conditions, condition]
        : conditions.map((one) => one === before ? condition : one),
    };
  }
}
