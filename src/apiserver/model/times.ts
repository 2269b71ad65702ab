/**
 * Timestamps of objects: RFC 3339 with whole seconds (metav1.Time) or with microseconds (metav1.MicroTime). The errors about
 * other texts are those of Go's time package.
 */

/** An invalid timestamp. The message is that of the real server. */
export class TimeError extends Error {
  override readonly name = "TimeError";
}

const pattern = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:[.,](\d+))?(Z|[+-]\d{2}:\d{2})$/;
/** Texts that are canonical and valid in any month, which most are: they are not parsed. */
const canonicalDay = "\\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\\d|2[0-8])T(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d";
const plainSeconds = new RegExp(`^${canonicalDay}Z$`);
const plainMicros = new RegExp(`^${canonicalDay}\\.\\d{6}Z$`);
const canonicalSeconds = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/;
const layout = "2006-01-02T15:04:05Z07:00";
const microLayout = "2006-01-02T15:04:05.000000Z07:00";

/** The parts of the layout, and the patterns of their texts. */
const steps: readonly (readonly [string, RegExp])[] = [
  ["2006", /^\d{4}/],
  ["-", /^-/],
  ["01", /^\d{2}/],
  ["-", /^-/],
  ["02", /^\d{2}/],
  ["T", /^T/],
  ["15", /^\d{2}/],
  [":", /^:/],
  ["04", /^\d{2}/],
  [":", /^:/],
  ["05", /^\d{2}/],
];

const fractionStep: readonly [string, RegExp] = [".000000", /^[.,]\d{6}/];
const zoneStep: readonly [string, RegExp] = ["Z07:00", /^(?:Z|[+-]\d{2}:\d{2})/];

/** Returns the canonical form of a metav1.Time: UTC, whole seconds. @throws TimeError */
export function canonicalTime(text: string): string {
  if (plainSeconds.test(text)) return text;
  if (canonicalSeconds.test(text) && !Number.isNaN(Date.parse(text))) return text;
  return formatTime(parsed(text, layout).atMs);
}

/** Returns the canonical form of a metav1.MicroTime: UTC, six digits, which are required. @throws TimeError */
export function canonicalMicroTime(text: string): string {
  if (plainMicros.test(text)) return text;
  const { atMs, fraction } = parsed(text, microLayout);
  if (fraction.length !== 6) throw new TimeError(timeErrorText(text, microLayout, false));
  return formatMicroTime(atMs, fraction);
}

/** Formats a metav1.MicroTime. @param atMs milliseconds since 1970 @param fraction six digits */
function formatMicroTime(
  atMs: number,
  fraction: string = new Date(atMs).toISOString().slice(20, 23).padEnd(6, "0"),
): string {
  return `${formatTime(atMs).slice(0, -1)}.${fraction}Z`;
}

/** Formats a metav1.Time. @param atMs milliseconds since 1970 */
export function formatTime(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 19)}Z`;
}

function parsed(text: string, shownLayout: string): { readonly atMs: number; readonly fraction: string } {
  const match = pattern.exec(text);
  const fraction = match?.[7] ?? "";
  const whole = fraction === "" ? text : text.replace(/[.,]\d+/, "");
  const atMs = match === null ? Number.NaN : Date.parse(whole);
  if (Number.isNaN(atMs)) throw new TimeError(timeErrorText(text, shownLayout, match !== null));
  return { atMs, fraction };
}

function timeErrorText(text: string, shownLayout: string, isWellFormed: boolean): string {
  const title = `parsing time ${JSON.stringify(text)}`;
  if (isWellFormed) return `${title}: ${outOfRange(text)} out of range`;
  let rest = text;
  const isMicro = shownLayout === microLayout;
  for (const [step, expected] of [...steps, ...(isMicro ? [fractionStep] : []), zoneStep]) {
    // A fraction is allowed although the layout has none.
    if (step === "Z07:00" && !isMicro) rest = rest.replace(/^[.,]\d+/, "");
    const found = expected.exec(rest)?.[0];
    if (found === undefined) {
      return `${title} as ${JSON.stringify(shownLayout)}: cannot parse ${JSON.stringify(rest)} as ${
        JSON.stringify(step)
      }`;
    }
    rest = rest.slice(found.length);
  }
  return `${title}: extra text: ${JSON.stringify(rest)}`;
}

function outOfRange(text: string): string {
  const [month, day, hour, minute] = [text.slice(5, 7), text.slice(8, 10), text.slice(11, 13), text.slice(14, 16)].map(
    Number,
  );
  if (month === undefined || month < 1 || month > 12) return "month";
  if (hour === undefined || hour > 23) return "hour";
  if (minute === undefined || minute > 59) return "minute";
  return day === undefined || day < 1 || day > 28 ? "day" : "second";
}
