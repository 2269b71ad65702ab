/** A fault plan as people hand it back to `simulate --plan`, checked before it is played. */
/* MERGED simulate/simulate_flags.ts  The flags of `simulate`. */
import { z } from "zod";
import { faultKinds, type FaultPlan } from "../../simulation/mod.ts";
import { flagSyntax, oneOf, text, wholeNumber } from "../flags/mod.ts";

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

export const simulateFlags = z.object({
  all: z.boolean().default(false).register(flagSyntax, {
    flags: "--all",
    about: "simulate all controllers, instead of naming them",
  }),
  seeds: wholeNumber(0, 1_000_000).prefault("100").register(flagSyntax, {
    flags: "--seeds <count>",
    about: "storms of several faults, for each workload",
    example: "--seeds 1000",
  }),
  seed: wholeNumber(0, 2_000_000_000).prefault("1").register(flagSyntax, {
    flags: "--seed <number>",
    about: "the first seed, or the only one with --plan",
    example: "--seed 7",
  }),
  faults: z.array(oneOf(faultKinds)).default([]).register(flagSyntax, {
    flags: "--faults <kind>",
    about: `kinds of faults, of ${faultKinds.join(", ")} (default: all)`,
    example: "--faults crash",
    arity: "list",
  }),
  workload: text().optional().register(flagSyntax, {
    flags: "--workload <name>",
    about: "only this workload",
    example: '--workload "create"',
  }),
  plan: text().transform((typed, context) => {
    const plan = parsedPlan(typed);
    if (plan !== undefined) return plan;
    context.addIssue({ code: "custom", message: "it is no fault plan as simulate prints it" });
    return z.NEVER;
  }).optional().register(flagSyntax, {
    flags: "--plan <json>",
    about: "play this plan alone, as it was printed",
    example: `--plan '{"faults":[{"kind":"crash","write":1,"moment":"before","downMs":1000}]}'`,
  }),
  replicas: wholeNumber(1, 5).prefault("1").register(flagSyntax, {
    flags: "--replicas <count>",
    about: "processes that elect a leader, with --plan",
    example: "--replicas 2",
  }),
  jobs: wholeNumber(1, 1_000).optional().register(flagSyntax, {
    flags: "--jobs <count>",
    about: "processes that play (default: one for each core)",
    example: "--jobs 1",
  }),
  timeline: z.boolean().default(false).register(flagSyntax, {
    flags: "--timeline",
    about: "with --plan: print what happened, even if nothing is wrong",
  }),
  output: oneOf(["json"]).optional().register(flagSyntax, {
    flags: "-o, --output <format>",
    about: "json: the report for programs",
    example: "-o json",
  }),
});

/** What the flags say. */
export type SimulateFlags = z.output<typeof simulateFlags>;
