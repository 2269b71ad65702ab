/** A fault plan as people hand it back to `simulate --plan`, checked before it is played. */
import { z } from "zod";
import type { FaultPlan } from "../../simulation/mod.ts";

const point = z.int().min(1);
const ms = z.int().min(0).max(86_400_000);

const fault = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("crash"),
    write: point,
    moment: z.enum(["before", "committed", "answered"]),
    downMs: ms,
    again: z.enum(["before", "committed", "answered"]).optional(),
  }),
  z.object({
    kind: z.literal("stale"),
    step: point,
    back: z.int().min(0),
    thawMs: ms,
    only: z.string().optional(),
    early: z.boolean().optional(),
  }),
  z.object({
    kind: z.literal("answer"),
    of: z.enum(["write", "read"]),
    request: point,
    code: z.literal([409, 410, 429, 500, 503, 504]),
    committed: z.boolean().optional(),
    retryAfterSeconds: z.int().min(0).optional(),
  }),
  z.object({ kind: z.literal("reset"), write: point, committed: z.boolean() }),
  z.object({ kind: z.literal("slow"), write: point, forMs: ms }),
  z.object({
    kind: z.literal("event"),
    event: point,
    action: z.enum(["merge", "stall", "duplicate", "cut", "corrupt", "gone", "error"]),
    forMs: ms,
  }),
  z.object({ kind: z.literal("partition"), write: point, forMs: ms }),
  z.object({ kind: z.literal("actor"), write: point, act: z.enum(["delete", "edit", "replace", "takeover"]) }),
  z.object({
    kind: z.literal("skew"),
    step: point,
    byMs: z.int(),
    rate: z.number().min(0).max(1_000).optional(),
    forMs: ms.optional(),
  }),
  z.object({ kind: z.literal("lease"), write: point }),
  z.object({ kind: z.literal("renewal"), renewal: point, committed: z.boolean(), forMs: ms }),
  z.object({
    kind: z.literal("pause"),
    of: z.enum(["write", "renewal"]),
    request: point,
    forMs: ms,
    wallByMs: z.int().optional(),
  }),
]);

/** A plan as it is written in JSON. */
export const faultPlan: z.ZodType<FaultPlan> = z.object({ faults: z.array(fault) });

/** The plan in a text; undefined where it is none. */
export function parsedPlan(text: string): FaultPlan | undefined {
  try {
    return faultPlan.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
