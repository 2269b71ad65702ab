/**
 * Sampler: asks the debug endpoint of a process again and again, and makes of two answers what happened between them.
 *
 * Guarantees: rates are of the time between the last two answers, by the clock of the asked process; quantiles are of the
 * last minute that was watched, or of all reconciles if there were none in it. A process that was started again begins anew.
 */
import { z } from "zod";
import { boundedParse } from "../../schema/mod.ts";
import { CommandError, exitCode } from "../command/mod.ts";
import type { DebugClient } from "../debug/mod.ts";

/** A time that a Date can show, in milliseconds since the epoch. */
const time = z.number().min(-8.64e15).max(8.64e15);

/** What is read of the answers; a process of another version may send more. */
const controllerSchema = z.object({
  controller: z.string(),
  runsOn: z.enum(["leader", "shards", "every"]),
  isRunning: z.boolean(),
  problems: z.array(z.string()),
  inactive: z.array(z.string()).optional(),
  workers: z.number(),
  busyWorkers: z.number(),
  reconciles: z.number(),
  failures: z.number(),
  durations: z.array(z.number()),
  failing: z.number(),
  queued: z.number(),
  waiting: z.number(),
  parked: z.number(),
  lanes: z.array(z.object({ lane: z.string(), queued: z.number() })),
  laneCount: z.number(),
  oldest: z.object({ key: z.string(), lane: z.string(), addedAt: time }).optional(),
  lagSeconds: z.number().optional(),
});
const controllersSchema = z.object({
  now: time,
  durationBoundsMs: z.array(z.number()),
  controllers: z.array(controllerSchema),
});
const keySchema = z.object({
  controller: z.string(),
  key: z.string(),
  state: z.string(),
  at: time,
  nextAt: time.optional(),
  lane: z.string(),
  retries: z.number(),
  reason: z.string().optional(),
});
const keysSchema = z.object({ remaining: z.number(), keys: z.array(keySchema) });

type Answer = z.output<typeof controllersSchema>;
type Controller = z.output<typeof controllerSchema>;

/** A controller at one moment. Absent numbers are not known. */
export interface ControllerReading {
  readonly controller: string;
  /** Which replicas run it: the leader, each for its part of the keys, or each for all keys. */
  readonly runsOn: Controller["runsOn"];
  /** False while it does not run, as in a standby. */
  readonly isRunning: boolean;
  /** Why it does not run, or why one of its caches does not follow the server. */
  readonly problems: readonly string[];
  /** The kinds that are not watched now, because their conditions do not hold, and why. */
  readonly inactive?: readonly string[];
  readonly reconcilesPerSecond: number;
  readonly failuresPerSecond: number;
  /** Durations of reconciles, in milliseconds. */
  readonly p50Ms?: number;
  readonly p99Ms?: number;
  readonly queued: number;
  /** The lanes with the most queued keys, and how many lanes have any. */
  readonly lanes: readonly { readonly lane: string; readonly queued: number }[];
  readonly laneCount: number;
  /** The queued key that has waited longest. */
  readonly oldest?: { readonly key: string; readonly lane: string; readonly ageSeconds: number };
  readonly workers: number;
  readonly busyWorkers: number;
  readonly failing: number;
  readonly waiting: number;
  readonly parked: number;
  /** Since when the server has not proved that the caches are current. */
  readonly lagSeconds?: number;
  /** Since the process began. */
  readonly reconciles: number;
  readonly failures: number;
}

/** A key that fails, is parked, or is not retried. Instants are milliseconds since the epoch. */
export type FailingKey = z.output<typeof keySchema>;

/** What `top` shows, and prints as JSON. */
export interface Reading {
  /** When the process answered, milliseconds since the epoch. */
  readonly now: number;
  readonly address: string;
  /** The time of the rates. */
  readonly windowSeconds: number;
  readonly controllers: readonly ControllerReading[];
  /** Those with the next retry first; keys that wait for a change last. */
  readonly failingKeys: readonly FailingKey[];
  /** How many more keys fail. */
  readonly moreFailingKeys: number;
}

/** Quantiles are of this time. */
const quantileMs = 60_000;
const maxKeys = 1_000;

export class Sampler {
  readonly #client: DebugClient;
  /** Oldest first; at most those of a minute, and one before. */
  #answers: Answer[] = [];

  constructor(client: DebugClient) {
    this.#client = client;
  }

  /** Asks the process. The first reading has no rates. @throws CommandError */
  async read(signal: AbortSignal): Promise<Reading> {
    const [answer, { keys, remaining }] = await Promise.all([
      this.#ask("/debug/controllers", controllersSchema, signal),
      this.#ask(`/debug/keys?state=failing&state=parked&limit=${maxKeys}`, keysSchema, signal),
    ]);
    const last = this.#answers.at(-1);
    if (last !== undefined && isOther(last, answer)) this.#answers = [];
    this.#answers.push(answer);
    while ((this.#answers[1]?.now ?? Infinity) < answer.now - quantileMs) this.#answers.shift();
    const [first, before] = [this.#answers[0] ?? answer, this.#answers.at(-2) ?? answer];
    const windowSeconds = (answer.now - before.now) / 1_000;
    return {
      now: answer.now,
      address: this.#client.name,
      windowSeconds,
      controllers: answer.controllers.map((one) =>
        readingOf(one, {
          ...{ now: answer.now, windowSeconds, boundsMs: answer.durationBoundsMs },
          before: find(before, one.controller),
          first: find(first, one.controller),
        })
      ),
      failingKeys: keys.toSorted((a, b) => (a.nextAt ?? Infinity) - (b.nextAt ?? Infinity) || b.at - a.at),
      moreFailingKeys: remaining,
    };
  }

  async #ask<Schema extends z.ZodType>(path: string, schema: Schema, signal: AbortSignal): Promise<z.output<Schema>> {
    const checked = boundedParse(schema, await this.#client.ask(path, signal));
    if (checked.kind === "valid") return checked.value;
    throw new CommandError(`Cannot read the answer of ${this.#client.name}: it has another shape`, {
      code: exitCode.failed,
      advice: "Use the program of the same version as the process",
    });
  }
}

/** Totals of one process never fall, and its time does not stand still or go back. */
function isOther(before: Answer, answer: Answer): boolean {
  return answer.now < before.now ||
    before.controllers.some(({ controller, reconciles }) => (find(answer, controller)?.reconciles ?? 0) < reconciles);
}

function find({ controllers }: Answer, name: string): Controller | undefined {
  return controllers.find(({ controller }) => controller === name);
}

interface Window {
  readonly now: number;
  readonly windowSeconds: number;
  readonly boundsMs: readonly number[];
  readonly before: Controller | undefined;
  readonly first: Controller | undefined;
}

function readingOf(one: Controller, { now, windowSeconds, boundsMs, before, first }: Window): ControllerReading {
  const { oldest, durations, ...rest } = one;
  const rate = (total: number, earlier: number) => windowSeconds > 0 ? (total - earlier) / windowSeconds : 0;
  const recent = durations.map((total, index) => total - (first?.durations[index] ?? 0));
  const counts = recent.some((number) => number > 0) ? recent : durations;
  const [p50Ms, p99Ms] = [quantile(0.5, counts, boundsMs), quantile(0.99, counts, boundsMs)];
  return {
    ...rest,
    reconcilesPerSecond: rate(one.reconciles, before?.reconciles ?? 0),
    failuresPerSecond: rate(one.failures, before?.failures ?? 0),
    ...(p50Ms === undefined ? {} : { p50Ms }),
    ...(p99Ms === undefined ? {} : { p99Ms }),
    ...(oldest === undefined
      ? {}
      : { oldest: { key: oldest.key, lane: oldest.lane, ageSeconds: Math.max(0, now - oldest.addedAt) / 1_000 } }),
  };
}

/**
 * The value below which a part of all values is. Inside of a bucket values are taken as evenly spread, as Prometheus does.
 *
 * @param counts One for each bound, and one for what is above all of them
 * @returns undefined without values
 */
export function quantile(part: number, counts: readonly number[], bounds: readonly number[]): number | undefined {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return undefined;
  let rank = part * total;
  for (const [index, count] of counts.entries()) {
    const upper = bounds[index];
    const lower = index === 0 ? 0 : bounds[index - 1] ?? 0;
    if (upper === undefined) return lower;
    if (count > 0 && rank <= count) return lower + (upper - lower) * rank / count;
    rank -= count;
  }
  return bounds.at(-1);
}
