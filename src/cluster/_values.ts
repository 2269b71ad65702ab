/** Small conversions that several controllers of the simulated cluster need. */
import { ApiError } from "../client/mod.ts";

/** An RFC 3339 time in whole seconds, as metav1.Time. @param ms milliseconds since 1970 */
export function timeText(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");
}

/** The JSON text of a value with sorted keys: equal values give equal texts. */
export function canonicalText(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) => {
    if (typeof item === "bigint") return { int64: String(item) };
    if (typeof item !== "object" || item === null || Array.isArray(item)) return item;
    const entries = Object.entries(item).filter(([, inner]) => inner !== undefined);
    return Object.fromEntries(entries.sort(([left], [right]) => left < right ? -1 : 1));
  });
}

/** The number that an IntOrString field means: itself, or a percentage of `total`, rounded. @param round for percentages */
export function scaledValue(value: string | number, total: number, round: (value: number) => number): number {
  if (typeof value === "number") return value;
  return value.endsWith("%") ? round(Number(value.slice(0, -1)) * total / 100) : Number(value) || 0;
}

/** The message of an error for conditions and Events: that of the server, as client-go prints it. */
export function messageOf(error: unknown): string {
  return error instanceof ApiError ? error.status.message ?? error.message : String(error);
}
