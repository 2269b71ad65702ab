/**
 * MetricsRegistry: counters, gauges and histograms, and the text that shows them: that of Prometheus, or OpenMetrics, which
 * has exemplars (`open_metrics.ts`).
 *
 * Guarantees: a cell (one metric with fixed label values) is a few numbers in an object, so counting takes nanoseconds
 * and allocates nothing; code that counts often keeps its cell. The text lists metrics and cells in the order of their
 * creation. prom-client hashes the labels for each count, so it is used for the process metrics only
 * (`runtime_metrics.ts`).
 */

import { boundText, escapeHelp, escapeLabel, numberText, openMetricsEnd, openMetricsText } from "./open_metrics.ts";

/** The name of a metric, and the labels that distinguish its cells. */
export interface MetricOptions<L extends string> {
  /** A valid Prometheus name that ends in the unit, e.g. `workqueue_adds_total`. */
  readonly name: string;
  /** One sentence for people, shown as the HELP line. */
  readonly help: string;
  /** The names of the labels. @default none */
  readonly labelNames?: readonly L[];
}

/** Options of a histogram. */
export interface HistogramOptions<L extends string> extends MetricOptions<L> {
  /** Ascending upper bounds of the buckets; +Inf is added. @default 5 ms to 10 s, the defaults of Prometheus */
  readonly buckets?: readonly number[];
}

/** One metric with all its cells. */
export interface MetricFamily<L extends string, Cell> {
  /** The cell of these label values; the first call creates it. Keep the cell where counting is frequent. */
  labels(values: Readonly<Record<L, string>>): Cell;
  /** Removes a cell, e.g. because the object that it counted was deleted. */
  remove(values: Readonly<Record<L, string>>): void;
}

/** A text format of metrics. */
export type MetricsFormat = "prometheus" | "openmetrics";

/** The Content-Type of each format. */
export const contentTypes: Readonly<Record<MetricsFormat, string>> = {
  prometheus: "text/plain; version=0.0.4; charset=utf-8",
  openmetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8",
};

const defaultBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/**
 * Holds all metrics of a program and prints them for Prometheus. A Manager counts into that of its `metrics` option.
 *
 * @example
 * ```ts
 * import { MetricsRegistry } from "@pintle/controller";
 *
 * const registry = new MetricsRegistry();
 * const requests = registry.counter({ name: "requests_total", help: "Requests served", labelNames: ["code"] });
 * requests.labels({ code: "200" }).inc();
 * console.assert((await registry.render()).includes('requests_total{code="200"} 1'));
 * ```
 */
export class MetricsRegistry {
  /** The Content-Type of the text that {@link render} returns by default. */
  readonly contentType: string = contentTypes.prometheus;
  #counters = new Map<string, Family<CounterCell>>();
  #gauges = new Map<string, Family<GaugeCell>>();
  #histograms = new Map<string, Family<HistogramCell>>();
  #families = new Map<string, Family<Renderable>>();
  #collectors = new Set<() => string | Promise<string>>();
  /** The labels that every cell gets, as the text shows them. */
  #constant = "";

  /**
   * Returns a registry that counts into this one: every cell that is created through it has these labels as well. A Fleet gives
   * each cluster one, with the label `cluster`.
   *
   * @throws {TypeError} when Prometheus does not accept the name of a label
   */
  withLabels(labels: Readonly<Record<string, string>>): MetricsRegistry {
    const wrong = Object.keys(labels).find((name) => !labelName.test(name) || name === "le");
    if (wrong !== undefined) throw new TypeError(`Cannot label metrics: "${wrong}" is not a legal name`);
    const view = new MetricsRegistry();
    view.#counters = this.#counters;
    view.#gauges = this.#gauges;
    view.#histograms = this.#histograms;
    view.#families = this.#families;
    view.#collectors = this.#collectors;
    view.#constant = joinLabels(this.#constant, labelsText(Object.keys(labels), labels));
    return view;
  }

  /**
   * Removes all cells that have these labels, and maybe others.
   *
   * @param names The metrics. @default all
   */
  removeCells(labels: Readonly<Record<string, string>>, names: Iterable<string> = this.#families.keys()): void {
    for (const name of names) this.#families.get(name)?.removeWith(labels);
  }

  /**
   * Returns the counter of a name; the first call creates it.
   *
   * @throws {TypeError} when the name has another type or other labels
   */
  counter<L extends string = never>(options: MetricOptions<L>): MetricFamily<L, Counter> {
    return this.#family(this.#counters, options, () => new Family("counter", options, () => new CounterCell()));
  }

  /**
   * Returns the gauge of a name; the first call creates it.
   *
   * @throws {TypeError} when the name has another type or other labels
   */
  gauge<L extends string = never>(options: MetricOptions<L>): MetricFamily<L, Gauge> {
    return this.#family(this.#gauges, options, () => new Family("gauge", options, () => new GaugeCell()));
  }

  /**
   * Returns the histogram of a name; the first call creates it.
   *
   * @throws {TypeError} when the name has another type or other labels
   * @throws {RangeError} when the buckets are not ascending
   */
  histogram<L extends string = never>(options: HistogramOptions<L>): MetricFamily<L, Histogram> {
    const bounds = [...options.buckets ?? defaultBuckets];
    if (bounds.some((bound, at) => !(bound > (bounds[at - 1] ?? -Infinity)))) {
      throw new RangeError(`Cannot create metric "${options.name}": buckets ${bounds.join(", ")} are not ascending`);
    }
    return this.#family(
      this.#histograms,
      options,
      () => new Family("histogram", options, () => new HistogramCell(bounds)),
    );
  }

  /**
   * Adds text of another source, e.g. the metrics of another library.
   *
   * @param collector Returns text in the Prometheus format, for each rendering.
   * @returns Dispose it to remove the collector.
   */
  collect(collector: () => string | Promise<string>): Disposable {
    this.#collectors.add(collector);
    return { [Symbol.dispose]: () => void this.#collectors.delete(collector) };
  }

  /**
   * Names an example of a value that a histogram has observed, such as the trace in which it was measured. The bucket of the
   * value shows the latest one, in OpenMetrics. Nothing happens when there is no such histogram.
   *
   * @param labels The labels of its cells, or some of them.
   */
  setExemplar(name: string, labels: Readonly<Record<string, string>>, exemplar: Exemplar): void {
    for (const cell of this.#histograms.get(name)?.cellsWith(labels) ?? []) cell.setExemplar(exemplar);
  }

  /** Returns all metrics as text. @param format only OpenMetrics has exemplars @default "prometheus" */
  async render(format: MetricsFormat = "prometheus"): Promise<string> {
    const isOpenMetrics = format === "openmetrics";
    let text = "";
    for (const family of this.#families.values()) text += family.render(isOpenMetrics);
    for (const collector of this.#collectors) {
      const collected = await collector();
      text += isOpenMetrics ? openMetricsText(collected) : collected;
    }
    return isOpenMetrics ? text + openMetricsEnd : text;
  }

  #family<Cell extends Renderable>(
    known: Map<string, Family<Cell>>,
    options: MetricOptions<string>,
    create: () => Family<Cell>,
  ): MetricFamily<string, Cell> {
    const { name, labelNames = [] } = options;
    const existing = known.get(name);
    if (existing !== undefined && existing.hasLabels(labelNames)) return existing.with(this.#constant);
    if (this.#families.has(name)) {
      throw new TypeError(`Cannot create metric "${name}": it exists with another type or other labels`);
    }
    const family = create();
    known.set(name, family);
    this.#families.set(name, family);
    return family.with(this.#constant);
  }
}

/** A value that only increases. */
export interface Counter {
  /** Adds `by`; a negative number adds nothing. @default 1 */
  inc(by?: number): void;
}

/** A value that increases and decreases. */
export interface Gauge {
  /** Sets the value. */
  set(value: number): void;
  /** Adds `by`. @default 1 */
  inc(by?: number): void;
  /** Subtracts `by`. @default 1 */
  dec(by?: number): void;
  /** Makes the value the result of `read`, which is called for each rendering. */
  read(read: () => number): void;
}

/** Counts values by buckets. */
export interface Histogram {
  /** Adds a value, in the unit of the name: usually seconds. */
  observe(value: number): void;
}

/** An example of a value: the trace in which it was measured. */
export interface Exemplar {
  /** The value, as it was observed. */
  readonly value: number;
  /** When, in milliseconds since the epoch. */
  readonly at: number;
  /** At most 128 characters with the names, e.g. `trace_id` and `span_id`. */
  readonly labels: Readonly<Record<string, string>>;
}

/** Writes one line of the text: the name with a suffix, the labels with one more, the value. */
type Sample = (suffix: string, extra: { readonly le?: number; readonly exemplar?: Exemplar }, value: number) => void;

const noExtra = {} as const;

/** A cell that can write its lines. */
interface Renderable {
  render(sample: Sample): void;
}

class CounterCell implements Counter, Renderable {
  #value = 0;

  inc(by = 1): void {
    if (by > 0) this.#value += by;
  }

  render(sample: Sample): void {
    sample("", noExtra, this.#value);
  }
}

class GaugeCell implements Gauge, Renderable {
  #value = 0;
  #read: (() => number) | undefined = undefined;

  set(value: number): void {
    this.#value = value;
  }

  inc(by = 1): void {
    this.#value += by;
  }

  dec(by = 1): void {
    this.#value -= by;
  }

  read(read: () => number): void {
    this.#read = read;
  }

  render(sample: Sample): void {
    sample("", noExtra, this.#read === undefined ? this.#value : this.#read());
  }
}

class HistogramCell implements Histogram, Renderable {
  readonly #bounds: readonly number[];
  /** Per bucket, not cumulative; the last one is +Inf. */
  readonly #counts: Float64Array;
  /** By bucket. */
  #exemplars: (Exemplar | undefined)[] | undefined = undefined;
  #sum = 0;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = new Float64Array(bounds.length + 1);
  }

  observe(value: number): void {
    const at = this.#bucketOf(value);
    this.#counts[at] = (this.#counts[at] ?? 0) + 1;
    this.#sum += value;
  }

  setExemplar(exemplar: Exemplar): void {
    this.#exemplars ??= [];
    this.#exemplars[this.#bucketOf(exemplar.value)] = exemplar;
  }

  render(sample: Sample): void {
    let count = 0;
    for (let at = 0; at <= this.#bounds.length; at++) {
      count += this.#counts[at] ?? 0;
      sample("_bucket", { le: this.#bounds[at] ?? Infinity, exemplar: this.#exemplars?.[at] }, count);
    }
    sample("_sum", noExtra, this.#sum);
    sample("_count", noExtra, count);
  }

  /** The index of the bucket of a value; that after the last bound is +Inf. */
  #bucketOf(value: number): number {
    const bounds = this.#bounds;
    let low = 0, high = bounds.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((bounds[middle] ?? Infinity) < value) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Options of a {@link Family}. */
interface FamilyOptions {
  readonly name: string;
  readonly help: string;
  readonly labelNames?: readonly string[];
}

const metricName = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const labelName = /^[a-zA-Z_][a-zA-Z0-9_]*$/;

/** One metric with all its cells, and its part of the Prometheus text. */
class Family<Cell extends Renderable> {
  readonly #type: string;
  readonly #name: string;
  readonly #help: string;
  readonly #labelNames: readonly string[];
  readonly #create: () => Cell;
  /** By the labels of the cell as the text shows them, e.g. `code="200",verb="GET"`. */
  readonly #cells = new Map<string, Cell>();

  /** @throws {TypeError} when Prometheus does not accept a name */
  constructor(type: string, options: FamilyOptions, create: () => Cell) {
    const { name, help, labelNames = [] } = options;
    const wrong = metricName.test(name) ? labelNames.find((label) => !labelName.test(label) || label === "le") : name;
    if (wrong !== undefined) throw new TypeError(`Cannot create metric "${name}": "${wrong}" is not a legal name`);
    this.#type = type;
    this.#name = name;
    this.#help = help;
    this.#labelNames = [...labelNames];
    this.#create = create;
  }

  /** The metric, with further labels in each cell that is created through the result. */
  with(constant: string): MetricFamily<string, Cell> {
    const textOf = (values: Readonly<Record<string, string>>) =>
      joinLabels(constant, labelsText(this.#labelNames, values));
    return {
      labels: (values) => this.#cell(textOf(values)),
      remove: (values) => void this.#cells.delete(textOf(values)),
    };
  }

  #cell(text: string): Cell {
    let cell = this.#cells.get(text);
    if (cell === undefined) this.#cells.set(text, cell = this.#create());
    return cell;
  }

  /** The cells that have these labels, and maybe others. */
  *cellsWith(labels: Readonly<Record<string, string>>): Generator<Cell, void, void> {
    for (const [text, cell] of this.#cells) if (hasPairs(text, labels)) yield cell;
  }

  removeWith(labels: Readonly<Record<string, string>>): void {
    for (const text of this.#cells.keys()) if (hasPairs(text, labels)) this.#cells.delete(text);
  }

  hasLabels(names: readonly string[]): boolean {
    return names.length === this.#labelNames.length && this.#labelNames.every((name, at) => name === names[at]);
  }

  render(isOpenMetrics: boolean): string {
    const name = this.#name;
    const head = `# HELP ${name} ${escapeHelp(this.#help)}\n# TYPE ${name} ${this.#type}\n`;
    let text = isOpenMetrics ? openMetricsText(head) : head;
    for (const [labels, cell] of this.#cells) {
      cell.render((suffix, { le, exemplar }, value) => {
        const bound = le === undefined ? "" : `le="${boundText(le, isOpenMetrics)}"`;
        const all = joinLabels(labels, bound);
        const line = `${name}${suffix}${all === "" ? "" : `{${all}}`} ${numberText(value)}`;
        text += isOpenMetrics && exemplar !== undefined ? `${line}${exemplarText(exemplar)}\n` : `${line}\n`;
      });
    }
    return text;
  }
}

/** Labels as the text shows them. */
function labelsText(names: readonly string[], values: Readonly<Record<string, string>>): string {
  return names.map((name) => `${name}="${escapeLabel(values[name] ?? "")}"`).join(",");
}

function joinLabels(left: string, right: string): string {
  return left !== "" && right !== "" ? `${left},${right}` : left + right;
}

/** True if the text of a cell has these labels. */
function hasPairs(text: string, labels: Readonly<Record<string, string>>): boolean {
  return Object.entries(labels).every(([name, value]) => `,${text},`.includes(`,${name}="${escapeLabel(value)}",`));
}

function exemplarText({ value, at, labels }: Exemplar): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`);
  return ` # {${pairs.join(",")}} ${numberText(value)} ${at / 1000}`;
}
