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
/** An update, by the microsecond since 1970 at which it was sent, and the microseconds until something happened. */
const timedUpdate = z.object({ sentAt: z.int(), micros: z.number() });
/** See {@link timedUpdate}. */
export type TimedUpdate = z.infer<typeof timedUpdate>;
/** Until the reconcile of each update began. */
export const latenciesLine = z.object({ kind: z.literal("latencies"), updates: z.array(timedUpdate) });
/** Operations a second, by the name of the operation. */
export const ratesLine = z.object({
  kind: z.literal("rates"),
  perSecond: z.object({ addTakeDone: z.number(), addRateLimitedForget: z.number(), addAfter: z.number() }),
});
/** The objects are in the cluster. */
export const loadedLine = z.object({ kind: z.literal("loaded"), objects: count });
/** The objects were created by so many requests in turn, whose answers took so long. */
export const createdLine = z.object({
  kind: z.literal("created"),
  objects: count,
  ms: z.number().positive(),
  /** Of the program that created them. */
  cpuMs: z.number(),
  p50Us: z.number(),
  p99Us: z.number(),
});
/** A server that was started has answered: milliseconds from its exec, and what it had used by then. */
export const servedLine = z.object({ kind: z.literal("served"), ms: z.number().positive(), cpuMs: z.number() });
/** Requests to a server in the same process; by number of objects stored, CPU per operation. */
export const inMemoryLine = z.object({
  kind: z.literal("inMemory"),
  createsPerSecond: z.number().positive(),
  cpuUsPerCreate: z.number().positive(),
  stored: z.array(z.object({ objects: count, cpuUsPerOperation: z.number().positive() })),
});
/** The webhook or the API server answers. */
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
/** The updates were made; until each was answered. */
export const updatedLine = z.object({ kind: z.literal("updated"), updates: z.array(timedUpdate) });
