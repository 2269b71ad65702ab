/** plot(): the series of a soak as one SVG, a panel for each unit, with a mark for each thing that was done. */
import type { Point } from "./trend.ts";

/** A line of a panel. */
export interface Series {
  readonly name: string;
  readonly color: string;
  /** A gap of more than {@link PlotOptions.gapSeconds} ends a part of the line. */
  readonly points: readonly Point[];
}

export interface Panel {
  readonly title: string;
  readonly series: readonly Series[];
}

/** What was done, and when. */
export interface Mark {
  readonly at: number;
  readonly color: string;
}

export interface PlotOptions {
  readonly panels: readonly Panel[];
  /** By what they stand for. */
  readonly marks: ReadonlyMap<string, readonly Mark[]>;
  readonly seconds: number;
  readonly gapSeconds: number;
}

const [width, height, left, right, top, between] = [960, 180, 64, 16, 44, 46] as const;

export function plot({ panels, marks, seconds, gapSeconds }: PlotOptions): string {
  const x = (at: number) => left + (at / seconds) * (width - left - right);
  const total = top + panels.length * (height + between);
  const lines = panels.flatMap((panel, index) =>
    panelLines(panel, { from: top + index * (height + between), x, seconds, gapSeconds, marks })
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${total}" font-family="sans-serif" font-size="12">`,
    `<rect width="${width}" height="${total}" fill="#fff"/>`,
    ...legend(marks),
    ...lines,
    "</svg>",
    "",
  ].join("\n");
}

interface Place {
  /** The upper edge. */
  readonly from: number;
  readonly x: (at: number) => number;
  readonly seconds: number;
  readonly gapSeconds: number;
  readonly marks: PlotOptions["marks"];
}

function panelLines({ title, series }: Panel, place: Place): readonly string[] {
  const { from, x, seconds, gapSeconds } = place;
  const most = roundUp(Math.max(1, ...series.flatMap(({ points }) => points.map(({ value }) => value))));
  const y = (value: number) => from + height - (value / most) * height;
  const ticks = [0, 0.25, 0.5, 0.75, 1];
  return [
    `<text x="${left}" y="${from - 8}" font-weight="bold">${escaped(title)}</text>`,
    ...series.map(({ name, color }, index) =>
      `<text x="${left + 260 + index * 210}" y="${from - 8}" fill="${color}">${escaped(name)}</text>`
    ),
    ...[...place.marks.values()].flat().map(({ at, color }) =>
      `<path d="M${rounded(x(at))} ${from}v${height}" stroke="${color}" stroke-opacity="0.35"/>`
    ),
    ...ticks.flatMap((share) => [
      `<path d="M${left} ${rounded(y(most * share))}H${width - right}" stroke="#ddd"/>`,
      `<text x="${left - 6}" y="${rounded(y(most * share) + 4)}" text-anchor="end">${most * share}</text>`,
    ]),
    ...ticks.map((share) =>
      `<text x="${rounded(x(seconds * share))}" y="${from + height + 16}" text-anchor="middle">` +
      `${rounded((seconds * share) / 60)} min</text>`
    ),
    ...series.flatMap(({ color, points }) =>
      parts(points, gapSeconds).map((part) =>
        `<path d="M${part.map(({ at, value }) => `${rounded(x(at))} ${rounded(y(value))}`).join("L")}" ` +
        `fill="none" stroke="${color}" stroke-width="1.5"/>`
      )
    ),
  ];
}

function legend(marks: PlotOptions["marks"]): readonly string[] {
  return [...marks].map(([name, [first]], index) =>
    `<text x="${left + index * 230}" y="16" fill="${first?.color ?? "#000"}">| ${escaped(name)}</text>`
  );
}

function parts(points: readonly Point[], gapSeconds: number): readonly (readonly Point[])[] {
  const result: Point[][] = [];
  for (const point of points) {
    const part = result.at(-1);
    const before = part?.at(-1);
    if (part === undefined || before === undefined || point.at - before.at > gapSeconds) result.push([point]);
    else part.push(point);
  }
  return result;
}

/** The next 1, 2, 4, 6 or 8 with zeros. */
function roundUp(value: number): number {
  const unit = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 4, 6, 8, 10].find((factor) => factor * unit >= value) ?? 10) * unit;
}

function rounded(value: number): number {
  return Math.round(value * 10) / 10;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
