/**
 * `deno task bench:soak`: the compiled binary for a long time on a real API server, under load and while things go wrong.
 *
 *   --minutes 60   how long
 *   --foos 20000   half of them belong to the operator that is never killed
 *   --rate 100     changes a second; one in ten calls the webhooks
 *
 * Once a minute the working replica is killed and started again, every two minutes the certificate of the webhooks is replaced,
 * every five minutes kube-apiserver is restarted. Prints how memory, handles, queues and timers went, writes bench/soak.svg, and
 * ends with 1 if one of them grew, if a Foo did not converge in the end, or if a program ended by itself.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { buildPrograms } from "../programs.ts";
import { Load } from "./load.ts";
import { type Mark, plot, type Series } from "./plot.ts";
import type { ProcessSample } from "./sample.ts";
import { Site } from "./site.ts";
import { trend } from "./trend.ts";

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "60" },
    foos: { type: "string", default: "20000" },
    rate: { type: "string", default: "100" },
  },
});
const [minutes, foos, rate] = [Number(values.minutes), 2 * Math.round(Number(values.foos) / 2), Number(values.rate)];
if (!(minutes > 0 && foos > 0 && rate > 0)) {
  console.error("Cannot begin the soak: --minutes, --foos and --rate need numbers above 0");
  process.exit(2);
}

const sampleMs = 5_000;
/** How long Foos may take to converge when nothing changes. */
const settleMs = 600_000;
const pools = 20;
const picture = join(import.meta.dirname ?? ".", "..", "soak.svg");
const mebibyte = 2 ** 20;

/** What is done again and again, with its color in the picture. */
const disturbances = [
  { name: "the leader is killed", everyMs: 60_000, color: "#d33", act: (site: Site) => site.killLeader() },
  {
    name: "a certificate is replaced",
    everyMs: 120_000,
    color: "#393",
    act: (site: Site) => site.replaceCertificate(),
  },
  {
    name: "kube-apiserver restarts",
    everyMs: 300_000,
    color: "#83c",
    act: (site: Site) => site.cluster.restartServer(),
  },
] as const;

/** What is read of a sample, and how much more of it the last third may have than the second one. */
const measures = [
  { title: "Resident memory (MiB)", of: ({ rssBytes }: ProcessSample) => rssBytes / mebibyte, share: 0.05, value: 5 },
  {
    title: "Anonymous memory (MiB)",
    of: ({ anonymousBytes }: ProcessSample) => anonymousBytes / mebibyte,
    share: 0.05,
    value: 5,
  },
  { title: "Handles", of: ({ handles }: ProcessSample) => handles, share: 0, value: 4 },
  { title: "Queued keys", of: ({ queued }: ProcessSample) => queued, share: 0, value: 5 },
  { title: "Timers", of: ({ timers }: ProcessSample) => timers, share: 0.05, value: 10 },
] as const;

const colors = ["#06c", "#c60", "#099", "#666"] as const;

/** The samples of one name, by their second. */
type Samples = { readonly at: number; readonly sample: ProcessSample }[];

class Soak {
  readonly #site: Site;
  readonly #samples = new Map<string, Samples>();
  readonly #marks = new Map<string, Mark[]>(disturbances.map(({ name }) => [name, []]));
  readonly #startedAt = performance.now();

  constructor(site: Site) {
    this.#site = site;
  }

  get seconds(): number {
    return (performance.now() - this.#startedAt) / 1_000;
  }

  /** Disturbs and samples until the time is over. Disturbances come one after the other, each in turn at its time. */
  async run(): Promise<void> {
    const due: number[] = disturbances.map(({ everyMs }) => everyMs);
    let disturbing = Promise.resolve();
    let problem: unknown;
    while (this.seconds < minutes * 60 && problem === undefined) {
      for (const [index, { name, color, everyMs, act }] of disturbances.entries()) {
        if (this.seconds * 1_000 < (due[index] ?? Infinity)) continue;
        due[index] = (due[index] ?? 0) + everyMs;
        this.#marks.get(name)?.push({ at: this.seconds, color });
        disturbing = disturbing.then(() => act(this.#site)).then(() => {}, (error) => void (problem = error));
      }
      await this.#look();
      await sleep(sampleMs);
    }
    await disturbing;
    if (problem !== undefined) throw problem;
  }

  /** The series of a measure. */
  series(of: (sample: ProcessSample) => number | undefined): readonly Series[] {
    return [...this.#samples].map(([name, samples], index) => ({
      name,
      color: colors[index] ?? "#000",
      points: samples.flatMap(({ at, sample }) => {
        const value = of(sample);
        return value === undefined ? [] : [{ at, value }];
      }),
    }));
  }

  picture(): string {
    const panels = measures.map(({ title, of }) => ({ title, series: this.series(of) }));
    return plot({ panels, marks: this.#marks, seconds: this.seconds, gapSeconds: (sampleMs * 3) / 1_000 });
  }

  async #look(): Promise<void> {
    for (const program of this.#site.steady) await this.#note(program.name, await program.sample());
    // A replica that was killed a moment ago has no sample.
    for (const program of this.#site.candidates) {
      await this.#note(program.name, program.isRunning ? await program.sample() : undefined);
    }
  }

  #note(name: string, sample: ProcessSample | undefined): void {
    if (sample === undefined) return;
    const samples = this.#samples.get(name) ?? [];
    samples.push({ at: this.seconds, sample });
    this.#samples.set(name, samples);
  }
}

/** Prints each measure of each program. @returns whether all are flat */
function report(soak: Soak): boolean {
  let isFlat = true;
  for (const { title, of, share, value } of measures) {
    console.log(title);
    for (const { name, points } of soak.series(of)) {
      const found = trend(points, { share, value });
      const grew = found.isFlat ? "" : "  GREW";
      const [middle, last, perHour] = [found.middle, found.last, found.perHour].map((one) => one.toFixed(1));
      console.log(`  ${name.padEnd(12)} second third ${middle}, last third ${last}, ${perHour} an hour${grew}`);
      isFlat &&= found.isFlat;
    }
  }
  return isFlat;
}

/** Waits until all Foos have their Deployments. @returns how many do not have them when the time is over */
async function settle(site: Site): Promise<number> {
  const until = performance.now() + settleMs;
  for (;;) {
    const behind = await site.behind();
    if (behind === 0 || performance.now() > until) return behind;
    await sleep(sampleMs);
  }
}

await buildPrograms(["go"]);
await using site = await Site.start({ foos: foos / 2, pools });
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => void site[Symbol.asyncDispose]().then(() => process.exit(1)));
}
console.error(`soak: ${foos} Foos exist, the operators begin; the load begins when each Foo has its Deployment`);
const late = await settle(site);
if (late > 0) console.error(`soak: the load begins although ${late} Foos have not converged after ten minutes`);
const soak = new Soak(site);
const load = new Load({ client: site.client, foos: foos / 2, pools, rate });
try {
  await soak.run();
} finally {
  await load[Symbol.asyncDispose]();
}
const behind = await settle(site);
const isFlat = report(soak);
const { sent, failed } = load.counts;
console.log(`${sent} changes, ${failed} refused while the server was away; Foos that have not converged: ${behind}`);
writeFileSync(picture, soak.picture());
process.exitCode = isFlat && behind === 0 ? 0 : 1;
