/**
 * The bars: what the project wants to reach, each as a ratio of medians against a peer of the same run, and whether a
 * run reached it.
 */
import {
  bothSubject,
  creatingReplicas,
  growthSubject,
  josdk,
  josdkSmall,
  kopf,
  mostGrown,
  ours,
  recordingSubject,
  type Scale,
  twoReplicas,
  typesSubject,
  valuesOf,
} from "./cases/mod.ts";
import { type Metric, metrics, type Sample } from "./metric.ts";
import { median, spread } from "./statistics.ts";

/** One line of the table of bars. */
export interface Bar {
  readonly caseName: string;
  readonly metric: Metric;
  /** The peer; absent where other sizes of our own side are compared, as the ratio of the largest to the smallest. */
  readonly peer?: string;
  /** The sizes to compare. @default "growth" */
  readonly sizes?: "growth" | "stored";
  /** Instead of a peer: a value that is promised to users, in the metric's unit. */
  readonly limit?: number;
  /** What is measured of our own side. @default the subject with our name */
  readonly subject?: string;
  /** The ratio ours / peer that must be reached: at most this where lower is better, at least where higher is. */
  readonly bar: number;
  /** The ratio that is the next goal. */
  readonly aim: number;
}

/** A bar, and the result of a run. */
export interface Verdict {
  readonly bar: Bar;
  readonly ours: number;
  readonly peer: number;
  readonly ratio: number;
  readonly kind: "aim met" | "met" | "missed";
}

const manager = "controller-runtime";
const kubernetes = "kube-apiserver + etcd";
/** Peers with their defaults, and as their guides advise; we drop managedFields by default, so both matter. */
const typed = ["controller-runtime (typed)", "controller-runtime (typed, managedFields dropped)"] as const;
const streaming = ["kube-rs (streaming)", "kube-rs (streaming, managedFields dropped)"] as const;

/** The Java Operator SDK and kopf: an operator of ours needs at most as much as theirs. */
function hostedBars(): readonly Bar[] {
  const all = [josdk, josdkSmall, kopf] as const;
  const table: readonly (readonly [caseName: string, peers: readonly string[], metrics: readonly Metric[]])[] = [
    ["sync", all, ["timeMs", "cpuMs", "maxRssBytes"]],
    ["reconcile", all, ["timeMs", "cpuMs", "maxRssBytes"]],
    ["latency", all, ["p50Us", "p99Us"]],
    ["start", all, ["timeMs", "idleRssBytes"]],
    ["webhook", [kopf], ["p99Us", "freshP99Us", "cpuMs", "maxRssBytes"]],
  ];
  return table.flatMap(([caseName, peers, metrics]) =>
    metrics.flatMap((metric) => peers.map((peer): Bar => ({ caseName, metric, peer, bar: 1, aim: 0.5 })))
  );
}

/** The same bar against each of several peers. */
function against(peers: readonly string[], limits: Omit<Bar, "caseName" | "peer">): readonly Bar[] {
  return peers.map((peer) => ({ caseName: "sync", peer, ...limits }));
}

/** What is promised of an operator's type-check, with both compilers, whether declarations are checked or not. */
function typeChecks(): readonly Bar[] {
  const subjects = (["TypeScript 7", "TypeScript 5.9"] as const).flatMap((compiler) =>
    [false, true].map((checksDeclarations) => typesSubject(compiler, checksDeclarations))
  );
  return subjects.flatMap((subject): readonly Bar[] => [
    { caseName: "types", subject, metric: "checkCpuMs", limit: 3_000, bar: 1, aim: 0.5 },
    { caseName: "types", subject, metric: "editCpuMs", limit: 500, bar: 1, aim: 0.5 },
  ]);
}

/** Every bar. */
export const bars: readonly Bar[] = [
  ...against(typed, { metric: "timeMs", bar: 0.6, aim: 0.5 }),
  ...against(streaming, { metric: "timeMs", bar: 1.05, aim: 1 }),
  ...against(typed, { metric: "cpuMs", bar: 0.3, aim: 0.22 }),
  ...against(streaming, { metric: "cpuMs", bar: 0.8, aim: 0.65 }),
  ...against([typed[0]], { metric: "maxRssBytes", bar: 0.5, aim: 0.4 }),
  ...against([typed[1]], { metric: "maxRssBytes", bar: 0.7, aim: 0.5 }),
  ...against(streaming, { metric: "maxRssBytes", bar: 0.45, aim: 0.33 }),
  { caseName: "reconcile", metric: "timeMs", peer: manager, bar: 1, aim: 0.9 },
  { caseName: "reconcile", metric: "cpuMs", peer: manager, bar: 0.5, aim: 0.4 },
  // What a recording costs.
  { caseName: "reconcile", subject: recordingSubject, metric: "cpuMs", peer: ours, bar: 1.03, aim: 1.02 },
  // Each Foo has one write cycle.
  { caseName: "reconcile", metric: "reconcilesPerObject", limit: 1.1, bar: 1, aim: 0.95 },
  { caseName: "latency", metric: "p50Us", peer: manager, bar: 1, aim: 0.7 },
  { caseName: "latency", metric: "p99Us", peer: manager, bar: 1, aim: 0.7 },
  // Nearly all of the latency is the server's time; this is the rest.
  { caseName: "latency", metric: "afterAnswerP50Us", peer: manager, bar: 1, aim: 0.7 },
  { caseName: "latency", metric: "afterAnswerP99Us", peer: manager, bar: 1, aim: 0.7 },
  { caseName: "queue", metric: "addTakeDone", peer: "client-go", bar: 1.2, aim: 2 },
  { caseName: "queue", metric: "addRateLimitedForget", peer: "client-go", bar: 1, aim: 2 },
  { caseName: "queue", metric: "addAfter", peer: "client-go", bar: 1, aim: 2 },
  { caseName: "start", metric: "timeMs", peer: manager, bar: 1.5, aim: 1 },
  { caseName: "start", metric: "idleAnonymousBytes", peer: manager, bar: 0.9, aim: 0.8 },
  { caseName: "start", metric: "idleRssBytes", peer: manager, bar: 1.3, aim: 1 },
  { caseName: "growth", metric: "usPerObject", bar: 1.15, aim: 1.15 },
  { caseName: "growth", metric: "bytesPerObject", bar: 1.15, aim: 1.15 },
  {
    caseName: "growth",
    subject: growthSubject(ours, mostGrown),
    metric: "bytesPerObject",
    limit: 900,
    bar: 1,
    aim: 0.8,
  },
  { caseName: "plan", metric: "timeMs", limit: 10_000, bar: 1, aim: 0.5 },
  // 20,000 a minute on two processors.
  { caseName: "simulate", metric: "schedules", limit: 20_000 / 60, bar: 1, aim: 1.2 },
  // A cluster does not notice that its neighbour is stopped: the bar is what two equal runs differ by.
  { caseName: "fleet", metric: "p50Us", peer: bothSubject, bar: 1.15, aim: 1 },
  { caseName: "fleet", metric: "p99Us", peer: bothSubject, bar: 1.3, aim: 1 },
  // With N replicas each has at most 1.15/N of the memory of one, and what every process has.
  { caseName: "shards", metric: "rssOfOne", limit: 1.15, bar: 1, aim: 0.9 },
  { caseName: "shards", subject: twoReplicas, metric: "rssOfOne", limit: 1.15, bar: 1, aim: 0.9 },
  { caseName: "shards", subject: creatingReplicas, metric: "rssOfOne", limit: 1.15, bar: 1, aim: 0.9 },
  { caseName: "shards", subject: creatingReplicas, metric: "childWrites", limit: 1, bar: 1, aim: 1 },
  { caseName: "shards", subject: creatingReplicas, metric: "statusWrites", limit: 1, bar: 1, aim: 1 },
  { caseName: "shards", metric: "repairWrites", limit: 1, bar: 1, aim: 1 },
  // A Lease of 15 s, and 5 s.
  { caseName: "shards", metric: "heldMs", limit: 20_000, bar: 1, aim: 0.8 },
  { caseName: "shards", metric: "backMs", limit: 20_000, bar: 1, aim: 0.9 },
  // The promise is 50 ms at 200 requests a second.
  { caseName: "webhook", metric: "p99Us", limit: 50_000, bar: 1, aim: 0.2 },
  { caseName: "webhook", metric: "freshP99Us", limit: 50_000, bar: 1, aim: 0.2 },
  { caseName: "webhook", metric: "cpuMs", peer: manager, bar: 1, aim: 0.8 },
  { caseName: "webhook", metric: "p99Us", peer: manager, bar: 1, aim: 0.8 },
  // Peak memory under attack, of the released binary; CPU for a file.
  { caseName: "hostile-webhook", metric: "maxRssBytes", limit: 200 * 2 ** 20, bar: 1, aim: 0.8 },
  { caseName: "hostile-conversion", metric: "maxRssBytes", limit: 200 * 2 ** 20, bar: 1, aim: 0.8 },
  { caseName: "hostile-server", metric: "maxRssBytes", limit: 256 * 2 ** 20, bar: 1, aim: 0.8 },
  { caseName: "hostile-kubeconfig", metric: "cpuMs", limit: 1_000, bar: 1, aim: 0.5 },
  // The embedded API server.
  { caseName: "apiserver", metric: "created", peer: kubernetes, bar: 3, aim: 6 },
  { caseName: "apiserver", metric: "cpuUsPerCreate", peer: kubernetes, bar: 0.33, aim: 0.1 },
  { caseName: "apiserver", metric: "maxRssBytes", peer: kubernetes, bar: 0.5, aim: 0.33 },
  { caseName: "apiserver-apply", metric: "timeMs", peer: kubernetes, bar: 0.5, aim: 0.4 },
  { caseName: "apiserver-apply", metric: "serverCpuMs", peer: kubernetes, bar: 0.5, aim: 0.33 },
  { caseName: "apiserver-stored", metric: "storedBytes", limit: 2_048, bar: 1, aim: 0.75 },
  { caseName: "apiserver-stored", metric: "storedBytes", peer: kubernetes, bar: 0.33, aim: 0.2 },
  { caseName: "dev", metric: "maxRssBytes", limit: 250 * 2 ** 20, bar: 1, aim: 0.8 },
  { caseName: "apiserver-start", metric: "servedMs", limit: 300, bar: 1, aim: 0.5 },
  { caseName: "envtest-start", metric: "servedMs", limit: 150, bar: 1, aim: 0.8 },
  { caseName: "envtest-start", metric: "servedMs", peer: kubernetes, bar: 0.1, aim: 0.05 },
  { caseName: "envtest-suite", metric: "timeMs", peer: kubernetes, bar: 0.5, aim: 0.4 },
  { caseName: "envtest-suite", metric: "cpuMs", peer: kubernetes, bar: 0.4, aim: 0.3 },
  { caseName: "envtest-suite", metric: "maxRssBytes", peer: kubernetes, bar: 0.3, aim: 0.25 },
  { caseName: "apiserver-memory", metric: "created", limit: 20_000, bar: 1, aim: 1.5 },
  { caseName: "apiserver-memory", metric: "cpuUsPerOperation", sizes: "stored", bar: 1.15, aim: 1.05 },
  ...typeChecks(),
  { caseName: "size", metric: "binaryBytes", limit: 100e6, bar: 1, aim: 0.9 },
  ...hostedBars(),
];

/** The sizes at which our own side is measured. */
type Sizes = Pick<Scale, "growth" | "stored">;

/** Judges one bar; undefined when one of the two sides was not measured. */
export function judge(bar: Bar, samples: readonly Sample[], scale: Sizes): Verdict | undefined {
  if (bar.limit !== undefined) return judgeLimit(bar, bar.limit, samples);
  return bar.peer === undefined ? judgeSpread(bar, samples, scale) : judgeRatio(bar, bar.peer, samples);
}

function judgeRatio(bar: Bar, peer: string, samples: readonly Sample[]): Verdict | undefined {
  const own = valuesOf(samples, bar.subject ?? ours, bar.metric);
  const other = valuesOf(samples, peer, bar.metric);
  if (own.length === 0 || other.length === 0) return undefined;
  return verdict(bar, median(own), median(other), median(own) / median(other));
}

function judgeLimit(bar: Bar, limit: number, samples: readonly Sample[]): Verdict | undefined {
  const own = valuesOf(samples, bar.subject ?? ours, bar.metric);
  return own.length === 0 ? undefined : verdict(bar, median(own), limit, median(own) / limit);
}

/** The columns of the two sides show the extremes. */
function judgeSpread(bar: Bar, samples: readonly Sample[], scale: Sizes): Verdict | undefined {
  const bySize = scale[bar.sizes ?? "growth"].map((objects) =>
    valuesOf(samples, growthSubject(ours, objects), bar.metric)
  );
  if (bySize.some((values) => values.length === 0)) return undefined;
  const medians = bySize.map(median);
  return verdict(bar, Math.max(...medians), Math.min(...medians), spread(medians));
}

function verdict(bar: Bar, own: number, peer: number, ratio: number): Verdict {
  const reaches = (limit: number) => metrics[bar.metric].better === "lower" ? ratio <= limit : ratio >= limit;
  const kind = reaches(bar.aim) ? "aim met" : reaches(bar.bar) ? "met" : "missed";
  return { bar, ours: own, peer, ratio, kind };
}
