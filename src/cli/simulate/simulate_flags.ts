/** The flags of `simulate`. */
import { z } from "zod";
import { faultKinds } from "../../simulation/mod.ts";
import { flagSyntax } from "../flag.ts";
import { oneOf, text, wholeNumber } from "../flag_values.ts";
import { parsedPlan } from "./fault_plan_schema.ts";

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
