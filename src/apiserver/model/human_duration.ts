/**
 * humanDuration(): spans of time as tables show them, in one unit or two: `5m`, `3h10m`, `2d`. The bounds are those of
 * apimachinery `util/duration`, since people compare what two servers print.
 */

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;
const year = 365 * day;

/** A span of time as `kubectl get` shows ages. @param ms milliseconds; clocks differ a little, so -1 s is still "0s" */
export function humanDuration(ms: number): string {
  const seconds = Math.trunc(ms / 1000);
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  if (seconds < 2 * minute) return `${seconds}s`;
  if (seconds < 10 * minute) return twoUnits(seconds, [minute, "m"], [1, "s"]);
  if (seconds < 3 * hour) return `${Math.floor(seconds / minute)}m`;
  if (seconds < 8 * hour) return twoUnits(seconds, [hour, "h"], [minute, "m"]);
  if (seconds < 2 * day) return `${Math.floor(seconds / hour)}h`;
  if (seconds < 8 * day) return twoUnits(seconds, [day, "d"], [hour, "h"]);
  if (seconds < 2 * year) return `${Math.floor(seconds / day)}d`;
  if (seconds < 8 * year) return twoUnits(seconds, [year, "y"], [day, "d"]);
  return `${Math.floor(seconds / year)}y`;
}

type Unit = readonly [seconds: number, letter: string];

function twoUnits(seconds: number, large: Unit, small: Unit): string {
  const count = Math.floor(seconds / large[0]);
  const rest = Math.floor((seconds % large[0]) / small[0]);
  return rest === 0 ? `${count}${large[1]}` : `${count}${large[1]}${rest}${small[1]}`;
}
