/**
 * What a measured program says: one JSON object a line on stdout.
 *
 * The first line comes as soon as the measured work is done. Then the program stays as it is, so that its CPU time and
 * memory can be read, until its stdin ends. The latency case has a second line, asked for by an empty line on stdin.
 */
import { z } from "zod";

const count = z.int().min(0);

/** The caches are full. */
export const syncedLine = z.object({ kind: z.literal("synced"), objects: count });
/** Every object was reconciled. */
export const reconciledLine = z.object({ kind: z.literal("reconciled"), objects: count });
/** Microseconds from each update to the beginning of its reconcile. */
export const latenciesLine = z.object({ kind: z.literal("latencies"), micros: z.array(z.number()) });
/** Operations a second, by the name of the operation. */
export const ratesLine = z.object({
  kind: z.literal("rates"),
  perSecond: z.object({ addTakeDone: z.number(), addRateLimitedForget: z.number(), addAfter: z.number() }),
});
/** The objects are in the cluster. */
export const loadedLine = z.object({ kind: z.literal("loaded"), objects: count });
/** The webhook answers. */
export const servingLine = z.object({ kind: z.literal("serving") });
/** Reviews were sent for so many milliseconds; microseconds until each was answered well. */
export const reviewedLine = z.object({
  kind: z.literal("reviewed"),
  micros: z.array(z.number()),
  ms: z.number().positive(),
  failed: count,
  /** What the first one that failed was answered. */
  firstFailure: z.string().optional(),
});
/** The updates were made; microseconds until each was answered. */
export const updatedLine = z.object({ kind: z.literal("updated"), micros: z.array(z.number()) });
