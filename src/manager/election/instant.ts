/**
 * Instant: a moment on both clocks of the machine. Each clock can hide time: the monotonic clock may stop while a machine
 * sleeps, the wall clock may be set back. Where too little time is dangerous, the larger of the two elapsed times counts
 * (behaviour 87).
 */
import type { Clock } from "../../async/mod.ts";

/** A moment, in milliseconds on each clock. */
export interface Instant {
  readonly monotonic: number;
  readonly wall: number;
}

/** The current moment. */
export function instantOn(clock: Clock): Instant {
  return { monotonic: clock.monotonic(), wall: clock.now() };
}

/** Milliseconds since `instant`, by the clock on which more time has passed. */
export function elapsedMs(clock: Clock, instant: Instant): number {
  return Math.max(clock.monotonic() - instant.monotonic, clock.now() - instant.wall);
}

/** A wall clock time as MicroTime of the API: RFC 3339 with six decimals. */
export function microTime(at: number): string {
  return new Date(at).toISOString().replace("Z", "000Z");
}
