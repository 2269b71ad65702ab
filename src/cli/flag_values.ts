/**
 * The schemas that flags share. Each says what is wrong in words that fit behind `Cannot parse --flag "x":`.
 */
import { z } from "zod";
import { parseDuration } from "./duration.ts";

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
