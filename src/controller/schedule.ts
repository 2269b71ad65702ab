/**
 * schedule(): a source that enqueues keys at the times of a cron expression, with the grammar and the time zones of CronJobs.
 *
 * Guarantees: the wall clock decides, also when it is set while the source waits, with an hour's delay at most. A time comes
 * once, unless the clock is set back; of several times that have passed since the last one, because the process was paused, only the last comes, and the
 * run says how many were missed.
 * Caveats: nothing is remembered. A time that passes while no process leads is not made up: a controller that starts
 * reconciles each object anyway.
 */
import { CronSchedule, ScheduleError, timeZoneError } from "../async/mod.ts";
import type { CacheReader } from "./caches.ts";
import type { EventSource } from "./event_source.ts";

/** One time of a schedule. */
export interface ScheduledRun {
  /** The time of the schedule, in milliseconds since 1970. */
  readonly at: number;
  /** How many earlier times have passed without a run, because the process was paused; at most 1,000 are counted. */
  readonly missed: number;
  /** The caches of the kinds that the controller watches. */
  readonly caches: CacheReader;
}

/** Options of {@link schedule}. */
export interface ScheduleOptions {
  /** The IANA name of the time zone, such as `Europe/Berlin`. @default "UTC" */
  readonly timeZone?: string;
  /** For logs and causes. @default "schedule", a space and the expression */
  readonly name?: string;
  /** Returns the keys to enqueue. @default the keys of all primary objects */
  readonly keys?: (run: ScheduledRun) => readonly string[];
}

/** The longest wait without a look at the wall clock, in milliseconds. */
const longestSleepMs = 3_600_000;
/** The most missed times that are counted: a schedule of each minute misses half a million in a year. */
const maxCounted = 1_000;

/**
 * Creates a source that enqueues keys at the times of a cron expression: five fields, `@daily` and the like, or `@every 90m`.
 *
 * A time that passes before the controller starts, or while another process leads, is not made up. When the process was
 * paused over several times, `keys` is called once, and `missed` says how many there were besides.
 *
 * @param expression The expression, such as `0 3 * * *`.
 * @throws {TypeError} when the expression or the time zone is invalid, or the expression has no time within five years
 *
 * @example
 * ```ts
 * import { controller, done, Namespace, schedule } from "@pintle/controller";
 * import { World } from "@pintle/controller/testing";
 *
 * const times: string[] = [];
 * const nightly = schedule("0 3 * * *", {
 *   timeZone: "Europe/Berlin",
 *   keys: ({ at }) => {
 *     times.push(new Date(at).toISOString());
 *     return ["default"];
 *   },
 * });
 * const audit = controller("audit").for(Namespace).source(nightly).reconcile(() => Promise.resolve(done));
 *
 * await using world = await World.start({ controllers: [audit], cluster: false });
 * await world.clock.advance(24 * 3_600_000);
 * console.assert(times.length === 1 && /T0[12]:00:00/.test(times[0] ?? "")); // 3:00 in Berlin
 * ```
 */
export function schedule(expression: string, options: ScheduleOptions = {}): EventSource {
  const { timeZone, name = `schedule ${expression}`, keys } = options;
  const times = parsed(expression, timeZone);
  return {
    name,
    async run(enqueue, signal, context) {
      const { clock, caches } = context;
      for (let next = times.next(clock.now()); next !== undefined;) {
        await clock.sleep(Math.min(Math.max(next - clock.now(), 0), longestSleepMs), signal);
        const now = clock.now();
        if (now < next) {
          // The time is far away, or the wall clock was set back: then earlier times come again.
          next = Math.min(next, times.next(now) ?? next);
          continue;
        }
        const { at, missed } = lastUntil(times, next, now);
        const found = keys === undefined ? context.keys() : keys({ at, missed, caches });
        for (const key of found) enqueue(key);
        next = times.next(now);
      }
    },
  };
}

/** The last time of a schedule that is not after `now`, and how many are between it and `first`. */
function lastUntil(times: CronSchedule, first: number, now: number): { readonly at: number; readonly missed: number } {
  let [at, missed] = [first, 0];
  for (let next = times.next(at); next !== undefined && next <= now && missed < maxCounted; next = times.next(at)) {
    at = next;
    missed++;
  }
  return { at, missed };
}

function parsed(expression: string, timeZone: string | undefined): CronSchedule {
  const wrong = (reason: string, cause?: unknown) =>
    new TypeError(`Cannot create schedule ${JSON.stringify(expression)}: ${reason}`, { cause });
  const zoneError = timeZone === undefined ? undefined : timeZoneError(timeZone);
  if (zoneError !== undefined) throw wrong(`the time zone ${JSON.stringify(timeZone)} is unknown. Use a name of IANA`);
  try {
    const times = CronSchedule.parse(expression, timeZone);
    if (times.next(0) !== undefined) return times;
  } catch (error) {
    if (error instanceof ScheduleError) throw wrong(error.message, error);
    throw error;
  }
  throw wrong("it has no time within five years. Compare its day with its month");
}
