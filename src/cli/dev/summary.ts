/**
 * What the controllers of a development cluster do and have done, one line each: a table that fills on a terminal while
 * things converge, and the same table as the result.
 */
import type { Clock } from "../../async/mod.ts";
import type { OperatorController } from "../../manager/mod.ts";
import type { Activity, Convergence } from "../convergence.ts";
import type { Paint, Tone } from "../paint.ts";
import type { Board } from "../status_line.ts";
import { type Cell, table } from "../table.ts";

/** Fast enough to look alive. */
const frameMs = 100;
/** A terminal is not endlessly high, and what scrolls away cannot be written over. */
const mostRows = 15;

const tones = {
  waiting: "quiet",
  working: "doubtful",
  retrying: "doubtful",
  failed: "bad",
  settled: "good",
} as const satisfies Record<Activity, Tone>;

/** Shows the table on `board` until `signal` aborts. */
export async function showTable(
  board: Board,
  controllers: readonly OperatorController[],
  { convergence, clock, signal }: {
    readonly convergence: Convergence;
    readonly clock: Clock;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  while (!signal.aborted) {
    const lines = summaryOf(controllers, convergence).trimEnd().split("\n");
    const hidden = lines.length - mostRows;
    board.show(hidden > 0 ? [...lines.slice(0, mostRows), `and ${hidden} more`] : lines);
    await clock.sleep(frameMs, signal).catch(() => {});
  }
}

/**
 * The table: controller, how many objects it has looked at, what it is at.
 *
 * @param paint Colours of the result; without them this is how things stand meanwhile.
 */
export function summaryOf(
  controllers: readonly OperatorController[],
  convergence: Convergence,
  paint?: Paint,
): string {
  const rows = controllers.map(({ name }): readonly Cell[] => {
    const count = convergence.reconciledBy(name);
    return [name, `${count} ${count === 1 ? "object" : "objects"}`, stateOf(name, convergence, paint !== undefined)];
  });
  return table([["CONTROLLER", "RECONCILED", "STATE"], ...rows], paint);
}

/** Who waits for objects in the end has done what there was. */
function stateOf(name: string, convergence: Convergence, isOver: boolean): Cell {
  const now = convergence.activityOf(name);
  const activity = isOver && now === "waiting" ? "settled" : now;
  const failed = convergence.failures.filter(({ controller }) => controller === name).length;
  return { text: activity === "failed" ? `${failed} failed` : activity, tone: tones[activity] };
}
