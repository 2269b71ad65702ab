/**
 * compareRun(): what a run with faults has that runs without faults do not have: other objects, other fields, other lives of
 * objects, objects that stay when what they were created for is deleted, crash loops, and steps that end differently.
 *
 * Guarantees: messages name objects as people know them, and are equal for equal differences of two runs.
 */
import type { KubeObject } from "../../api/mod.ts";
import { consequenceOf, isOnlyMissing, leakConsequence } from "../consequence.ts";
import { shownName } from "../engine.ts";
import type { FaultPlan } from "../fault_plan.ts";
import { differingKeys } from "../summary.ts";
import type { Violation } from "../violation.ts";
import { isEqual, isMasked } from "./cluster_state.ts";
import { leftoverNames } from "./cluster_summary.ts";
import { firstStepOf } from "./passed_points.ts";
import { exitViolations } from "./program_exits.ts";
import type { ProgramReference } from "./program_reference.ts";
import type { ForeignRunResult, StepEnd } from "./run_options.ts";

/** Differences of one kind that are reported for one run. */
const maxReported = 5;

/** All violations of a run: those that it found itself, and the differences from the reference. */
export function compareRun(
  reference: ProgramReference,
  result: ForeignRunResult,
  plan: FaultPlan,
): readonly Violation[] {
  const hasFaults = plan.faults.length > 0 && result.applied > 0;
  const found = [...result.violations, ...exitViolations(result, hasFaults)];
  const last = result.steps.at(-1);
  const expected = reference.steps.find(({ step }) => step === last?.step);
  if (last === undefined || expected === undefined) return found;
  if (!last.isSettled && expected.isSettled) {
    const message = `the cluster was not at rest ${Math.round(last.tookMs / 1000)} s later`;
    found.push({ invariant: "quiescence", message, consequence: "The program does not come to rest." });
  }
  found.push(...stepDifferences(reference, { last, expected }));
  const leaks = leaksIn(reference, result);
  found.push(...leaks);
  const compared = new Comparison(reference, { last, expected });
  // A user who deletes or replaces an object makes the program create it again.
  if (plan.faults.every(({ kind }) => kind !== "actor")) found.push(...compared.differences("object-lifecycle"));
  const leaked = new Set(leaks.map(({ object }) => object));
  found.push(...compared.differences("end-state").filter(({ object }) => !leaked.has(object)));
  return found;
}

/** True when a run was another one than without faults before its first fault: then runs without faults differ, too. */
export function wasDifferentBefore(
  { steps, masked }: ProgramReference,
  result: ForeignRunResult,
  { faults }: FaultPlan,
): boolean {
  const first = Math.min(...faults.map(firstStepOf));
  return result.steps.some(({ step, summary, before }) => {
    const expected = steps.find((one) => one.step === step);
    // The end of the last step before the fault may have been seen again after it.
    const actual = before ?? summary;
    return expected !== undefined && step < first && !isEqual(expected.summary.fields, actual.fields, masked);
  });
}

interface ComparedSteps {
  readonly last: StepEnd;
  readonly expected: StepEnd;
}

function stepDifferences(
  { varyingSteps }: ProgramReference,
  { last, expected }: ComparedSteps,
): readonly Violation[] {
  const wanted = new Map(expected.outcomes.map(({ step, kind }) => [step, kind]));
  return last.outcomes.flatMap(({ step, kind }): readonly Violation[] => {
    const other = wanted.get(step);
    if (other === undefined || other === kind || varyingSteps.has(step)) return [];
    return [{
      invariant: "end-state",
      message: `step ${step} ended "${kind}", without faults "${other}"`,
      consequence: `Step ${step} of the user ends differently.`,
    }];
  });
}

/** What stays when its object is deleted, and does not stay without faults. */
function leaksIn({ leftovers, learned }: ProgramReference, result: ForeignRunResult): readonly Violation[] {
  const leaked = [...leftoverNames(result, learned)].filter(([name]) => !leftovers.has(name));
  return leaked.slice(0, maxReported).map(([name, { view, of }]) => {
    const { kind, metadata } = of;
    const owner = `${kind} ${metadata.namespace === undefined ? "" : `${metadata.namespace}/`}${metadata.name}`;
    return {
      invariant: "leaked-object",
      message: `${shownName(name)} stays after the deletion of ${owner}, without faults it does not`,
      consequence: leakConsequence(view.object.kind, name.split(" ")[1] ?? "", owner),
      object: name,
    };
  });
}

/** The comparison of the ends of two runs. */
class Comparison {
  readonly #masked: ReadonlySet<string>;
  readonly #last: StepEnd;
  readonly #expected: StepEnd;
  /** The kinds of objects by their collections. */
  readonly #kinds = new Map<string, string>();

  constructor({ masked }: ProgramReference, { last, expected }: ComparedSteps) {
    this.#masked = masked;
    this.#last = last;
    this.#expected = expected;
    for (const { state } of [last, expected]) {
      for (const { collection, object } of state.objects) this.#kinds.set(collection, object.kind);
      for (const { collection, change } of state.changes) {
        this.#kinds.set(collection, (change.current.object as KubeObject).kind);
      }
    }
  }

  differences(invariant: "end-state" | "object-lifecycle"): readonly Violation[] {
    const part = invariant === "end-state" ? "fields" : "lifecycles";
    const [expected, actual] = [this.#expected.summary[part], this.#last.summary[part]];
    const keys = differingKeys(expected, actual).filter((key) => !isMasked(key, this.#masked));
    const reported = new Set(keys.map((key) => this.#reportedKey(key)));
    return [...reported].slice(0, maxReported).map((key) => {
      const object = objectOf(key);
      const exists = { actual: this.#exists(this.#last, object), expected: this.#exists(this.#expected, object) };
      const values = { actual: actual.get(key), expected: expected.get(key) };
      const kind = this.#kinds.get(object.split(" ")[0] ?? "");
      return {
        invariant,
        message: messageOf(key, { ...values, exists }),
        consequence: consequenceOf({ invariant, key, ...values, kind, exists }),
        object,
        ...(invariant === "object-lifecycle" && isOnlyMissing(values) ? { isOnlyMissing: true } : {}),
      };
    });
  }

  /** An object that only one of the runs has is one difference, whatever fields it has. */
  #reportedKey(key: string): string {
    const object = objectOf(key);
    return this.#exists(this.#last, object) === this.#exists(this.#expected, object) ? key : object;
  }

  #exists({ summary }: StepEnd, object: string): boolean {
    return summary.objects.has(object);
  }
}

interface Values {
  readonly actual: string | undefined;
  readonly expected: string | undefined;
  readonly exists: { readonly actual: boolean; readonly expected: boolean };
}

function messageOf(key: string, { actual, expected, exists }: Values): string {
  const shown = shownName(key);
  if (actual === undefined && expected === undefined) {
    return exists.actual
      ? `${shown} exists, without faults it does not`
      : `${shown} does not exist, without faults it does`;
  }
  return `${shown} is ${actual ?? "missing"}, without faults ${expected ?? "missing"}`;
}

/** `configmaps default/a` of `configmaps default/a .data.user`. */
function objectOf(key: string): string {
  return key.split(" ").slice(0, 2).join(" ");
}
