/**
 * CronSchedule: the times of a CronJob, and of a schedule of a controller. Grammar, errors and times are those of robfig/cron v3, which Kubernetes uses: the
 * packages of npm differ from it in `@every`, in `N/step`, in days that `*` and a list give together, and where a clock is
 * put forward or back.
 *
 * Guarantees: a time that a clock skips is skipped, and one that it shows twice comes twice, as in Kubernetes.
 *
 * Caveats: robfig/cron misses further times on days when a clock changes at midnight (Cairo) or by half an hour (Lord Howe);
 * these times come here.
 */

/** An invalid schedule. The message is that of the real server. */
export class ScheduleError extends Error {}

/** The limits of one field, and the names that may replace its numbers. */
interface Bounds {
  readonly min: number;
  readonly max: number;
  readonly names: readonly string[];
}

const months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const weekdays = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

const fields: readonly Bounds[] = [
  { min: 0, max: 59, names: [] },
  { min: 0, max: 23, names: [] },
  { min: 1, max: 31, names: [] },
  { min: 1, max: 12, names: months },
  { min: 0, max: 6, names: weekdays },
];

const descriptors: ReadonlyMap<string, string> = new Map([
  ["@yearly", "0 0 1 1 *"],
  ["@annually", "0 0 1 1 *"],
  ["@monthly", "0 0 1 * *"],
  ["@weekly", "0 0 * * 0"],
  ["@daily", "0 0 * * *"],
  ["@midnight", "0 0 * * *"],
  ["@hourly", "0 * * * *"],
]);
const every = "@every ";
const duration = /^[-+]?(?:0|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/;
const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

const [minuteMs, hourMs, dayMs] = [60_000, 3_600_000, 86_400_000];

/** Years after which a schedule counts as one without a time, as in robfig/cron. */
const maxYears = 5;

/** The values of one field. */
interface Field {
  readonly values: ReadonlySet<number>;
  /** True for `*`: it does not choose. */
  readonly isStar: boolean;
}

type Times =
  | { readonly kind: "every"; readonly ms: number }
  | { readonly kind: "fields"; readonly fields: readonly Field[] };

/** A parsed schedule. */
export class CronSchedule {
  readonly #times: Times;
  readonly #zone: string | undefined;

  private constructor(times: Times, zone: string | undefined) {
    this.#times = times;
    this.#zone = zone;
  }

  /**
   * Parses a schedule.
   *
   * @param timeZone its times are meant in. @default that in the schedule (`TZ=Asia/Tokyo 0 4 * * *`), else UTC
   * @throws {ScheduleError} when the schedule is invalid
   */
  static parse(schedule: string, timeZone?: string): CronSchedule {
    const zone = /^(?:CRON_)?TZ=(\S*)(?: (.*))?$/.exec(schedule);
    if (zone === null) return new CronSchedule(timesOf(schedule), timeZone);
    const [, name = "", rest] = zone;
    if (rest === undefined) fail("invalid schedule format: runtime error: slice bounds out of range [:-1]");
    const error = timeZoneError(name);
    if (error !== undefined) fail(`provided bad location ${name}: ${error}`);
    return new CronSchedule(timesOf(rest.trim()), name);
  }

  /** The first time after this one, in milliseconds since 1970; undefined when none comes within five years. */
  next(after: number): number | undefined {
    if (this.#times.kind === "every") return Math.floor(after / 1000) * 1000 + this.#times.ms;
    const first = Math.floor(after / minuteMs) * minuteMs + minuteMs;
    const firstDay = Math.floor((first + offsetAt(first, this.#zone)) / dayMs) * dayMs;
    const lastYear = new Date(firstDay).getUTCFullYear() + maxYears;
    for (let day = firstDay; new Date(day).getUTCFullYear() <= lastYear; day += dayMs) {
      if (!isDayOf(this.#times.fields, new Date(day))) continue;
      const found = this.#nextInDay(this.#times.fields, day, first);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** @param day its midnight, as if the zone were UTC */
  #nextInDay([minutes, hours]: readonly Field[], day: number, first: number): number | undefined {
    const isTime = (ms: number) =>
      hours?.values.has(Math.floor(ms % dayMs / hourMs)) === true &&
      minutes?.values.has(Math.floor(ms % hourMs / minuteMs)) === true;
    const offset = offsetAt(day - offsetAt(day, this.#zone), this.#zone);
    if (offset === offsetAt(day - offset + dayMs, this.#zone)) {
      for (let local = Math.max(day, first + offset); local < day + dayMs; local += minuteMs) {
        if (isTime(local)) return local - offset;
      }
      return undefined;
    }
    // The clock is put forward or back on this day.
    for (let at = Math.max(first, day - offset - 3 * hourMs); at < day - offset + dayMs + 3 * hourMs; at += minuteMs) {
      const local = at + offsetAt(at, this.#zone);
      if (local >= day && local < day + dayMs && isTime(local)) return at;
    }
    return undefined;
  }
}

/** A day matches both fields if one of them does not choose, else one of the two. */
function isDayOf([, , days, months, weekdays]: readonly Field[], date: Date): boolean {
  if (months?.values.has(date.getUTCMonth() + 1) !== true) return false;
  const isDay = days?.values.has(date.getUTCDate()) === true;
  const isWeekday = weekdays?.values.has(date.getUTCDay()) === true;
  return days?.isStar === true || weekdays?.isStar === true ? isDay && isWeekday : isDay || isWeekday;
}

function timesOf(schedule: string): Times {
  if (schedule.startsWith("@")) return descriptorTimes(schedule);
  const given = schedule.split(/\s+/).filter((field) => field !== "");
  if (given.length !== fields.length) {
    fail(`expected exactly ${fields.length} fields, found ${given.length}: [${given.join(" ")}]`);
  }
  return { kind: "fields", fields: fields.map((bounds, index) => fieldOf(given[index] ?? "", bounds)) };
}

function descriptorTimes(text: string): Times {
  const meaning = descriptors.get(text);
  if (meaning !== undefined) return timesOf(meaning);
  if (!text.startsWith(every)) fail(`unrecognized descriptor: ${text}`);
  const length = text.slice(every.length);
  if (duration.test(length)) {
    return { kind: "every", ms: Math.max(1_000, Math.floor(durationMs(length) / 1000) * 1000) };
  }
  const isBare = /^\d+$/.test(length);
  const why = `time: ${isBare ? "missing unit in" : "invalid"} duration ${JSON.stringify(length)}`;
  fail(`failed to parse duration ${text}: ${why}`);
}

function durationMs(text: string): number {
  const parts = [...text.matchAll(/([\d.]+)(ns|us|µs|μs|ms|s|m|h)/g)];
  const ms = parts.reduce((sum, [, value, unit = ""]) => sum + Number(value) * (unitMs[unit] ?? 0), 0);
  return text.startsWith("-") ? -ms : ms;
}

function fieldOf(text: string, bounds: Bounds): Field {
  const ranges = text.split(",").filter((part) => part !== "").map((part) => rangeOf(part, bounds));
  return { values: new Set(ranges.flatMap(({ values }) => values)), isStar: ranges.some(({ isStar }) => isStar) };
}

function rangeOf(text: string, bounds: Bounds): { readonly values: readonly number[]; readonly isStar: boolean } {
  const [range = "", step, ...others] = text.split("/");
  const limits = range.split("-");
  const [start, end] = limitsOf(text, limits, bounds);
  if (others.length > 0) fail(`too many slashes: ${text}`);
  const size = step === undefined ? 1 : numberOf(step);
  const last = step !== undefined && limits.length === 1 ? bounds.max : end;
  if (start < bounds.min) fail(`beginning of range (${start}) below minimum (${bounds.min}): ${text}`);
  if (last > bounds.max) fail(`end of range (${last}) above maximum (${bounds.max}): ${text}`);
  if (start > last) fail(`beginning of range (${start}) beyond end of range (${last}): ${text}`);
  if (size === 0) fail(`step of range should be a positive number: ${text}`);
  const values = Array.from({ length: Math.floor((last - start) / size) + 1 }, (_, index) => start + index * size);
  return { values, isStar: isStar(limits[0]) && size <= 1 };
}

function isStar(text: string | undefined): boolean {
  return text === "*" || text === "?";
}

function limitsOf(text: string, limits: readonly string[], bounds: Bounds): readonly [start: number, end: number] {
  const [low = "", high] = limits;
  if (isStar(low)) return [bounds.min, bounds.max];
  const start = namedNumber(low, bounds);
  if (limits.length > 2) fail(`too many hyphens: ${text}`);
  return [start, high === undefined ? start : namedNumber(high, bounds)];
}

function namedNumber(text: string, { min, names }: Bounds): number {
  const index = names.indexOf(text.toLowerCase());
  return index < 0 ? numberOf(text) : index + min;
}

function numberOf(text: string): number {
  if (!/^[-+]?\d+$/.test(text)) {
    fail(`failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`);
  }
  const number = Number(text);
  if (number < 0) fail(`negative number (${number}) not allowed: ${text}`);
  return number;
}

function fail(message: string): never {
  throw new ScheduleError(message);
}

/** Returns the error of the name of a time zone, or undefined. */
export function timeZoneError(name: string): string | undefined {
  if (isUtc(name)) return undefined;
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return /^[-+]/.test(name) ? `unknown time zone ${name}` : undefined;
  } catch {
    return `unknown time zone ${name}`;
  }
}

/** An RFC 3339 time in a time zone: `2026-03-01T09:00:00+09:00`. @param zone @default UTC */
export function zonedTimeText(ms: number, zone?: string): string {
  const offset = offsetAt(ms, zone);
  const local = new Date(ms + offset).toISOString().replace(/\.\d+Z$/, "");
  if (offset === 0) return `${local}Z`;
  const distance = new Date(Math.abs(offset)).toISOString().slice(11, 16);
  return `${local}${offset < 0 ? "-" : "+"}${distance}`;
}

function isUtc(zone: string | undefined): boolean {
  return zone === undefined || zone === "" || zone === "UTC" || zone === "Local";
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** How far the clocks of a zone are ahead of UTC at a time, in milliseconds. */
function offsetAt(ms: number, zone: string | undefined): number {
  if (zone === undefined || isUtc(zone)) return 0;
  let format = formats.get(zone);
  if (format === undefined) {
    const numeric = "numeric" as const;
    const parts = { year: numeric, month: numeric, day: numeric, hour: numeric, minute: numeric, second: numeric };
    formats.set(zone, format = new Intl.DateTimeFormat("en-US", { timeZone: zone, hourCycle: "h23", ...parts }));
  }
  const parts = new Map(format.formatToParts(ms).map(({ type, value }) => [type, Number(value)]));
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? 0;
  const day = Date.UTC(part("year"), part("month") - 1, part("day"), part("hour"), part("minute"), part("second"));
  return day - Math.floor(ms / 1000) * 1000;
}
