/** Plot: a small plot of one number over time, drawn by uPlot. What it shows is also said in words. */
import { useEffect, useRef } from "preact/hooks";
import UPlot from "uplot";
import type { Series } from "../data/stats.ts";

interface PlotProps {
  /** `Reconciles per second`. */
  readonly name: string;
  readonly series: Series;
  /** The number that is shown beside it. */
  readonly value: string;
  readonly tone: "accent" | "bad" | "warning" | "neutral";
  readonly format: (value: number) => string;
}

const width = 132;
const height = 34;

export function Plot({ name, series, value, tone, format }: PlotProps) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<UPlot | undefined>(undefined);
  const theme = document.documentElement.dataset.shown ?? "light";
  useEffect(() => {
    if (place.current === null) return;
    const color = getComputedStyle(place.current).color;
    plot.current = new UPlot(optionsOf(color), [[...series.times], [...series.values]], place.current);
    return () => plot.current?.destroy();
  }, [tone, theme]);
  useEffect(() => plot.current?.setData([[...series.times], [...series.values]]), [series]);
  const most = Math.max(0, ...series.values);
  return (
    <div class={`plot tone-${tone}`}>
      <span class="plot-value">{value}</span>
      <div ref={place} class="plot-canvas" role="img" aria-label={`${name}: ${value}, at most ${format(most)}`} />
    </div>
  );
}

function optionsOf(color: string): UPlot.Options {
  return {
    width,
    height,
    pxAlign: false,
    padding: [3, 1, 2, 1],
    cursor: { show: false },
    legend: { show: false },
    select: { show: false, left: 0, top: 0, width: 0, height: 0 },
    scales: { x: { time: false }, y: { range: (_plot, _min, max) => [0, max > 0 ? max * 1.05 : 1] } },
    axes: [{ show: false }, { show: false }],
    series: [{}, {
      stroke: color,
      width: 1.25,
      fill: transparent(color),
      points: { show: false },
    }],
  };
}

/** `rgb(1, 2, 3)` as `rgba(1, 2, 3, 0.12)`. */
function transparent(color: string): string {
  return color.replace(/^rgb\((.*)\)$/, "rgba($1, 0.12)");
}
