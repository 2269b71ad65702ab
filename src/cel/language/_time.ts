/** Durations and timestamps as Go's `time` parses and formats them, and the calendar parts of a timestamp. */
import { CelDuration, CelError, CelTimestamp, type Value } from "./values.ts";
import { timestamp } from "./_operators.ts";

const unitNs: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  "µs": 1_000n,
  "μs": 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};
const maxNs = 2n ** 63n;

/** Nanoseconds of `1h30m`, `-1.5s`, `0`; undefined for an invalid duration. */
export function parseGoDuration(text: string): bigint | undefined {
  const found = /^([+-]?)(.*)$/s.exec(text);
  const [sign, rest] = [found?.[1], found?.[2] ?? ""];
  if (rest === "0") return 0n;
  if (rest === "" || !/^(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:ns|us|µs|μs|ms|s|m|h))+$/.test(rest)) return undefined;
  let total = 0n;
  for (const [, whole = "", fraction = "", unit = ""] of rest.matchAll(/([0-9]*)\.?([0-9]*)(ns|us|µs|μs|ms|s|m|h)/g)) {
    const scale = unitNs[unit] ?? 0n;
    total += BigInt(whole === "" ? 0 : whole) * scale;
    if (fraction !== "") total += BigInt(fraction) * scale / 10n ** BigInt(fraction.length);
    if (total > maxNs) return undefined;
  }
  if (sign === "-") return -total;
  return total === maxNs ? undefined : total;
}

/** A duration in seconds: `5400s`, `0.5s`. */
export function formatDuration(value: CelDuration): string {
  return `${plainNumber(Number(value.ns) / 1e9)}s`;
}

const rfc3339 = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})([.,]\d+)?(Z|([+-])(\d{2}):(\d{2}))$/;

/** Parses a timestamp in RFC 3339; undefined when it is invalid. */
export function parseRfc3339(text: string): Value | undefined {
  const found = rfc3339.exec(text);
  if (found === null) return undefined;
  const [, year, month, day, hour, minute, second] = found.map(Number);
  const seconds = secondsOf(year ?? 0, month ?? 0, day ?? 0);
  if (seconds === undefined || (hour ?? 0) > 23 || (minute ?? 0) > 59 || (second ?? 0) > 59) return undefined;
  const [zoneHour, zoneMinute] = [Number(found[10] ?? 0), Number(found[11] ?? 0)];
  if (zoneHour > 24 || zoneMinute > 60) return undefined;
  const offset = (found[9] === "-" ? -1 : 1) * (zoneHour * 60 + zoneMinute);
  const inDay = (hour ?? 0) * 3600 + (minute ?? 0) * 60 + (second ?? 0) - offset * 60;
  const fraction = (found[7] ?? ".0").slice(1, 10).padEnd(9, "0");
  return timestamp(BigInt(seconds + inDay) * 1_000_000_000n + BigInt(fraction), offset);
}

/** Seconds since 1970 of a day; undefined when the day does not exist. */
export function secondsOf(year: number, month: number, day: number): number | undefined {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined;
  return date.getTime() / 1000;
}

/** Formats a timestamp in RFC 3339, with as many decimals as it has. */
export function formatTimestamp(value: CelTimestamp): string {
  const local = value.ns + BigInt(value.offsetMinutes) * 60_000_000_000n;
  const seconds = floorDivide(local, 1_000_000_000n);
  const nanos = local - seconds * 1_000_000_000n;
  const base = new Date(Number(seconds) * 1000).toISOString().slice(0, 19);
  const fraction = nanos === 0n ? "" : `.${nanos.toString().padStart(9, "0").replace(/0+$/, "")}`;
  return `${base}${fraction}${zoneText(value.offsetMinutes)}`;
}

function zoneText(minutes: number): string {
  if (minutes === 0) return "Z";
  const size = Math.abs(minutes);
  const digits = (part: number) => String(part).padStart(2, "0");
  return `${minutes < 0 ? "-" : "+"}${digits(Math.floor(size / 60))}:${digits(size % 60)}`;
}

/** A calendar part of a timestamp, in UTC or a zone. */
export type CalendarPart = (local: Date) => number;

/** The calendar of a timestamp: a Date whose UTC parts are those of the zone. @param zone a name, or `+02:00` */
export function calendarOf(value: CelTimestamp, zone: string): Date | CelError {
  const ms = Number(floorDivide(value.ns, 1_000_000n));
  if (zone === "UTC" || zone === "") return new Date(ms);
  const colon = zone.indexOf(":");
  if (colon < 0) return inNamedZone(ms, zone);
  const [hours, minutes] = [zone.slice(0, colon), zone.slice(colon + 1)];
  for (const part of [hours, minutes]) {
    if (!/^[+-]?\d+$/.test(part)) return new CelError(`strconv.Atoi: parsing ${JSON.stringify(part)}: invalid syntax`);
  }
  const offset = zone.startsWith("-") ? Number(hours) * 60 - Number(minutes) : Number(hours) * 60 + Number(minutes);
  return new Date(ms + offset * 60_000);
}

const maxZones = 100;
const zones = new Map<string, Intl.DateTimeFormat>();

/** The calendar of a zone. The last ones are cached: creating one takes as long as hundreds of uses. */
function zoneFormat(zone: string): Intl.DateTimeFormat {
  const found = zones.get(zone);
  if (found !== undefined) return found;
  const created = new Intl.DateTimeFormat("en-US", {
    timeZone: zone,
    hourCycle: "h23",
    era: "short",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
  if (zones.size >= maxZones) zones.clear();
  zones.set(zone, created);
  return created;
}

function inNamedZone(ms: number, zone: string): Date | CelError {
  try {
    const format = zoneFormat(zone);
    const parts = new Map(format.formatToParts(ms).map((part) => [part.type, Number(part.value)]));
    const [year = 0, month = 1, day = 1] = [parts.get("year"), parts.get("month"), parts.get("day")];
    const local = new Date(Date.UTC(2000, month - 1, day, parts.get("hour"), parts.get("minute"), parts.get("second")));
    local.setUTCFullYear(year, month - 1, day);
    local.setUTCMilliseconds(((ms % 1000) + 1000) % 1000);
    return local;
  } catch {
    return new CelError(`unknown time zone ${zone}`);
  }
}

/** Rounds towards negative infinity. */
export function floorDivide(value: bigint, by: bigint): bigint {
  const quotient = value / by;
  return value % by !== 0n && value < 0n ? quotient - 1n : quotient;
}

/** A number in full, without an exponent. */
export function plainNumber(value: number): string {
  const text = String(value);
  const found = /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(text);
  if (found === null) return text;
  const [, sign = "", first = "", rest = "", exponent = ""] = found;
  const power = Number(exponent);
  const digits = first + rest;
  if (power < 0) return `${sign}0.${"0".repeat(-power - 1)}${digits}`;
  return `${sign}${digits.padEnd(power + 1, "0")}`;
}
