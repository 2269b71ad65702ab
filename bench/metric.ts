/** The metrics: name, unit and direction of each number, in the order of the tables. */

/** How a number is shown. */
export type Unit = "milliseconds" | "microseconds" | "bytes" | "perSecond" | "count";

/** One kind of number. */
export interface MetricDefinition {
  readonly title: string;
  readonly unit: Unit;
  /** Which of two values is the better one. */
  readonly better: "lower" | "higher";
}

/** All kinds of numbers. */
export const metrics = {
  timeMs: { title: "time", unit: "milliseconds", better: "lower" },
  cpuMs: { title: "CPU (user + sys)", unit: "milliseconds", better: "lower" },
  maxRssBytes: { title: "max RSS", unit: "bytes", better: "lower" },
  reconcilesPerObject: { title: "reconciles per object", unit: "count", better: "lower" },
  rssBytes: { title: "RSS", unit: "bytes", better: "lower" },
  rssOfOne: { title: "RSS above that without Foos, times replicas, of that of one", unit: "count", better: "lower" },
  watchEvents: { title: "watch events a replica", unit: "perSecond", better: "higher" },
  childWrites: { title: "writes of Deployments per Foo", unit: "count", better: "lower" },
  statusWrites: { title: "writes of statuses per Foo", unit: "count", better: "lower" },
  heldMs: { title: "kill → all slots held", unit: "milliseconds", better: "lower" },
  backMs: { title: "kill → all deleted Deployments back", unit: "milliseconds", better: "lower" },
  sentMs: { title: "the server sends everything to the others", unit: "milliseconds", better: "lower" },
  repairWrites: { title: "writes of Deployments per deleted one", unit: "count", better: "lower" },
  idleRssBytes: { title: "idle RSS", unit: "bytes", better: "lower" },
  idleAnonymousBytes: { title: "idle RssAnon", unit: "bytes", better: "lower" },
  p50Us: { title: "p50", unit: "microseconds", better: "lower" },
  p99Us: { title: "p99", unit: "microseconds", better: "lower" },
  freshP50Us: { title: "p50, fresh connections", unit: "microseconds", better: "lower" },
  freshP99Us: { title: "p99, fresh connections", unit: "microseconds", better: "lower" },
  answered: { title: "most answered", unit: "perSecond", better: "higher" },
  answeredFresh: { title: "most answered, fresh connections", unit: "perSecond", better: "higher" },
  afterAnswerP50Us: { title: "from the update's answer, p50", unit: "microseconds", better: "lower" },
  afterAnswerP99Us: { title: "from the update's answer, p99", unit: "microseconds", better: "lower" },
  answeredP50Us: { title: "update answered, p50", unit: "microseconds", better: "lower" },
  addTakeDone: { title: "add + take + done", unit: "perSecond", better: "higher" },
  addRateLimitedForget: { title: "addRateLimited + forget", unit: "perSecond", better: "higher" },
  addAfter: { title: "addAfter", unit: "perSecond", better: "higher" },
  created: { title: "creates", unit: "perSecond", better: "higher" },
  cpuUsPerCreate: { title: "CPU per create", unit: "microseconds", better: "lower" },
  loadCpuUsPerCreate: { title: "the load program's CPU per create", unit: "microseconds", better: "lower" },
  serverCpuMs: { title: "CPU of the server", unit: "milliseconds", better: "lower" },
  clientCpuMs: { title: "kubectl's CPU", unit: "milliseconds", better: "lower" },
  storedBytes: { title: "RSS per stored object", unit: "bytes", better: "lower" },
  servedMs: { title: "exec → first answer", unit: "milliseconds", better: "lower" },
  servedCpuMs: { title: "CPU until then", unit: "milliseconds", better: "lower" },
  cpuUsPerOperation: { title: "CPU per operation", unit: "microseconds", better: "lower" },
  checkCpuMs: { title: "CPU of a first check", unit: "milliseconds", better: "lower" },
  editCpuMs: { title: "CPU of the check after an edit", unit: "milliseconds", better: "lower" },
  usPerObject: { title: "time per object", unit: "microseconds", better: "lower" },
  schedules: { title: "schedules", unit: "perSecond", better: "higher" },
  binaryBytes: { title: "size", unit: "bytes", better: "lower" },
  bytesPerObject: { title: "max RSS per object", unit: "bytes", better: "lower" },
} as const satisfies Record<string, MetricDefinition>;

/** The name of a number. */
export type Metric = keyof typeof metrics;

/** The results of one run of one subject. */
export interface Sample {
  /** The name of the subject. */
  readonly subject: string;
  readonly values: Readonly<Partial<Record<Metric, number>>>;
}

/** Every metric's name, in the order of the table above. */
export const metricNames: readonly Metric[] = Object.keys(metrics).filter(isMetric);

function isMetric(name: string): name is Metric {
  return Object.hasOwn(metrics, name);
}

/** A value with its unit, three significant digits. */
export function formatValue(metric: Metric, value: number): string {
  const { unit } = metrics[metric];
  switch (unit) {
    case "milliseconds":
      return value < 1000 ? `${digits(value)} ms` : `${digits(value / 1000)} s`;
    case "microseconds":
      return value < 1000 ? `${digits(value)} µs` : `${digits(value / 1000)} ms`;
    case "bytes":
      return value < 1 << 20 ? `${Math.round(value)} B` : `${digits(value / (1 << 20))} MiB`;
    case "perSecond":
      return value < 1e5 ? `${Math.round(value)}/s` : `${digits(value / 1e6)} M/s`;
    case "count":
      return digits(value);
    default:
      return unit satisfies never;
  }
}

function digits(value: number): string {
  return value >= 100 ? String(Math.round(value)) : value.toPrecision(3);
}
