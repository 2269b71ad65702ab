/**
 * checkCase(): simulates one operator of the corpus until the first finding, as `controller simulate` would, and says whether
 * that is what the corpus expects.
 */
import process from "node:process";
import { defaultWorkloads, type Finding, simulate } from "../../../src/simulation/mod.ts";
import type { CorpusCase } from "./_case.ts";

/** Milliseconds within which a bug must be found. */
export const maxMs = 30_000;

/** What the simulation said about an operator. Plain JSON. */
export interface CaseResult {
  readonly name: string;
  readonly verdict: "caught" | "missed" | "clean" | "false alarm";
  /** Runs with and without faults until the first finding. */
  readonly schedules: number;
  readonly elapsedMs: number;
  readonly cpuMs: number;
  /** The first finding, if there is one. */
  readonly found?: {
    readonly workload: string;
    readonly faults: readonly string[];
    readonly invariants: readonly string[];
    readonly text: string;
  };
}

/** Options of {@link checkCase}. */
export interface CheckCaseOptions {
  /** Storms per workload. */
  readonly seeds: number;
  /** Single faults per workload. @default all */
  readonly points?: number;
}

/** Simulates an operator of the corpus. */
export async function checkCase(one: CorpusCase, { seeds, points }: CheckCaseOptions): Promise<CaseResult> {
  const startedAt = performance.now();
  const cpuAt = process.cpuUsage();
  let schedules = 0;
  let finding: Finding | undefined;
  const [controller, ...others] = one.controllers;
  if (controller === undefined) throw new TypeError(`Cannot check operator "${one.name}": it has no controller`);
  const workloads = controller.workloads ?? defaultWorkloads(controller);
  const ofEach = workloads.map((workload) => ({ workloads: [workload], storms: seeds, points }));
  // As `simulate` does: what all workloads show without faults comes first.
  for (const options of [{ workloads, singles: false, storms: 0 }, ...ofEach]) {
    const report = await simulate({ controller, others, maxFindings: 1, ...options });
    schedules += report.schedules;
    finding = report.findings[0];
    if (finding !== undefined) break;
  }
  const { user, system } = process.cpuUsage(cpuAt);
  return {
    name: one.name,
    verdict: verdictOn(one, finding),
    schedules,
    elapsedMs: performance.now() - startedAt,
    cpuMs: (user + system) / 1_000,
    ...(finding === undefined ? {} : { found: describe(finding) }),
  };
}

function verdictOn({ kind, expected = [] }: CorpusCase, finding: Finding | undefined): CaseResult["verdict"] {
  if (kind === "correct") return finding === undefined ? "clean" : "false alarm";
  return finding?.violations.some(({ invariant }) => expected.includes(invariant)) ? "caught" : "missed";
}

function describe({ workload, plan, violations, seed, replicas }: Finding): NonNullable<CaseResult["found"]> {
  const messages = violations.map(({ invariant, message }) => `  ${invariant}: ${message}`);
  return {
    workload,
    faults: [...new Set(plan.faults.map(({ kind }) => kind))],
    invariants: [...new Set(violations.map(({ invariant }) => invariant))],
    text: [`"${workload}", seed ${seed}, replicas ${replicas}, plan ${JSON.stringify(plan)}`, ...messages].join("\n"),
  };
}
