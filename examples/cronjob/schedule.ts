/** Schedules: cron expressions with five fields in UTC, and when they are due. Pure functions of the time. */
import { Cron } from "croner";

/** Expressions with a name, and what they stand for. */
export const macros: Readonly<Record<string, string>> = {
  "@yearly": "0 0 1 1 *",
  "@monthly": "0 0 1 * *",
  "@weekly": "0 0 * * 0",
  "@daily": "0 0 * * *",
  "@hourly": "0 * * * *",
};

/** The expression with five fields. */
export function expanded(schedule: string): string {
  return macros[schedule] ?? schedule;
}

/** Why the schedule cannot be used; undefined if it can. */
export function scheduleProblem(schedule: string): string | undefined {
  try {
    new Cron(expanded(schedule), { timezone: "UTC", mode: "5-part" });
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** The runs of a schedule around the present. */
export interface Due {
  /** The newest run that is due, in milliseconds since the epoch. Absent if there is none since `since`. */
  readonly last?: number;
  /** The next run. Absent if there is none. */
  readonly next?: number;
}

/**
 * Finds the newest run in (since, now], and the next one.
 *
 * @param since The previous run, or the creation of the object.
 * @throws Error when the schedule is invalid
 */
export function dueRuns(schedule: string, since: number, now: number): Due {
  const cron = new Cron(expanded(schedule), { timezone: "UTC", mode: "5-part" });
  const next = cron.nextRun(new Date(now))?.getTime();
  // It finds runs before the given second.
  const [last] = cron.previousRuns(1, new Date(now + 1_000));
  const time = last?.getTime();
  return { last: time !== undefined && time > since && time <= now ? time : undefined, next };
}
