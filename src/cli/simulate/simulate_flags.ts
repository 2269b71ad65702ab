/** The flags of `simulate`. */
import { z } from "zod";
import { parseBounded } from "../../schema/mod.ts";
import { faultKinds, type FaultPlan, faultPlanSchema } from "../../simulation/mod.ts";
import { programFlags } from "./program_flags.ts";
import { graphFlag } from "../graphs/mod.ts";
import { commandLineOnly, flag, oneOf, text, wholeNumber } from "../flags/mod.ts";

/** Parses a fault plan; undefined when the text is not a fault plan. */
export function parseFaultPlan(text: string): FaultPlan | undefined {
  try {
    return parseBounded(faultPlanSchema, JSON.parse(text));
  } catch {
    return undefined;
  }
}

function faultPlanText() {
  return text().transform((typed, context) => {
    const plan = parseFaultPlan(typed);
    if (plan !== undefined) return plan;
    context.addIssue({ code: "custom", message: "it is not a fault plan as simulate prints it" });
    return z.NEVER;
  });
}

/** The flags of `simulate`. */
export const simulateFlags = z.object({
  ...programFlags,
  all: flag(z.boolean().default(false), {
    ...commandLineOnly,
    flags: "--all",
    about: "simulate all controllers, together",
  }),
  together: flag(z.boolean().default(false), {
    ...commandLineOnly,
    flags: "--together",
    about: "run all named controllers in one process; with --plan, the workload belongs to the first one",
  }),
  full: flag(z.boolean().default(false), {
    ...commandLineOnly,
    flags: "--full",
    about: "print whole timelines, not only what matters for the objects of a violation",
  }),
  seeds: flag(wholeNumber(0, 1_000_000).prefault("100"), {
    ...commandLineOnly,
    flags: "--seeds <count>",
    about: "number of storms (random combinations of faults) for each workload",
    example: "--seeds 1000",
  }),
  points: flag(wholeNumber(0, 1_000_000).optional(), {
    ...commandLineOnly,
    flags: "--points <count>",
    about: "number of single faults for each workload, spread evenly over all that are possible (default: all)",
    example: "--points 100",
  }),
  seed: flag(wholeNumber(0, 2_000_000_000).prefault("1"), {
    ...commandLineOnly,
    flags: "--seed <number>",
    about: "first seed; with --plan the only one",
    example: "--seed 7",
  }),
  faults: flag(z.array(oneOf(faultKinds)).default([]), {
    ...commandLineOnly,
    flags: "--faults <kind>",
    about: `kind of fault: ${faultKinds.join(", ")}; can be repeated (default: all)`,
    example: "--faults crash",
    arity: "list",
  }),
  workload: flag(text().optional(), {
    ...commandLineOnly,
    flags: "--workload <name>",
    about: "simulate only this workload; with --command: their file or folder, or generated",
    completes: "workload",
    example: '--workload "create"',
  }),
  plan: flag(faultPlanText().optional(), {
    ...commandLineOnly,
    flags: "--plan <json>",
    about: "simulate only this fault plan, in the form in which simulate prints it",
    example: `--plan '{"faults":[{"kind":"crash","write":1,"moment":"before","downMs":1000}]}'`,
  }),
  replicas: flag(wholeNumber(1, 5).prefault("1"), {
    ...commandLineOnly,
    flags: "--replicas <count>",
    about: "replicas with leader election: of a controller with --plan, of a program with --command",
    example: "--replicas 2",
  }),
  shards: flag(wholeNumber(2, 5).optional(), {
    ...commandLineOnly,
    flags: "--shards <count>",
    about: "run every schedule with so many replicas that divide the keys between them",
    example: "--shards 3",
  }),
  clusters: flag(wholeNumber(2, 3).optional(), {
    ...commandLineOnly,
    flags: "--clusters <count>",
    about: "run every schedule as a fleet with a hub and so many members; faults hit the first one, all are checked",
    example: "--clusters 2",
  }),
  jobs: flag(wholeNumber(1, 1_000).optional(), {
    ...commandLineOnly,
    flags: "--jobs <count>",
    about: "number of processes (default: one for each core; with --command: two)",
    example: "--jobs 1",
  }),
  timeline: flag(z.boolean().default(false), {
    ...commandLineOnly,
    flags: "--timeline",
    about: "with --plan: print the timeline even if there is no violation",
  }),
  graph: graphFlag,
  record: flag(text().optional(), {
    ...commandLineOnly,
    flags: "--record <path>",
    about: "record the first violation in this file, for why --file; with --plan also a run without one",
    example: "--record violation.jsonl",
    completes: "file",
  }),
  junit: flag(text().optional(), {
    ...commandLineOnly,
    flags: "--junit <path>",
    about: "write the violations in this file, in the format of JUnit, for CI systems",
    example: "--junit simulate.xml",
    completes: "file",
  }),
  output: flag(oneOf(["json"]).optional(), {
    ...commandLineOnly,
    flags: "-o, --output <format>",
    about: "json: print the report for programs",
    example: "-o json",
  }),
});

/** The values of the flags. */
export type SimulateFlags = z.output<typeof simulateFlags>;
