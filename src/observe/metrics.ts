/**
 * MetricsRegistry: counters, gauges and histograms, and the Prometheus text that shows them.
 *
 * Guarantees: a cell (one metric with its labels fixed) is a few numbers in an object, so counting costs nanoseconds
 * and never allocates; whoever counts often keeps the cell. Metrics and cells appear in the text in the order they
 * were made. prom-client, which hashes the labels at each count, is left the process metrics (`runtime_metrics.ts`).
 */
import { Family } from "./_family.ts";
import {
  type Counter,
  CounterCell,
  type Gauge,
  GaugeCell,
  type Histogram,
  HistogramCell,
  type Renderable,
} from "./_cells.ts";

export type { Counter, Gauge, Histogram };

/** What a metric is called and how its cells are told apart. */
export interface MetricOptions<L extends string> {
  /** As Prometheus wants it, with its unit: `workqueue_adds_total`. */
  readonly name: string;
  /** One sentence for people. */
  readonly help: string;
  /** @default none */
  readonly labelNames?: readonly L[];
}

/** Options of a histogram. */
export interface HistogramOptions<L extends string> extends MetricOptions<L> {
  /** Upper bounds of the buckets, rising; +Inf is added. @default 5 ms to 10 s, as Prometheus' own */
  readonly buckets?: readonly number[];
}

/** One metric with all its cells. */
export interface MetricFamily<L extends string, Cell> {
  /** The cell of these label values; made at the first call. Keep it where counting is frequent. */
  labels(values: Readonly<Record<L, string>>): Cell;
  /** Drops a cell, e.g. when what it counted is gone for good. */
  remove(values: Readonly<Record<L, string>>): void;
}

/** Adds text of its own to a registry's, e.g. the process metrics. */
export type Collector = () => string | Promise<string>;

const defaultBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/**
 * All metrics of a program.
 *
 * @example
 * ```ts
 * import { MetricsRegistry } from "../mod.ts";
 *
 * const registry = new MetricsRegistry();
 * const requests = registry.counter({ name: "requests_total", help: "Requests served", labelNames: ["code"] });
 * requests.labels({ code: "200" }).inc();
 * console.assert((await registry.render()).includes('requests_total{code="200"} 1'));
 * ```
 */
export class MetricsRegistry {
  /** The Content-Type of {@link render}'s text. */
  readonly contentType = "text/plain; version=0.0.4; charset=utf-8";
  readonly #counters = new Map<string, Family<CounterCell>>();
  readonly #gauges = new Map<string, Family<GaugeCell>>();
  readonly #histograms = new Map<string, Family<HistogramCell>>();
  readonly #families = new Map<string, Family<Renderable>>();
  readonly #collectors = new Set<Collector>();

  /** The counter of this name; made at the first call. @throws {TypeError} when the name means something else already */
  counter<L extends string = never>(options: MetricOptions<L>): MetricFamily<L, Counter> {
    return this.#family(this.#counters, options, () => new Family("counter", options, () => new CounterCell()));
  }

  /** The gauge of this name; made at the first call. @throws {TypeError} when the name means something else already */
  gauge<L extends string = never>(options: MetricOptions<L>): MetricFamily<L, Gauge> {
    return this.#family(this.#gauges, options, () => new Family("gauge", options, () => new GaugeCell()));
  }

  /** The histogram of this name; made at the first call. @throws {TypeError} when the name means something else already */
  histogram<L extends string = never>(options: HistogramOptions<L>): MetricFamily<L, Histogram> {
    const bounds = [...options.buckets ?? defaultBuckets];
    if (bounds.some((bound, at) => !(bound > (bounds[at - 1] ?? -Infinity)))) {
      throw new RangeError(`Cannot create metric "${options.name}": buckets ${bounds.join(", ")} do not rise`);
    }
    return this.#family(
      this.#histograms,
      options,
      () => new Family("histogram", options, () => new HistogramCell(bounds)),
    );
  }

  /** Adds a source of further text. Dispose the result to remove it. */
  collect(collector: Collector): Disposable {
    this.#collectors.add(collector);
    return { [Symbol.dispose]: () => void this.#collectors.delete(collector) };
  }

  /** Everything in the Prometheus text format. */
  async render(): Promise<string> {
    let text = "";
    for (const family of this.#families.values()) text += family.render();
    for (const collector of this.#collectors) text += await collector();
    return text;
  }

  #family<Cell extends Renderable>(
    known: Map<string, Family<Cell>>,
    options: MetricOptions<string>,
    create: () => Family<Cell>,
  ): Family<Cell> {
    const { name, labelNames = [] } = options;
    const existing = known.get(name);
    if (existing !== undefined && existing.hasLabels(labelNames)) return existing;
    if (this.#families.has(name)) {
      throw new TypeError(`Cannot create metric "${name}": it exists with another type or other labels`);
    }
    const family = create();
    known.set(name, family);
    this.#families.set(name, family);
    return family;
  }
}
