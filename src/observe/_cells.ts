/**
 * Cells: one metric with its labels fixed. They hold plain numbers and know how they look in the text format.
 */

/** Only ever goes up. */
export interface Counter {
  /** Adds `by`, which must not be negative. @default 1 */
  inc(by?: number): void;
}

/** Goes up and down. */
export interface Gauge {
  set(value: number): void;
  /** @default 1 */
  inc(by?: number): void;
  /** @default 1 */
  dec(by?: number): void;
  /** From now on the value is what `read` answers when the text is made. */
  read(read: () => number): void;
}

/** Counts how often values fall into buckets. */
export interface Histogram {
  observe(value: number): void;
}

/** Writes one line of the text: name with suffix, labels with the extra one, value. */
export type Sample = (suffix: string, extraLabel: string, value: number) => void;

/** What a family needs of its cells. */
export interface Renderable {
  render(sample: Sample): void;
}

export class CounterCell implements Counter, Renderable {
  #value = 0;

  inc(by = 1): void {
    if (by > 0) this.#value += by;
  }

  render(sample: Sample): void {
    sample("", "", this.#value);
  }
}

export class GaugeCell implements Gauge, Renderable {
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
    sample("", "", this.#read === undefined ? this.#value : this.#read());
  }
}

export class HistogramCell implements Histogram, Renderable {
  readonly #bounds: readonly number[];
  /** Per bucket, not cumulated; the last one is +Inf. */
  readonly #counts: Float64Array;
  #sum = 0;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#counts = new Float64Array(bounds.length + 1);
  }

  observe(value: number): void {
    const bounds = this.#bounds;
    let low = 0, high = bounds.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((bounds[middle] ?? Infinity) < value) low = middle + 1;
      else high = middle;
    }
    this.#counts[low] = (this.#counts[low] ?? 0) + 1;
    this.#sum += value;
  }

  render(sample: Sample): void {
    let count = 0;
    for (let at = 0; at <= this.#bounds.length; at++) {
      count += this.#counts[at] ?? 0;
      sample("_bucket", `le="${this.#bounds[at] ?? "+Inf"}"`, count);
    }
    sample("_sum", "", this.#sum);
    sample("_count", "", count);
  }
}
