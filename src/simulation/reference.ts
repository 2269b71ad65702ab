/**
 * Reference: what a workload leads to without faults, learned from several runs with different orders of events, UIDs, resource
 * versions and times. compareWithReference() finds what is different under faults.
 *
 * Guarantees: what differs between runs without faults is not compared, and neither are values that only the server chose;
 * a message does not say which of two runs is right.
 */
import type { Workload } from "../manager/mod.ts";
import { type LearnedNames, learnNames } from "./_canonical_names.ts";
import type { FaultPlan } from "./fault_plan.ts";
import type { PointCounts } from "./fault_points.ts";
import { SentFields } from "./_sent_fields.ts";
import { type RunTotals, type ScheduleResult, type Settling, sumOf } from "./schedule.ts";
import { lastingLifecycles } from "./_stale_creations.ts";
import { differingKeys, type Outcome, type Summary, summaryOf } from "./summary.ts";
import type { Invariant, Violation } from "./violation.ts";

/** The expected result of a workload. */
export interface Reference {
  /** The runs that it was learned from. */
  readonly results: readonly ScheduleResult[];
  readonly names: LearnedNames;
  readonly summary: Summary;
  readonly settling: Settling;
  readonly points: PointCounts;
  /** The number of changes on the server until the end of each step. */
  readonly stepRevisions: readonly number[];
  /** Patterns of the keys of fields and lifecycles that only some runs without faults have: they are not compared. */
  readonly masked: ReadonlySet<string>;
  /** Patterns of the keys whose values differ between runs without faults: only their presence is compared. */
  readonly varying: ReadonlySet<string>;
  /** Steps come while the controllers work, so faults change what exists at that time. */
  readonly isTimed: boolean;
  /** Whether a step comes after everything has settled, by the positions of the steps that change objects. */
  readonly isStepCompared: readonly boolean[];
  /** Violations without faults. */
  readonly violations: readonly Violation[];
  /** The number of runs that it was learned from, and what happened in them. */
  readonly runs: number;
  readonly totals: RunTotals;
}

/** Differences that are reported for one run. */
const maxReported = 5;

/** Learns from runs without faults, of which the first is the one to compare with. */
export function referenceOf(workload: Workload, results: readonly [ScheduleResult, ...ScheduleResult[]]): Reference {
  const [first] = results;
  const names = learnNames(results.map(({ outcome }) => outcome.objects));
  const summaries = results.map(({ outcome }) => summaryOf(outcome, names));
  const [summary = summaryOf(first.outcome, names), ...others] = summaries;
  const [masked, varying] = [new Set<string>(), new Set<string>()];
  for (const other of others) {
    for (const part of ["fields", "lifecycles"] as const) {
      for (const key of differingKeys(summary[part], other[part])) {
        const isPresent = summary[part].has(key) && other[part].has(key);
        (isPresent ? varying : masked).add(patternOf(key));
      }
    }
  }
  const { settling, points, stepRevisions } = first;
  const isTimed = workload.steps.some(({ untilWrites }) => untilWrites !== undefined);
  const violations = [...first.violations, ...differentObjects(summary, others)];
  return {
    ...{ results, names, summary, settling, points, stepRevisions, masked, varying, isTimed, violations },
    isStepCompared: comparedSteps(workload),
    ...{ runs: results.length, totals: sumOf(results.map(({ totals }) => totals)) },
  };
}

/** The result of a step that comes while the controllers work depends on how far they are. */
function comparedSteps({ steps }: Workload): readonly boolean[] {
  return steps.flatMap(({ kind }, index) => {
    const before = steps[index - 1];
    const isSettled = before?.atOnce !== true && before?.untilWrites === undefined;
    return kind === "stop" || kind === "advance" ? [] : [isSettled];
  });
}

/** A key without the positions in lists and the numbers of objects with equal roles. */
function patternOf(key: string): string {
  return key.replaceAll(/\[\d+\]/g, "[]").replaceAll(/#\d+/g, "#");
}

/** The objects that exist at the end of some runs without faults, and not of others. */
function differentObjects(summary: Summary, others: readonly Summary[]): readonly Violation[] {
  const found = new Map<string, Violation>();
  for (const other of others) {
    for (const object of differingKeys(summary.objects, other.objects)) {
      const message = `${object} differs between runs without faults: it exists at the end of one, and not of another`;
      if (summary.objects.has(object) !== other.objects.has(object)) {
        found.set(object, { invariant: "end-state", message, object });
      }
    }
  }
  return [...found.values()].slice(0, maxReported);
}

/** All violations of a run: those that it found itself, and the differences from the reference. */
export function compareWithReference(
  reference: Reference,
  result: ScheduleResult,
  plan: FaultPlan,
): readonly Violation[] {
  const { settling, violations } = result;
  const found = [...violations];
  if (settling !== reference.settling && settling !== "unsettled") {
    found.push({ invariant: "quiescence", message: differs("the end of the run", settling, reference.settling) });
  }
  found.push(...new Comparison(reference, result, plan).violations());
  return found;
}

/** The comparison of one run with a reference. */
class Comparison {
  readonly #reference: Reference;
  readonly #outcome: Outcome;
  readonly #summary: Summary;
  readonly #plan: FaultPlan;
  readonly #lasting: () => ReadonlyMap<string, string>;
  readonly #sent: readonly SentFields[];

  constructor(reference: Reference, result: ScheduleResult, plan: FaultPlan) {
    const { outcome, staleFrom, writes } = result;
    this.#reference = reference;
    this.#outcome = outcome;
    this.#summary = summaryOf(outcome, reference.names);
    this.#plan = plan;
    let lasting: ReadonlyMap<string, string> | undefined;
    const [expected] = reference.results;
    this.#lasting = () => lasting ??= lastingLifecycles(result, expected, staleFrom);
    this.#sent = [
      new SentFields(writes, outcome.changes),
      ...reference.results.slice(0, 1).map((one) => new SentFields(one.writes, one.outcome.changes)),
    ];
  }

  violations(): readonly Violation[] {
    const { isTimed, summary } = this.#reference;
    // After a deletion by a user, the operator creates the object once more.
    const hasDeletion = this.#plan.faults.some((fault) =>
      fault.kind === "actor" && ["delete", "replace"].includes(fault.act)
    );
    const found = [...this.#fields(), ...hasDeletion || isTimed ? [] : this.#lifecycles()];
    const isCompared = (_: string, index: number) => this.#reference.isStepCompared[index] === true;
    const actual = this.#outcome.outcomes.filter(isCompared).join(", ");
    const expected = summary.outcomes.filter(isCompared).join(", ");
    if (actual !== expected) found.push({ invariant: "end-state", message: differs("the steps", actual, expected) });
    return found;
  }

  #fields(): readonly Violation[] {
    const [actual, expected] = [this.#summary.fields, this.#reference.summary.fields];
    return this.#report(
      "end-state",
      actual,
      expected,
      (key) => this.#isCompared(key, actual, expected) && this.#isSent(key),
    );
  }

  #lifecycles(): readonly Violation[] {
    const [actual, expected] = [this.#summary.lifecycles, this.#reference.summary.lifecycles];
    return this.#report(
      "object-lifecycle",
      actual,
      expected,
      (key) => this.#isCompared(key, actual, expected) && this.#lasting().get(key) !== expected.get(key),
    );
  }

  #report(
    invariant: Invariant,
    actual: ReadonlyMap<string, string>,
    expected: ReadonlyMap<string, string>,
    isCompared: (key: string) => boolean,
  ): readonly Violation[] {
    return differingKeys(expected, actual).filter(isCompared).slice(0, maxReported).map((key) => ({
      invariant,
      message: differs(key, actual.get(key) ?? "missing", expected.get(key) ?? "missing"),
      object: key.split(" ").slice(0, 2).join(" "),
    }));
  }

  #isCompared(key: string, actual: ReadonlyMap<string, string>, expected: ReadonlyMap<string, string>): boolean {
    const pattern = patternOf(key);
    if (this.#reference.masked.has(pattern)) return false;
    return !this.#reference.varying.has(pattern) || actual.has(key) !== expected.has(key);
  }

  /** False for a value that the server chose; true when the whole object is there in one run only. */
  #isSent(key: string): boolean {
    const object = key.split(" ").slice(0, 2).join(" ");
    if (this.#summary.objects.has(object) !== this.#reference.summary.objects.has(object)) return true;
    return this.#sent.some((sent) => sent.has(key));
  }
}

/** Neither value is called the right one: what the run without faults did may be wrong, too. */
function differs(what: string, actual: string, expected: string): string {
  return `${what} differs between runs: ${actual} with these faults, ${expected} without`;
}
