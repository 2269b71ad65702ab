/**
 * What a violation means for a user, in one sentence. A report begins with it, because a user knows volumes and Deployments, and
 * not the invariants of a simulation.
 *
 * Caveats: it says what happened to the objects, not whether this run or the run without faults is right.
 */
import { shownName } from "./_canonical_names.ts";
import type { Invariant } from "./violation.ts";

/** A difference between two runs. */
export interface Difference {
  readonly invariant: Invariant;
  /** As in a summary: `deployments.apps default/web .spec.replicas`, or the first two words for a lifecycle. */
  readonly key: string;
  /** Undefined when the run does not have it. */
  readonly actual: string | undefined;
  readonly expected: string | undefined;
  /** The kind of the object: `Deployment`. */
  readonly kind: string | undefined;
  /** Whether the object as a whole exists at the end of the run with faults, and of that without. */
  readonly exists: { readonly actual: boolean; readonly expected: boolean };
}

/** How users call what they keep in a kind. */
const nouns: Readonly<Record<string, string>> = {
  PersistentVolumeClaim: "volume claim",
  PersistentVolume: "volume",
};

/** What is lost with an object of a kind. */
const losses: Readonly<Record<string, string>> = {
  PersistentVolumeClaim: ", and its data with it",
  PersistentVolume: ", and its data with it",
  Secret: ", and what was generated in it",
  Pod: ", so what it served was interrupted",
  Deployment: ", so what it served was interrupted",
  StatefulSet: ", so what it served was interrupted",
  DaemonSet: ", so what it served was interrupted",
  Service: ", so its clients lost their connections",
  Ingress: ", so its clients lost their connections",
};

/** The consequence of violations that are no difference between objects. */
const ofInvariants: Readonly<Partial<Record<Invariant, string>>> = {
  "quiescence": "The controller does not come to rest, and burdens the API server without end.",
  "isolation": "A cluster with a problem makes the other clusters of the fleet wait.",
  "one-leader": "Two processes of the operator work at the same time, and may undo each other's work.",
  "process-exit": "The operator ends without being asked to.",
  "starved-key": "The controller has given up an object, and does not care for it any more.",
  "foreign-objects": "An object that belongs to another owner was deleted or changed.",
  "cache-contents": "The operator works with objects that do not exist in this form.",
  "activations": "The operator watches a kind that it should not watch, or does not watch one that it should.",
  "handler-events": "The operator did not learn of a change.",
  "own-writes": "The operator decides from a state that is older than its own writes.",
  "retry-count":
    "Each further failure of the object is retried later than the one before, although it succeeds in between.",
  "declared-access": "The operator needs a permission that its manifests do not give it.",
  "list-count": "The operator burdens the API server with more lists than are needed.",
  "never": "A state existed that must never be.",
  "eventually": "What should be true in the end is not.",
  "leaked-object": "What the operator has created for an object stays when that object is deleted.",
};

/** The consequence of a violation without an own one. */
export function generalConsequence(invariant: Invariant): string {
  return ofInvariants[invariant] ?? "The result depends on the faults.";
}

/** The consequence of a difference. */
export function consequenceOf(difference: Difference): string {
  const { invariant, key, kind = "object", exists } = difference;
  const [, name = "", ...path] = key.split(" ");
  const object = `${nouns[kind] ?? kind} ${shownName(name)}`;
  if (invariant === "object-lifecycle") return lifecycleText(object, kind, difference);
  if (!exists.actual && exists.expected) return `The ${object} is missing at the end.`;
  if (exists.actual && !exists.expected) return `The ${object} is left over at the end.`;
  if (path.length === 0) return `The steps of the user end differently.`;
  const isDeleted = difference.expected === undefined && path[0] === ".metadata.deletionTimestamp";
  return isDeleted
    ? `The ${object} is being deleted at the end.`
    : `The ${object} ends with another ${path.join(" ")}.`;
}

/** The consequence of an object that stays. @param of what it was created for: `Website default/hello` */
export function leakConsequence(kind: string, name: string, of: string): string {
  return `The ${nouns[kind] ?? kind} ${shownName(name)} stays after the deletion of ${of}.`;
}

function lifecycleText(object: string, kind: string, { actual, expected }: Difference): string {
  if (actual === undefined) return `The ${object} was never created.`;
  if (expected === undefined) return `The ${object} was created, which does not happen without faults.`;
  const [[created, deleted], [expectedCreated, expectedDeleted]] = [countsOf(actual), countsOf(expected)];
  if (deleted > expectedDeleted) return `The ${object} was deleted without need${losses[kind] ?? ""}.`;
  if (created > expectedCreated) return `The ${object} was created more often than needed.`;
  const missing = created < expectedCreated ? "created" : "deleted";
  return expectedCreated > 1 || expectedDeleted > 1
    ? `The ${object} was ${missing} less often than without faults.`
    : `The ${object} was never ${missing}.`;
}

/** True for a lifecycle in which nothing happened more often than expected: what is missing may still happen. */
export function isOnlyMissing({ actual, expected }: Pick<Difference, "actual" | "expected">): boolean {
  const [[created, deleted], [expectedCreated, expectedDeleted]] = [countsOf(actual), countsOf(expected)];
  return created <= expectedCreated && deleted <= expectedDeleted;
}

/** The numbers in `created 2, deleted 1`; 0 for what does not exist. */
function countsOf(text = ""): readonly [created: number, deleted: number] {
  const [created = 0, deleted = 0] = [...text.matchAll(/\d+/g)].map(Number);
  return [created, deleted];
}
