/** Stats: what the small plots show of one controller, as samples over time; and their sums in equal steps. */

interface Sample {
  readonly at: number;
  readonly value: number;
}

/** The newest samples of one number. */
const maxSamples = 50_000;

/** The numbers of one controller. */
export class Stats {
  /** 1 for each reconcile. */
  readonly ends: Sample[] = [];
  /** 1 for each failed one. */
  readonly failures: Sample[] = [];
  /** Keys that are ready and wait for a worker. */
  readonly depths: Sample[] = [];
  /** Milliseconds from the change to the reconcile that it caused. */
  readonly lags: Sample[] = [];
  /** Milliseconds of a reconcile. */
  readonly durations: Sample[] = [];
  readonly ready = new Set<string>();

  add(samples: Sample[], at: number, value: number): void {
    samples.push({ at, value });
    if (samples.length > maxSamples * 1.1) samples.splice(0, samples.length - maxSamples);
  }
}

/** A number in equal steps of time. */
export interface Series {
  /** Seconds since the epoch. */
  readonly times: readonly number[];
  readonly values: readonly number[];
}

/** What is shown of a time. */
export interface Window {
  /** Milliseconds since the epoch. */
  readonly from: number;
  readonly to: number;
}

const steps = 60;

/** How the samples of one step become one number. */
export type Reduce = "rate" | "max" | "last";

/** The samples in equal steps. `rate` is per second. `last` stays until the next sample. */
export function seriesOf(samples: readonly Sample[], { from, to }: Window, reduce: Reduce): Series {
  const stepMs = Math.max(1, to - from) / steps;
  const values = new Array<number>(steps).fill(reduce === "last" ? NaN : 0);
  let before = 0;
  for (const { at, value } of samples) {
    if (at < from) {
      before = value;
      continue;
    }
    const index = Math.min(steps - 1, Math.floor((at - from) / stepMs));
    const now = values[index] ?? 0;
    values[index] = reduce === "rate" ? now + value * 1_000 / stepMs : reduce === "max" ? Math.max(now, value) : value;
  }
  if (reduce === "last") {
    for (let index = 0; index < steps; index++) {
      const value = values[index] ?? NaN;
      if (Number.isNaN(value)) values[index] = before;
      else before = value;
    }
  }
  return { times: values.map((_, index) => (from + (index + 0.5) * stepMs) / 1_000), values };
}

/** The value below which 95 of 100 samples of the window are. */
export function percentile95(samples: readonly Sample[], { from }: Window): number | undefined {
  const values = samples.filter(({ at }) => at >= from).map(({ value }) => value).sort((a, b) => a - b);
  return values[Math.min(values.length - 1, Math.floor(values.length * 0.95))];
}
