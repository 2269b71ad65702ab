/**
 * Schemas for the values of flags. Each error text continues the sentence `Cannot parse --flag "x":`.
 *
 * Durations are written as in Go: `30s`, `1m30s`, `500ms`, `1.5h`. A number without a unit is rejected, except 0: a user who
 * types `--resync 30` should get an error about the unit, not a period of 30 ms.
 */
import { isIP } from "node:net";
import { z } from "zod";
import { type LabelSelector, namespaceProblem, objectNameProblem, parseLabelSelector } from "../../api/mod.ts";

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

/** One of several words. */
export function oneOf<const Words extends readonly [string, ...string[]]>(
  words: Words,
): z.ZodEnum<z.core.util.ToEnum<Words[number]>> {
  return z.enum(words, { error: `it is not one of ${words.join(", ")}` });
}

/** Text that is not empty. */
export function text(): z.ZodString {
  return z.string().min(1, { error: "it is empty" });
}

/** Text without the problem that `problemOf` returns. */
function textWithout(problemOf: (value: string) => string | undefined): z.ZodType<string, string> {
  return z.string().superRefine((value, context) => {
    const message = problemOf(value);
    if (message !== undefined) context.addIssue({ code: "custom", message });
  });
}

/** The name of a namespace. */
export function namespaceName(): z.ZodType<string, string> {
  return textWithout(namespaceProblem);
}

/** The name of an object, such as a Lease or a Secret. */
export function objectName(): z.ZodType<string, string> {
  return textWithout(objectNameProblem);
}

/** A label selector in the notation of kubectl. */
export function labelSelector(): z.ZodType<LabelSelector, string> {
  return z.string().transform((value, context) => {
    try {
      return parseLabelSelector(value);
    } catch (error) {
      context.addIssue({ code: "custom", message: error instanceof Error ? error.message : String(error) });
      return z.NEVER;
    }
  });
}

/** The name or the IP address of a machine, without scheme, port and path. */
export function hostName(): z.ZodType<string, string> {
  return textWithout((value) => {
    const isHost = isIP(value) !== 0 || objectNameProblem(value.toLowerCase()) === undefined;
    return isHost ? undefined : "it is not the name or the IP address of a machine, without scheme, port and path";
  });
}

/** A range of IP addresses, `10.0.0.0/28`. */
export function addressRange(): z.ZodType<string, string> {
  return textWithout((value) => {
    const [, address = "", bits = ""] = /^([^/]{1,64})\/(\d{1,3})$/.exec(value) ?? [];
    const maxBits = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
    return bits !== "" && Number(bits) <= maxBits ? undefined : "it is not a range of addresses such as 10.0.0.0/28";
  });
}

/** A toleration of a Pod, as in `spec.tolerations`. */
export interface Toleration {
  /** @default all keys */
  readonly key?: string;
  readonly operator: "Exists" | "Equal";
  readonly value?: string;
  /** @default all effects */
  readonly effect?: (typeof effects)[number];
  readonly tolerationSeconds?: number;
}

/** Each part is limited, and the key is that of a label. */
const taintPattern =
  /^((?:[a-z0-9.-]{1,253}\/)?[A-Za-z0-9](?:[\w.-]{0,61}[A-Za-z0-9])?)(?:=([\w.-]{0,63}))?(?::(NoSchedule|PreferNoSchedule|NoExecute))?$/;

const effects = ["NoSchedule", "PreferNoSchedule", "NoExecute"] as const;

function isEffect(text: string | undefined): text is (typeof effects)[number] {
  return effects.some((effect) => effect === text);
}

/** A taint in the notation of `kubectl taint`, `dedicated=operators:NoSchedule`, as the toleration of it. */
export function toleration(): z.ZodType<Toleration, string> {
  return z.string().transform((given, context) => {
    const [, key, value, effect] = taintPattern.exec(given) ?? [];
    if (key === undefined) {
      context.addIssue({ code: "custom", message: "it is not a taint such as dedicated=operators:NoSchedule" });
      return z.NEVER;
    }
    return {
      key,
      ...(value === undefined ? { operator: "Exists" } as const : { operator: "Equal", value } as const),
      ...(isEffect(effect) ? { effect } : {}),
    };
  });
}

const labelPattern =
  /^((?:[a-z0-9][a-z0-9.-]{0,251}[a-z0-9]\/|[a-z0-9]\/)?[A-Za-z0-9](?:[\w.-]{0,61}[A-Za-z0-9])?)=((?:[A-Za-z0-9](?:[\w.-]{0,61}[A-Za-z0-9])?)?)$/;

/** A label of an object, as KEY=VALUE. */
export function label(): z.ZodType<readonly [key: string, value: string], string> {
  return z.string().transform((given, context) => {
    const [, key, value = ""] = labelPattern.exec(given) ?? [];
    if (key !== undefined) return [key, value] as const;
    context.addIssue({ code: "custom", message: "it is not a label such as release=prometheus" });
    return z.NEVER;
  });
}

/** Milliseconds in each unit of Go's time.ParseDuration. All units are ASCII except the two signs for micro. */
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

/** Longer than any duration that a user writes. The patterns never run on longer, hostile text. */
const maxTextLength = 64;

/** Returns the milliseconds of a duration, never negative; undefined when `text` is not a duration. */
export function parseDuration(text: string): number | undefined {
  if (text === "0") return 0;
  if (text.length > maxTextLength || !wholePattern.test(text)) return undefined;
  let ms = 0;
  for (const [, amount, unit = ""] of text.matchAll(partPattern)) ms += Number(amount) * (unitMs.get(unit) ?? NaN);
  return Number.isFinite(ms) ? ms : undefined;
}

/** Writes milliseconds as a user would: `1m30s`, `500ms`, `0s`. */
export function formatDuration(ms: number): string {
  if (ms === Infinity) return "forever";
  if (ms < 1_000) return ms === 0 ? "0s" : `${Math.round(ms)}ms`;
  const hours = Math.floor(ms / 3_600_000);
  const minutes = Math.floor(ms % 3_600_000 / 60_000);
  const seconds = Math.round(ms % 60_000 / 100) / 10;
  return [[hours, "h"], [minutes, "m"], [seconds, "s"]].filter(([amount]) => amount !== 0).flat().join("");
}
