/**
 * The schemas that flags share. Each says what is wrong in words that fit behind `Cannot parse --flag "x":`.
 */
/* MERGED duration.ts
 * Durations on the command line, written as Go writes them: `30s`, `1m30s`, `500ms`, `1.5h`.
 *
 * A number alone is refused, except 0: whoever types `--resync 30` should learn about the unit rather than get 30 ms.
 */
import { z } from "zod";

/** A duration with a unit, as milliseconds. */
export function durationMs(): z.ZodType<number, string> {
  return z.string().transform((text, context) => {
    const ms = parseDuration(text);
    if (ms !== undefined) return ms;
    context.addIssue({ code: "custom", message: "it is not a duration with a unit (ms, s, m, h)" });
    return z.NEVER;
  });
}

/** A duration, or the word `forever`, which is Infinity. */
export function durationMsOrForever(): z.ZodType<number, string> {
  return z.union([z.literal("forever").transform(() => Infinity), durationMs()], {
    error: "it is neither a duration with a unit (ms, s, m, h) nor the word forever",
  });
}

/** A whole number from `min` to `max`. */
export function wholeNumber(min: number, max: number): z.ZodType<number, string> {
  return z.string().transform((text, context) => {
    const number = /^\d{1,10}$/.test(text) ? Number(text) : NaN;
    if (number >= min && number <= max) return number;
    context.addIssue({ code: "custom", message: `it is not a whole number from ${min} to ${max}` });
    return z.NEVER;
  });
}

/** One of some words. */
export function oneOf<const Words extends readonly [string, ...string[]]>(
  words: Words,
): z.ZodEnum<z.core.util.ToEnum<Words[number]>> {
  return z.enum(words, { error: `it is not one of ${words.join(", ")}` });
}

/** Text with something in it. */
export function text(): z.ZodString {
  return z.string().min(1, { error: "it is empty" });
}

/** Milliseconds in each unit, as Go's time.ParseDuration knows them; all in ASCII save the two signs for micro. */
const unitMs: ReadonlyMap<string, number> = new Map([
  ["ns", 1e-6],
  ["us", 1e-3],
  ["µs", 1e-3], // U+00B5, micro sign
  ["μs", 1e-3], // U+03BC, Greek letter mu
  ["ms", 1],
  ["s", 1_000],
  ["m", 60_000],
  ["h", 3_600_000],
]);

const wholePattern = /^(?:\d+(?:\.\d+)?(?:ns|us|µs|μs|ms|s|m|h))+$/;
const partPattern = /(\d+(?:\.\d+)?)(ns|us|µs|μs|ms|s|m|h)/g;

/** Longer than any duration a person writes; keeps hostile text away from the patterns. */
const maxTextLength = 64;

/** Milliseconds that `text` stands for, or undefined when it is no duration. Never negative. */
export function parseDuration(text: string): number | undefined {
  if (text === "0") return 0;
  if (text.length > maxTextLength || !wholePattern.test(text)) return undefined;
  let ms = 0;
  for (const [, amount, unit = ""] of text.matchAll(partPattern)) ms += Number(amount) * (unitMs.get(unit) ?? NaN);
  return Number.isFinite(ms) ? ms : undefined;
}

/** `ms` as a person would write it: `1m30s`, `500ms`, `0s`. */
export function formatDuration(ms: number): string {
  if (ms === Infinity) return "forever";
  if (ms < 1_000) return ms === 0 ? "0s" : `${Math.round(ms)}ms`;
  const hours = Math.floor(ms / 3_600_000);
  const minutes = Math.floor(ms % 3_600_000 / 60_000);
  const seconds = Math.round(ms % 60_000 / 100) / 10;
  return [[hours, "h"], [minutes, "m"], [seconds, "s"]].filter(([amount]) => amount !== 0).flat().join("");
}
