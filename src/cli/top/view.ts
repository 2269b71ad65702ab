/**
 * The lines of `top`: controllers, what is wrong with them, and the keys that fail, sorted and filtered as the user wants.
 */
import type { Cell, Line } from "../../observe/mod.ts";
import { approximateDuration, count, oneLine, table, toned } from "../output/mod.ts";
import type { ControllerReading, FailingKey, Reading } from "./sample.ts";

/** What controllers can be sorted by. */
export const sortColumns = ["name", "reconciles", "failures", "p99", "queued", "oldest", "busy", "lag"] as const;
/** One of {@link sortColumns}. */
export type SortColumn = (typeof sortColumns)[number];

/** What is shown of a reading, and how. */
export interface View {
  readonly sortBy: SortColumn;
  /** Smallest first for numbers, or names from the end of the alphabet. */
  readonly isReversed: boolean;
  /** Only controllers and keys with this text in their name or error, in any case. */
  readonly filter: string;
  /** How many failing keys are scrolled away. */
  readonly scrolled: number;
}

/** A view of everything. */
export const wholeView: View = { sortBy: "name", isReversed: false, filter: "", scrolled: 0 };

const numberOf: Readonly<Record<Exclude<SortColumn, "name">, (one: ControllerReading) => number>> = {
  reconciles: (one) => one.reconcilesPerSecond,
  failures: (one) => one.failuresPerSecond,
  p99: (one) => one.p99Ms ?? -1,
  queued: (one) => one.queued,
  oldest: (one) => one.oldest?.ageSeconds ?? -1,
  busy: (one) => one.workers === 0 ? -1 : one.busyWorkers / one.workers,
  lag: (one) => one.lagSeconds ?? -1,
};

/** The reading with only what the filter finds, controllers in the order of the view. */
export function selected(reading: Reading, { sortBy, isReversed, filter }: View): Reading {
  const wanted = filter.toLowerCase();
  const has = (...texts: readonly (string | undefined)[]) =>
    texts.some((text) => text?.toLowerCase().includes(wanted) === true);
  const byName = (a: ControllerReading, b: ControllerReading) => a.controller < b.controller ? -1 : 1;
  const compare = sortBy === "name"
    ? byName
    : (a: ControllerReading, b: ControllerReading) => numberOf[sortBy](b) - numberOf[sortBy](a) || byName(a, b);
  const failingKeys = reading.failingKeys.filter(({ controller, key, reason }) => has(controller, key, reason));
  const failing = new Set(failingKeys.map(({ controller }) => controller));
  const controllers = reading.controllers
    .filter(({ controller, problems }) => failing.has(controller) || has(controller, ...problems))
    .toSorted(compare);
  return { ...reading, failingKeys, controllers: isReversed ? controllers.toReversed() : controllers };
}

/** All lines: for a terminal that scrolls, a pipe or a file. */
export function wholeLines(reading: Reading): readonly Line[] {
  return [...controllerLines(reading), ...keyLines(reading, Infinity, 0)];
}

/** As many lines as fit on a screen, between a line at the top and one at the bottom. */
export function screenLines(
  reading: Reading,
  { rows, top, bottom, scrolled }: {
    readonly rows: number;
    readonly top: Line;
    readonly bottom: Line;
    readonly scrolled: number;
  },
): readonly Line[] {
  const controllers = controllerLines(reading).slice(0, Math.max(0, rows - 2));
  const room = rows - 2 - controllers.length;
  const keys = keyLines(reading, Math.max(0, room - 2), scrolled).slice(0, Math.max(0, room));
  const lines = [top, ...controllers, ...keys];
  return [...lines, ...Array.from({ length: Math.max(0, rows - 1 - lines.length) }, () => ""), bottom];
}

/** How many failing keys can be scrolled away on a screen. */
export function maxScroll(reading: Reading, rows: number): number {
  const room = Math.max(1, rows - 4 - Math.min(controllerLines(reading).length, rows - 2));
  return Math.max(0, reading.failingKeys.length - room);
}

const header = [
  ...["CONTROLLER", "RUNS ON", "RECONCILES/S", "FAILURES/S", "P50", "P99", "BUSY", "FAILING", "LAG", "QUEUED"],
  ...["OLDEST", "LANES"],
];

function controllerLines({ controllers }: Reading): readonly Line[] {
  if (controllers.length === 0) {
    return [toned("no controller; those of a fleet are in its members, name one with --member", "muted")];
  }
  const [head = "", ...rows] = table([header, ...controllers.map(cellsOf)]);
  const problems = controllers.flatMap(({ controller, problems }) => problems.map((text) => `${controller}: ${text}`));
  const inactive = controllers.flatMap(({ controller, inactive = [] }) =>
    inactive.map((text) => `${controller}: ${text}`)
  );
  return [
    toned(head, "strong"),
    ...rows.map((row, index) => toneOf(controllers[index], row)),
    ...problems.map((text): Line => ({ text: oneLine(`! ${text}`), tone: "error" })),
    ...inactive.map((text): Line => ({ text: oneLine(text), tone: "muted" })),
  ];
}

function toneOf(one: ControllerReading | undefined, row: Line): Line {
  if (one === undefined || !one.isRunning) return toned(row, "muted");
  return one.failuresPerSecond > 0 || one.failing > 0 ? toned(row, "warning") : row;
}

function cellsOf(one: ControllerReading): readonly Cell[] {
  return [
    one.controller,
    one.runsOn,
    one.isRunning ? rateText(one.reconcilesPerSecond) : "standby",
    rateText(one.failuresPerSecond),
    durationText(one.p50Ms),
    durationText(one.p99Ms),
    `${one.busyWorkers}/${one.workers}`,
    String(one.failing + one.parked),
    durationText(one.lagSeconds === undefined ? undefined : one.lagSeconds * 1_000),
    String(one.queued),
    one.oldest === undefined ? "-" : `${durationText(one.oldest.ageSeconds * 1_000)} ${one.oldest.key}`,
    lanesText(one),
  ];
}

const maxLanes = 3;

/** `team-a 12, team-b 3, 4 more`; nothing without lanes. */
function lanesText({ lanes, laneCount }: ControllerReading): string {
  const shown = lanes.filter(({ lane }) => lane !== "").slice(0, maxLanes);
  if (shown.length === 0) return "";
  const more = laneCount - shown.length;
  return [...shown.map(({ lane, queued }) => `${lane} ${queued}`), ...(more > 0 ? [`${more} more`] : [])].join(", ");
}

/** @param room The most keys */
function keyLines({ failingKeys, moreFailingKeys, now }: Reading, room: number, scrolled: number): readonly Line[] {
  if (failingKeys.length === 0) return [];
  const start = Math.min(scrolled, Math.max(0, failingKeys.length - 1));
  const hidden = failingKeys.length - start > room ? 1 : 0;
  const shown = failingKeys.slice(start, start + Math.max(0, room - hidden));
  const rows = shown.map((one) => [
    one.key,
    one.controller,
    one.state,
    one.retries === 0 ? "-" : String(one.retries),
    nextText(one, now),
    one.reason ?? "",
  ]);
  const [head = "", ...lines] = table([["FAILING KEY", "CONTROLLER", "STATE", "RETRIES", "NEXT", "ERROR"], ...rows]);
  const more = failingKeys.length - start - shown.length + moreFailingKeys;
  return [
    "",
    toned(head, "strong"),
    ...lines.map((line) => toned(line, "error")),
    ...(more > 0 ? [toned(`and ${count(more, "more key")}`, "muted")] : []),
  ];
}

function nextText({ state, nextAt }: FailingKey, now: number): string {
  if (nextAt === undefined) return state === "stopped" ? "after a change" : "now";
  return nextAt <= now ? "now" : `in ${approximateDuration(nextAt - now)}`;
}

/** `0`, `0.3`, `12`. */
function rateText(perSecond: number): string {
  if (perSecond === 0) return "0";
  return perSecond < 10 ? Math.max(0.1, perSecond).toFixed(1) : String(Math.round(perSecond));
}

/** `0.2 ms`, `12 ms`, `1.5 s`, `40 s`, `3 min`. */
function durationText(ms: number | undefined): string {
  if (ms === undefined) return "-";
  if (ms < 10) return `${Math.round(ms * 10) / 10} ms`;
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  return ms < 10_000 ? `${Math.round(ms / 100) / 10} s` : approximateDuration(ms);
}
