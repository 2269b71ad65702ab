/**
 * The output of a measured program: one JSON object per line on stdout.
 *
 * The first line follows as soon as the measured work is done. The program then stays idle until its stdin ends, so that
 * its CPU time and memory can be read. The latency case prints a second line after an empty line on stdin.
 */
import { z } from "zod";

const count = z.int().min(0);

/** The caches are full. */
export const syncedLine = z.object({ kind: z.literal("synced"), objects: count });
/** Every object was reconciled, in this number of calls of the reconciler. */
export const reconciledLine = z.object({ kind: z.literal("reconciled"), objects: count, reconciles: count.optional() });
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
/** Objects were created by several requests in turn; the times of their responses. */
export const createdLine = z.object({
  kind: z.literal("created"),
  objects: count,
  ms: z.number().positive(),
  /** Of the program that created them. */
  cpuMs: z.number(),
  p50Us: z.number(),
  p99Us: z.number(),
});
/** A started server has responded: milliseconds from its exec, and the resources it had used. */
export const servedLine = z.object({ kind: z.literal("served"), ms: z.number().positive(), cpuMs: z.number() });
/** A suite of tests has passed: milliseconds and CPU of all of it, servers included, and the memory of the servers. */
export const suiteLine = z.object({
  kind: z.literal("suite"),
  specs: count,
  ms: z.number().positive(),
  cpuMs: z.number(),
  serversMaxRssBytes: count,
});
/** Requests to a server in the same process; by number of objects stored, CPU per operation. */
export const inMemoryLine = z.object({
  kind: z.literal("inMemory"),
  createsPerSecond: z.number().positive(),
  cpuUsPerCreate: z.number().positive(),
  stored: z.array(z.object({ objects: count, cpuUsPerOperation: z.number().positive() })),
});
/** The webhook or the API server accepts requests. */
export const servingLine = z.object({ kind: z.literal("serving") });
/** Reviews were sent for some milliseconds; microseconds until each correct response. */
export const reviewedLine = z.object({
  kind: z.literal("reviewed"),
  micros: z.array(z.number()),
  ms: z.number().positive(),
  failed: count,
  /** The response to the first review that failed. */
  firstFailure: z.string().optional(),
});
/** The updates were made; microseconds until each response. */
export const updatedLine = z.object({ kind: z.literal("updated"), updates: z.array(timedUpdate) });
