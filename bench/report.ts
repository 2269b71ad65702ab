/**
 * Writes the results as Markdown: the bars, every median with its range, and the versions and sizes. A pure function, so
 * that its test needs no benchmark.
 */
import { type Bar, bars, judge, type Verdict } from "./bars.ts";
import { type Facts, type Scale, valuesOf } from "./cases/mod.ts";
import { formatValue, type Metric, metricNames, metrics, type Sample } from "./metric.ts";
import { median, quantile } from "./statistics.ts";

/** A case that was run. */
export interface CaseResult {
  readonly name: string;
  readonly title: string;
  /** Of every subject. */
  readonly runs: number;
  readonly samples: readonly Sample[];
}

/** The content of the results file. */
export interface Results {
  /** The day, as 2026-11-21. */
  readonly date: string;
  readonly scale: Pick<Scale, "growth" | "stored">;
  /** Versions, sizes, the machine's shape. */
  readonly facts: Facts;
  readonly cases: readonly CaseResult[];
}

/** Writes the whole file. */
export function renderResults(results: Results): string {
  return [
    "# Pintle and its peers",
    "",
    "What `deno task bench:peers` measured: medians. A ratio is ours over the peer's. Compare ratios; absolutes belong to the machine. What each case measures, and what " +
    "holds a missed bar back: [README.md](README.md).",
    "",
    ...renderTable(["case", "number", "ours", "peer", "ratio", "bar", "aim", ""], verdictRows(results)),
    ...results.cases.flatMap((result) => renderCase(result, results)),
    "## Measured with",
    "",
    ...renderTable(["", ""], Object.entries(results.facts)),
  ].join("\n").trimEnd() + "\n";
}

function verdictRows(results: Results): readonly (readonly string[])[] {
  return bars.flatMap((bar) => {
    const result = results.cases.find(({ name }) => name === bar.caseName);
    const verdict = result && judge(bar, result.samples, results.scale);
    return verdict === undefined || result === undefined ? [] : [verdictRow(result.title, verdict)];
  });
}

function verdictRow(title: string, { bar, ours, peer, ratio, kind }: Verdict): readonly string[] {
  const sign = metrics[bar.metric].better === "lower" ? "≤" : "≥";
  const [own, other] = [formatValue(bar.metric, ours), formatValue(bar.metric, peer)];
  const sides = sidesOf(bar, own, other);
  const limits = [bar.bar, bar.aim].map((limit) => `${sign} ${limit.toFixed(2)}`);
  const emphasized = kind === "missed" ? `**${kind}**` : kind;
  const number = [metrics[bar.metric].title, ...(bar.subject?.split(", ").slice(1) ?? [])].join(", ");
  return [title, number, ...sides, ratio.toFixed(2), ...limits, emphasized];
}

function sidesOf(bar: Bar, own: string, other: string): readonly string[] {
  if (bar.limit !== undefined) return [own, `promised: ${other}`];
  return bar.peer === undefined ? [`most ${own}`, `least ${other}`] : [own, `${bar.peer}: ${other}`];
}

function renderCase(result: CaseResult, { date }: Results): readonly string[] {
  const shown = metricNames.filter((metric) => result.samples.some(({ values }) => values[metric] !== undefined));
  const subjects = [...new Set(result.samples.map(({ subject }) => subject))];
  const rows = subjects.map((subject) => [subject, ...shown.map((metric) => cell(result.samples, subject, metric))]);
  const header = ["", ...shown.map((metric) => metrics[metric].title)];
  const when = result.runs === 1
    ? `Measured on ${date}, every subject once.`
    : `Measured on ${date}, every subject ${result.runs} times in turn: the median, and the smallest and largest value.`;
  return [`## ${result.title}`, "", when, "", ...renderTable(header, rows)];
}

/** The median, and in brackets the smallest and largest value. */
function cell(samples: readonly Sample[], subject: string, metric: Metric): string {
  const values = valuesOf(samples, subject, metric);
  if (values.length === 0) return "";
  if (values.length === 1) return formatValue(metric, median(values));
  const [least, most] = [quantile(values, 0), quantile(values, 1)];
  return `${formatValue(metric, median(values))} (${formatValue(metric, least)} – ${formatValue(metric, most)})`;
}

function renderTable(header: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  const line = (cells: readonly string[]) => `| ${cells.map((text) => text.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(header), line(header.map(() => "---")), ...rows.map(line), ""];
}
