/** The times of CronJobs: `0 3 * * 1-5`, `@daily`, and what the server says of those it cannot read (robfig/cron v3). */

/** The limits of one field, and names that may stand for its numbers. */
interface Bounds {
  readonly least: number;
  readonly most: number;
  readonly names: readonly string[];
}

const months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const weekdays = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const fields: readonly Bounds[] = [
  { least: 0, most: 59, names: [] },
  { least: 0, most: 23, names: [] },
  { least: 1, most: 31, names: [] },
  { least: 1, most: 12, names: months },
  { least: 0, most: 6, names: weekdays },
];
const descriptors = ["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"];
const every = "@every ";
const duration = /^[-+]?(?:0|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/;

/** What is wrong with a schedule; undefined where it is right. */
export function scheduleError(schedule: string): string | undefined {
  try {
    checkSchedule(schedule);
    return undefined;
  } catch (error) {
    if (error instanceof ScheduleError) return error.message;
    throw error;
  }
}

class ScheduleError extends Error {}

function checkSchedule(schedule: string): void {
  const zone = /^(?:CRON_)?TZ=(\S*)(?: (.*))?$/.exec(schedule);
  if (zone === null) return checkTimes(schedule);
  const [, name = "", rest] = zone;
  if (rest === undefined) fail("invalid schedule format: runtime error: slice bounds out of range [:-1]");
  const error = timeZoneError(name);
  if (error !== undefined) fail(`provided bad location ${name}: ${error}`);
  checkTimes(rest.trim());
}

function checkTimes(schedule: string): void {
  if (schedule.startsWith("@")) return checkDescriptor(schedule);
  const given = schedule.split(/\s+/).filter((field) => field !== "");
  if (given.length !== fields.length) {
    fail(`expected exactly ${fields.length} fields, found ${given.length}: [${given.join(" ")}]`);
  }
  fields.forEach((bounds, index) => {
    for (const range of (given[index] ?? "").split(",").filter((part) => part !== "")) checkRange(range, bounds);
  });
}

function checkDescriptor(text: string): void {
  if (descriptors.includes(text)) return;
  if (!text.startsWith(every)) fail(`unrecognized descriptor: ${text}`);
  const length = text.slice(every.length);
  if (duration.test(length)) return;
  const isBare = /^\d+$/.test(length);
  const why = `time: ${isBare ? "missing unit in" : "invalid"} duration ${JSON.stringify(length)}`;
  fail(`failed to parse duration ${text}: ${why}`);
}

function checkRange(text: string, bounds: Bounds): void {
  const [range = "", step, ...others] = text.split("/");
  const limits = range.split("-");
  const [start, end] = limitsOf(text, limits, bounds);
  if (others.length > 0) fail(`too many slashes: ${text}`);
  const size = step === undefined ? 1 : numberOf(step);
  const last = step !== undefined && limits.length === 1 ? bounds.most : end;
  if (start < bounds.least) fail(`beginning of range (${start}) below minimum (${bounds.least}): ${text}`);
  if (last > bounds.most) fail(`end of range (${last}) above maximum (${bounds.most}): ${text}`);
  if (start > last) fail(`beginning of range (${start}) beyond end of range (${last}): ${text}`);
  if (size === 0) fail(`step of range should be a positive number: ${text}`);
}

function limitsOf(text: string, limits: readonly string[], bounds: Bounds): readonly [start: number, end: number] {
  const [low = "", high] = limits;
  if (low === "*" || low === "?") return [bounds.least, bounds.most];
  const start = namedNumber(low, bounds);
  if (limits.length > 2) fail(`too many hyphens: ${text}`);
  return [start, high === undefined ? start : namedNumber(high, bounds)];
}

function namedNumber(text: string, { least, names }: Bounds): number {
  const index = names.indexOf(text.toLowerCase());
  return index < 0 ? numberOf(text) : index + least;
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

/** What is wrong with the name of a time zone; undefined where it is right. */
export function timeZoneError(name: string): string | undefined {
  if (name === "" || name === "UTC" || name === "Local") return undefined;
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return /^[-+]/.test(name) ? `unknown time zone ${name}` : undefined;
  } catch {
    return `unknown time zone ${name}`;
  }
}
