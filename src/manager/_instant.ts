/**
 * Instant: a moment on both clocks of the machine. Each of them can hide time that has passed: the monotonic one may
 * stand still while a machine sleeps, the wall one may be set back. Where too little time is dangerous, the larger of
 * the two counts (behaviours.md 87).
 */
import type { Clock } from "../async/mod.ts";

/** A moment, in milliseconds on each clock. */
export interface Instant {
  readonly monotonic: number;
  readonly wall: number;
}

/** This moment. */
export function instantOn(clock: Clock): Instant {
  return { monotonic: clock.monotonic(), wall: clock.now() };
}

/** Milliseconds since `instant`, by the clock on which more have passed. */
export function elapsedMs(clock: Clock, instant: Instant): number {
  return Math.max(clock.monotonic() - instant.monotonic, clock.now() - instant.wall);
}
