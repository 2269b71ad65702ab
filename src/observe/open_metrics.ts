/**
 * The text of OpenMetrics 1.0, as far as it differs from that of Prometheus: a counter is named without `_total`, bounds are
 * floats, and the text has an end. `metrics.ts` writes the samples.
 */

/** The last line. */
export const openMetricsEnd = "# EOF\n";

/** What Prometheus calls a family: `# TYPE name type`, after its help. */
const typeLine = /^# TYPE (\S+) (\w+)$/;
const helpLine = /^# HELP (\S+) (.*)$/;

/**
 * Changes text of Prometheus into OpenMetrics, without its end. A counter whose name does not end in `_total` has no legal name
 * there, so its type becomes `unknown` and its name stays.
 */
export function openMetricsText(text: string): string {
  const lines = text.split("\n").filter((line) => line !== "");
  const counters = new Set(lines.flatMap((line) => {
    const [, name = "", type] = typeLine.exec(line) ?? [];
    return type === "counter" ? [name] : [];
  }));
  const nameOf = (name: string) => counters.has(name) ? name.replace(/_total$/, "") : name;
  const changed = lines.map((line) => {
    const [, typed, type] = typeLine.exec(line) ?? [];
    if (typed !== undefined) {
      return `# TYPE ${nameOf(typed)} ${
        type === "counter" && !typed.endsWith("_total") ? "unknown" : openTypeOf(type)
      }`;
    }
    const [, helped, help = ""] = helpLine.exec(line) ?? [];
    return helped === undefined ? line : `# HELP ${nameOf(helped)} ${help.replaceAll('"', '\\"')}`;
  });
  return changed.length === 0 ? "" : `${changed.join("\n")}\n`;
}

function openTypeOf(type = "unknown"): string {
  return type === "untyped" ? "unknown" : type;
}

/** The value of the label `le`. */
export function boundText(bound: number, isOpenMetrics: boolean): string {
  const text = numberText(bound);
  return isOpenMetrics && /^\d+$/.test(text) ? `${text}.0` : text;
}

/** A value, as both formats write it. */
export function numberText(value: number): string {
  if (value === Infinity) return "+Inf";
  if (value === -Infinity) return "-Inf";
  return String(value);
}

/** The help of a metric on one line. */
export function escapeHelp(text: string): string {
  return text.replace(/[\\\n]/g, (found) => found === "\n" ? "\\n" : "\\\\");
}

/** The value of a label in quotes. */
export function escapeLabel(text: string): string {
  return text.replace(/[\\\n"]/g, (found) => found === "\n" ? "\\n" : `\\${found}`);
}
