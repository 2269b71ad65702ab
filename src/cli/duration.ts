/**
 * Durations on the command line, written as Go writes them: `30s`, `1m30s`, `500ms`, `1.5h`.
 *
 * A number alone is refused, except 0: whoever types `--resync 30` should learn about the unit rather than get 30 ms.
 */

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
const longestText = 64;

/** Milliseconds that `text` stands for, or undefined when it is no duration. Never negative. */
export function parseDuration(text: string): number | undefined {
  if (text === "0") return 0;
  if (text.length > longestText || !wholePattern.test(text)) return undefined;
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
