/**
 * What changes after everything has settled: the work of controllers that act by time. Runs are not compared in it, because
 * faults move it in time. Two values that take turns are no work by time: two writers fight over them.
 */
import type { KubeObject } from "../api/mod.ts";
import { CanonicalNames, roleOf, type SummaryObject } from "./_canonical_names.ts";
import { flatFields } from "./_flat_fields.ts";
import type { SummaryChange } from "./_server_changes.ts";
import { differingKeys, fieldsOf, type Outcome } from "./summary.ts";
import type { Violation } from "./violation.ts";

/** The part of a run that is read here. */
export interface SettledRun {
  readonly outcome: Outcome;
  /** The revision at which everything had settled after the last step. */
  readonly settledRevision: number;
}

/** Values in turns that are a fight: A, B, A, B. */
const minTurns = 4;

/** The fields that changed late, and the roles of objects that came or went late. */
export function lateChangesOf(
  run: SettledRun,
  names: CanonicalNames,
): { readonly fields: readonly string[]; readonly roles: readonly string[] } {
  const late = lateChanges(run);
  if (late.length === 0) return { fields: [], roles: [] };
  const before = fieldsOf(objectsAt(run), names);
  const fields = differingKeys(before, fieldsOf(run.outcome.objects, names));
  const roles = late.filter(({ change }) => change.kind !== "modified").map((one) => roleOf(viewOf(one)));
  return { fields, roles };
}

/** A fight over a field, if there is one. */
export function fightIn(run: SettledRun): Violation | undefined {
  const byObject = Map.groupBy(
    lateChanges(run).filter(({ change }) => change.kind === "modified"),
    ({ collection, change }) => `${collection} ${change.current.key}`,
  );
  for (const [object, changes] of byObject) {
    const [path, values] = changes.length < minTurns ? [] : turnsIn(changes);
    if (path === undefined || values === undefined) continue;
    const message = `${object} ${path} alternates between ${values[0]} and ${values[1]} after everything had settled`;
    return { invariant: "quiescence", message, object };
  }
  return undefined;
}

function turnsIn(changes: readonly SummaryChange[]): readonly [path: string, values: readonly string[]] | readonly [] {
  const names = new CanonicalNames([], []);
  const history = new Map<string, string[]>();
  for (const one of changes) {
    flatFields(viewOf(one).object, names, (path, value) => {
      const values = history.get(path) ?? [];
      history.set(path, values);
      if (values.at(-1) !== value) values.push(value);
    });
  }
  for (const [path, values] of history) {
    const isAlternating = values.length >= minTurns && values.every((value, index) => value === values[index % 2]);
    if (isAlternating) return [path, values];
  }
  return [];
}

function lateChanges({ outcome, settledRevision }: SettledRun): readonly SummaryChange[] {
  return outcome.changes.filter(({ change }) => change.revision > settledRevision);
}

/** The objects at the revision at which everything had settled. */
function objectsAt({ outcome, settledRevision }: SettledRun): readonly SummaryObject[] {
  const live = new Map(outcome.objects.map((one) => [one.object.metadata.uid, one]));
  for (const one of outcome.changes) {
    const view = viewOf(one);
    if (one.change.revision > settledRevision) {
      if (one.change.kind === "added") live.delete(view.object.metadata.uid);
      continue;
    }
    if (one.change.kind === "deleted") live.delete(view.object.metadata.uid);
    else live.set(view.object.metadata.uid, view);
  }
  return [...live.values()];
}

function viewOf({ collection, change }: SummaryChange): SummaryObject {
  return { collection, object: change.current.object as KubeObject };
}
