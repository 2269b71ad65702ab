/**
 * The metrics of a HorizontalPodAutoscaler, and the replicas that they ask for, as kube-controller-manager's
 * replica_calculator.go. There are no metrics API: the annotation `pintle.dev/metrics` of the autoscaler has the values, a
 * JSON object such as `{"cpu":"900m","web/memory":"1Gi","requests":"300"}`. A value is the total of all Pods, and the Pods
 * that run have equal shares of it; so an autoscaler comes to rest, as with a real load.
 */
import type { builtin, Infer } from "../api/mod.ts";
import { formatQuantity, parseQuantity } from "../apiserver/mod.ts";
import type { Pod } from "./_pods.ts";
import { isReady } from "./_pods.ts";

type Autoscaler = Infer<typeof builtin.HorizontalPodAutoscaler>;
type MetricSpec = NonNullable<Autoscaler["spec"]["metrics"]>[number];
type MetricStatus = NonNullable<NonNullable<Autoscaler["status"]>["currentMetrics"]>[number];
type Target = NonNullable<MetricSpec["resource"]>["target"];

/** The annotation with the values. */
export const metricsAnnotation = "pintle.dev/metrics";

/** What the calculation depends on. */
export interface MetricSource {
  readonly autoscaler: Autoscaler;
  /** The Pods that the target selects. */
  readonly pods: readonly Pod[];
  /** In the spec of the target's scale, and in its status. */
  readonly replicas: { readonly spec: number; readonly status: number };
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** What one metric asks for. */
export interface MetricProposal {
  readonly replicas: number;
  /** For the Event and the condition. */
  readonly name: string;
  readonly status: MetricStatus;
}

/** A metric that cannot be read. */
export class MetricError extends Error {
  /** For the condition ScalingActive and the Event. */
  readonly reason: string;
  /** What FailedComputeMetricsReplicas says. */
  readonly summary: string;

  constructor(reason: string, prefix: string, cause: unknown) {
    const message = cause instanceof Error ? cause.message : String(cause);
    super(message);
    this.reason = reason;
    this.summary = `${prefix}: ${message}`;
  }
}

/** Computes the replicas that a metric asks for. @throws MetricError when it cannot be read */
export function proposalOf(spec: MetricSpec, source: MetricSource): MetricProposal {
  const { type, resource, containerResource, pods, object, external } = spec;
  const attempt = (reason: string, prefix: string, compute: () => MetricProposal): MetricProposal => {
    try {
      return compute();
    } catch (error) {
      throw new MetricError(reason, prefix, error);
    }
  };
  if (resource !== undefined) {
    const prefix = `failed to get ${resource.name} resource metric value`;
    return attempt("FailedGetResourceMetric", prefix, () => {
      const { current, ...rest } = resourceProposal(resource, source);
      return { ...rest, status: { type, resource: { name: resource.name, current } } };
    });
  }
  if (containerResource !== undefined) {
    const { name, container } = containerResource;
    return attempt("FailedGetContainerResourceMetric", `failed to get ${container} container metric value`, () => {
      const { current, ...rest } = resourceProposal(containerResource, source);
      return { ...rest, status: { type, containerResource: { name, container, current } } };
    });
  }
  if (pods !== undefined) {
    return attempt("FailedGetPodsMetric", "failed to get pods metric value", () => {
      const { replicas, usage } = plainReplicas(source, {
        ...{ total: customMetric(pods.metric.name, source), target: milli(pods.target.averageValue), resource: "" },
        onMissing: (why) => new Error(`unable to get metric ${pods.metric.name}: ${why}`),
      });
      const status = { type, pods: { metric: pods.metric, current: { averageValue: quantity(usage) } } };
      return { replicas, name: `pods metric ${pods.metric.name}`, status };
    });
  }
  if (object !== undefined) {
    return attempt("FailedGetObjectMetric", "failed to get object metric value", () => {
      const { metric, describedObject, target } = object;
      const { replicas, current } = totalProposal(target, source, () => objectTotal(object, source));
      const name = target.type === "Value" ? `${describedObject.kind} metric ${metric.name}` : externalName(metric);
      return { replicas, name, status: { type, object: { metric, describedObject, current } } };
    });
  }
  if (external !== undefined) {
    const { metric, target } = external;
    return attempt("FailedGetExternalMetric", `failed to get ${metric.name} external metric value`, () => {
      const { replicas, current } = totalProposal(target, source, () => externalTotal(external, source));
      return { replicas, name: externalName(metric), status: { type, external: { metric, current } } };
    });
  }
  throw new MetricError("InvalidMetricSourceType", "", `unknown metric source type ${JSON.stringify(type)}`);
}

type Metric = NonNullable<MetricSpec["external"]>["metric"];

function externalName(metric: Metric): string {
  return `external metric ${metric.name}(${selectorText(metric)})`;
}

/** As Go prints a *LabelSelector. */
function selectorText({ selector }: Metric): string {
  if (selector === undefined) return "nil";
  const labels = Object.entries(selector.matchLabels ?? {}).toSorted().map(([key, value]) => `${key}: ${value},`).join(
    "",
  );
  return `&LabelSelector{MatchLabels:map[string]string{${labels}},MatchExpressions:[]LabelSelectorRequirement{},}`;
}

/** The values in the annotation; undefined without one, as in a cluster that serves no metrics. */
function givenMetrics({ autoscaler }: MetricSource): ReadonlyMap<string, number> | undefined {
  const text = autoscaler.metadata.annotations?.[metricsAnnotation];
  if (text === undefined) return undefined;
  try {
    const values: unknown = JSON.parse(text);
    if (typeof values !== "object" || values === null || Array.isArray(values)) throw new Error("it is no JSON object");
    return new Map(Object.entries(values).map(([name, value]) => [name, milli(String(value))]));
  } catch (error) {
    throw new Error(
      `the annotation ${metricsAnnotation} is invalid: ${error instanceof Error ? error.message : error}`,
    );
  }
}

/** A value, or why there is none. */
type Given = { readonly total: number } | { readonly why: string };

function given(source: MetricSource, name: string, { api, absent }: { api: string; absent: string }): Given {
  try {
    const metrics = givenMetrics(source);
    if (metrics === undefined) return { why: `unable to fetch metrics from ${api} metrics API: ${absent}` };
    const total = metrics.get(name);
    return total === undefined ? { why: `no metrics returned from ${api} metrics API` } : { total };
  } catch (error) {
    return {
      why: `unable to fetch metrics from ${api} metrics API: ${error instanceof Error ? error.message : error}`,
    };
  }
}

const notFound = (resource: string) => `the server could not find the requested resource (get ${resource})`;

function customMetric(name: string, source: MetricSource): Given {
  return given(source, name, { api: "custom", absent: "no known available metric versions found" });
}

function objectTotal({ metric, describedObject, target }: NonNullable<MetricSpec["object"]>, source: MetricSource) {
  const found = customMetric(metric.name, source);
  if ("total" in found) return found.total;
  const { namespace } = source.autoscaler.metadata;
  // The order of the words is that of the original.
  const message = `unable to get metric ${metric.name}: ${describedObject.kind} on ${namespace} ` +
    `${describedObject.name}/${found.why}`;
  throw new Error(target.type === "Value" ? message : `failed to get ${metric.name} object metric: ${message}`);
}

function externalTotal({ metric, target }: NonNullable<MetricSpec["external"]>, source: MetricSource): number {
  const absent = notFound(`${metric.name}.external.metrics.k8s.io`);
  const found = given(source, metric.name, { api: "external", absent });
  if ("total" in found) return found.total;
  const name = `${source.autoscaler.metadata.namespace}/${metric.name}/${selectorText(metric)}`;
  const prefix = target.averageValue === undefined
    ? `failed to get external metric ${metric.name}`
    : `failed to get ${metric.name} external metric`;
  throw new Error(`${prefix}: unable to get external metric ${name}: ${found.why}`);
}

/** The replicas for a value of which every Pod has a part. */
function totalProposal(target: Target, source: MetricSource, read: () => number) {
  const total = read();
  const { spec, status } = source.replicas;
  if (target.averageValue !== undefined) {
    const wanted = milli(target.averageValue);
    const isFine = isWithin(source, total / (wanted * status));
    const usage = Math.ceil(total / status);
    const current = { averageValue: quantity(Number.isFinite(usage) ? usage : total) };
    return { replicas: isFine ? status : Math.ceil(total / wanted), current };
  }
  const ratio = total / milli(target.value);
  const current = { value: quantity(total) };
  if (isWithin(source, ratio)) return { replicas: spec, current };
  if (source.pods.length === 0) {
    throw new Error("unable to calculate ready pods: no pods returned by selector while calculating replica count");
  }
  const ready = source.pods.filter((pod) => pod.status?.phase === "Running" && isReady(pod)).length;
  return { replicas: Math.ceil(ratio * ready), current };
}

/** The replicas for the resources of Pods, or of one container of each. */
function resourceProposal(
  { name, target, container }: {
    readonly name: string;
    readonly target: Target;
    readonly container?: string;
  },
  source: MetricSource,
) {
  const found = given(source, container === undefined ? name : `${container}/${name}`, {
    api: "resource",
    absent: notFound("pods.metrics.k8s.io"),
  });
  const kind = target.averageValue === undefined ? "utilization" : "usage";
  const onMissing = (why: string) => new Error(`unable to get metrics for resource ${name}: ${why}`);
  try {
    if (target.averageValue !== undefined) {
      const plain = { total: found, target: milli(target.averageValue), resource: name, onMissing };
      const { replicas, usage } = plainReplicas(source, plain);
      return { replicas, name: `${name} resource`, current: { averageValue: quantity(usage, name) } };
    }
    const { averageUtilization = 0 } = target;
    const { replicas, usage, utilization } = utilizationReplicas(source, {
      ...{ total: found, averageUtilization, resource: name, container, onMissing },
    });
    const subject = container === undefined ? "resource" : "container resource";
    return {
      replicas,
      name: `${name} ${subject} utilization (percentage of request)`,
      current: { averageUtilization: utilization, averageValue: quantity(usage, name) },
    };
  } catch (error) {
    throw new Error(`failed to get ${name} ${kind}: ${error instanceof Error ? error.message : error}`);
  }
}

interface PodMetric {
  readonly total: Given;
  /** "" for a metric that is no resource. */
  readonly resource: string;
  readonly onMissing: (why: string) => Error;
}

function plainReplicas(source: MetricSource, metric: PodMetric & { readonly target: number }) {
  const { target } = metric;
  return replicasOf(source, metric, (values) => {
    const usage = Math.trunc(sum(values.values()) / values.size);
    return { ratio: usage / target, usage };
  }, () => target);
}

function utilizationReplicas(
  source: MetricSource,
  metric: PodMetric & { readonly averageUtilization: number; readonly container?: string },
) {
  const { averageUtilization, resource, container } = metric;
  let requests: ReadonlyMap<string, number> | undefined;
  const requestsOf = () =>
    requests ??= new Map(source.pods.map((pod) => [pod.metadata.name ?? "", requestOf(pod, resource, container)]));
  return replicasOf(source, metric, (values) => {
    const requested = requestsOf();
    const total = sum([...values.keys()].map((name) => requested.get(name) ?? 0));
    if (total === 0) throw new Error("no metrics returned matched known pods");
    const used = sum(values.values());
    const utilization = Math.trunc(used * 100 / total);
    return { ratio: utilization / averageUtilization, utilization, usage: Math.trunc(used / values.size) };
  }, (name) => (requestsOf().get(name) ?? 0) * Math.max(100, averageUtilization) / 100);
}

/** What a Pod requests, in thousandths. */
function requestOf({ metadata, spec }: Pod, resource: string, container: string | undefined): number {
  const ofPod = spec.resources?.requests;
  if (ofPod !== undefined && container === undefined) {
    const request = ofPod[resource];
    if (request === undefined) throw new Error(`missing pod-level request for ${resource} in Pod ${metadata.name}`);
    return milli(request);
  }
  const sidecars = (spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === "Always");
  const counted = [...spec.containers, ...sidecars].filter(({ name }) => container === undefined || name === container);
  if (counted.length === 0) throw new Error(`container ${container} not found in Pod ${metadata.name}`);
  return sum(counted.map(({ name, resources }) => {
    const request = resources?.requests?.[resource];
    if (request !== undefined) return milli(request);
    throw new Error(`missing request for ${resource} in container ${name} of Pod ${metadata.name}`);
  }));
}

/**
 * The replicas for a metric of each Pod. Pods without a value, and those that are not ready, count so that they only slow a
 * change down.
 *
 * @param fallback the value of a Pod without one, when there are too many Pods
 */
function replicasOf<R extends { readonly ratio: number }>(
  source: MetricSource,
  { total, resource, onMissing }: PodMetric,
  ratioOf: (values: ReadonlyMap<string, number>) => R,
  fallback: (name: string) => number,
): R & { readonly replicas: number } {
  if ("why" in total) throw onMissing(total.why);
  const values = sharesOf(total.total, source.pods);
  if (source.pods.length === 0) throw new Error("no pods returned by selector while calculating replica count");
  const { ready, unready, missing, ignored } = groupPods(source, values, resource);
  for (const name of [...ignored, ...unready]) values.delete(name);
  if (values.size === 0) throw new Error("did not receive metrics for targeted pods (pods might be unready)");
  const first = ratioOf(values);
  const current = source.replicas.spec;
  const isUpWithUnready = unready.length > 0 && first.ratio > 1;
  if (!isUpWithUnready && missing.length === 0) {
    return { ...first, replicas: isWithin(source, first.ratio) ? current : Math.ceil(first.ratio * ready) };
  }
  if (first.ratio !== 1) { for (const name of missing) values.set(name, first.ratio < 1 ? fallback(name) : 0); }
  if (isUpWithUnready) { for (const name of unready) values.set(name, 0); }
  const { ratio } = ratioOf(values);
  const replicas = Math.ceil(ratio * values.size);
  const turns = (first.ratio < 1 && ratio > 1) || (first.ratio > 1 && ratio < 1) ||
    (ratio < 1 && replicas > current) || (ratio > 1 && replicas < current);
  return { ...first, replicas: isWithin(source, ratio) || turns ? current : replicas };
}

function sharesOf(total: number, pods: readonly Pod[]): Map<string, number> {
  const running = pods.filter(({ metadata, status }) =>
    status?.phase === "Running" && metadata.deletionTimestamp === undefined
  );
  const share = Math.trunc(total / running.length);
  return new Map(running.map(({ metadata }) => [metadata.name ?? "", share]));
}

/** Milliseconds in which the processor time of a new Pod counts only while it is ready, and until it first was. */
const [cpuInitializationMs, initialReadinessMs] = [300_000, 30_000];

function groupPods({ pods, now }: MetricSource, values: ReadonlyMap<string, number>, resource: string) {
  const groups = { unready: [] as string[], missing: [] as string[], ignored: [] as string[] };
  let ready = 0;
  for (const pod of pods) {
    const { metadata: { name = "", deletionTimestamp }, status } = pod;
    if (deletionTimestamp !== undefined || status?.phase === "Failed") groups.ignored.push(name);
    else if (status?.phase === "Pending") groups.unready.push(name);
    else if (!values.has(name)) groups.missing.push(name);
    else if (resource === "cpu" && !hasCpuSample(pod, now)) groups.unready.push(name);
    else ready++;
  }
  return { ready, ...groups };
}

function hasCpuSample({ status }: Pod, now: number): boolean {
  const condition = status?.conditions?.find(({ type }) => type === "Ready");
  if (condition === undefined || status?.startTime === undefined) return false;
  const startedAt = Date.parse(status.startTime);
  if (condition.status !== "False") return true;
  return startedAt + cpuInitializationMs <= now &&
    startedAt + initialReadinessMs <= Date.parse(`${condition.lastTransitionTime}`);
}

/** True for a ratio of usage to target that is close enough to 1. */
function isWithin({ autoscaler }: MetricSource, ratio: number): boolean {
  const { scaleUp, scaleDown } = autoscaler.spec.behavior ?? {};
  const toleranceOf = (rules: typeof scaleUp) =>
    rules?.tolerance === undefined ? 0.1 : Number(parseQuantity(`${rules.tolerance}`).nano) / 1e9;
  return 1 - toleranceOf(scaleDown) <= ratio && ratio <= 1 + toleranceOf(scaleUp);
}

/** The thousandths of a quantity, rounded up. */
function milli(text: string | number | undefined): number {
  return Math.ceil(Number(parseQuantity(`${text}`).nano) / 1e6);
}

function quantity(thousandths: number, resource = ""): string {
  const format = resource === "memory" ? "binary" : "decimal";
  return formatQuantity({ nano: BigInt(Math.trunc(thousandths)) * 1_000_000n, format });
}

function sum(values: Iterable<number>): number {
  return [...values].reduce((total, value) => total + value, 0);
}
