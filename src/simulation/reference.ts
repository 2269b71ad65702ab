/**
 * Reference: what a workload leads to without faults, learned from several runs with different orders of events, UIDs, resource
 * versions and times. compareWithReference() finds what is different under faults.
 *
 * Guarantees: what differs between runs without faults is not compared, and neither are values that only the server chose;
 * a message does not say which of two runs is right.
 */
import { controllerOf, type KubeObject } from "../api/mod.ts";
import type { SimulationChecks, Workload } from "../manager/mod.ts";
import { type LearnedNames, learnNames, roleOf, shownName } from "./_canonical_names.ts";
import { consequenceOf } from "./consequence.ts";
import type { FaultPlan } from "./fault_plan.ts";
import type { PointCounts } from "./fault_points.ts";
import { fightIn, lateChangesOf } from "./_late_changes.ts";
import { delayViolations, planForOthers, promptWritesOf, resultIn, violationIn } from "./other_clusters.ts";
import { SentFields } from "./_sent_fields.ts";
import { type RunTotals, sumOf } from "./run_totals.ts";
import type { ScheduleOptions, ScheduleResult, Settling } from "./schedule_result.ts";
import { checksOf, externalCollection, isEquivalent } from "./_state_checks.ts";
import { lastingLifecycles } from "./_stale_creations.ts";
import { changesOnlyTiming, type CreationsByRole, creationsByRole, surplusIn } from "./_surplus_creations.ts";
import { differingKeys, everExisting, namesOf, type Outcome, type Summary, summaryOf } from "./summary.ts";
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
  /** The controllers have a memory that outlives a run, so each run ends with the deletion of its objects. */
  readonly cleanUp: boolean;
  /** The number of dependents at the end of each step. */
  readonly dependents: readonly number[];
  /** Patterns of the keys of fields and lifecycles that only some runs without faults have: they are not compared. */
  readonly masked: ReadonlySet<string>;
  /** Patterns of the keys whose values differ between runs without faults: only their presence is compared. */
  readonly varying: ReadonlySet<string>;
  /** The roles of objects that come and go by time: they are not compared. */
  readonly timedRoles: ReadonlySet<string>;
  /** The writes that come at once after each step. */
  readonly promptWrites: readonly number[];
  /** What the other clusters of a fleet show, by their names. */
  readonly others: ReadonlyMap<string, Reference>;
  /** The creations of objects with generated names; undefined when their number may depend on time. */
  readonly creations: CreationsByRole | undefined;
  /** Fields that users have set in objects of the operator, which need not survive the deletion of such an object. */
  readonly userFields: ReadonlySet<string>;
  /** Writes after everything has settled, in the run that has most of them. */
  readonly lateWrites: number;
  /** Steps come while the controllers work, so faults change what exists at that time. */
  readonly isTimed: boolean;
  /** Whether a step comes after everything has settled, by the positions of the steps that change objects. */
  readonly isStepCompared: readonly boolean[];
  /** What the authors of the controllers and of the workload have declared. */
  readonly checks: readonly SimulationChecks[];
  /** Violations without faults. */
  readonly violations: readonly Violation[];
  /** The number of runs that it was learned from, and what happened in them. */
  readonly runs: number;
  readonly totals: RunTotals;
}

/** Differences that are reported for one run. */
const maxReported = 5;

/** Writes of controllers that act by time, within a minute. */
const maxTimedWrites = 30;

/** Learns from runs without faults, of which the first is the one to compare with. */
export function referenceOf(
  options: Pick<ScheduleOptions, "workload" | "controllers" | "cleanUp">,
  results: readonly [ScheduleResult, ...ScheduleResult[]],
): Reference {
  const [first, ...further] = results;
  const reference = clusterReferenceOf(options, results);
  const others = new Map(
    [...first.others.keys()].map((name) => {
      const inOther = (result: ScheduleResult) => resultIn(result, name);
      return [name, clusterReferenceOf(options, [inOther(first), ...further.map(inOther)])];
    }),
  );
  const ofOthers = [...others].flatMap(([name, { violations }]) => violations.map((one) => violationIn(name, one)));
  return { ...reference, others, violations: [...reference.violations, ...ofOthers] };
}

/** The same for the only cluster, or one of a fleet. */
function clusterReferenceOf(
  { workload, controllers, cleanUp = false }: Pick<ScheduleOptions, "workload" | "controllers" | "cleanUp">,
  results: readonly [ScheduleResult, ...ScheduleResult[]],
): Reference {
  const [first] = results;
  const names = learnNames(results.map(({ outcome }) => everExisting(outcome)));
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
  const timedRoles = new Set<string>();
  for (const result of results) {
    const late = lateChangesOf(result, namesOf(result.outcome, names));
    for (const key of late.fields) masked.add(patternOf(key));
    for (const role of late.roles) timedRoles.add(role);
  }
  const lateWrites = Math.max(...results.map((result) => result.lateWrites));
  const { settling, points, stepRevisions, dependents } = first;
  const isTimed = workload.steps.some(({ untilWrites }) => untilWrites !== undefined);
  const checks = checksOf(controllers, workload);
  const creations = results.map(({ outcome }) => creationsByRole(outcome.changes, namesOf(outcome, names)));
  const isCounted = timedRoles.size === 0 && areCreationsCompared(workload, checks);
  const violations = [
    ...first.violations,
    ...restlessness(first, lateWrites),
    ...differentObjects(summary, others, { timedRoles, checks }),
    ...isCounted ? differentCreations(creations) : [],
  ];
  return {
    ...{ results, names, summary, settling, points, stepRevisions, dependents, masked, varying, isTimed, violations },
    ...{
      checks,
      cleanUp,
      creations: isCounted ? creations[0] : undefined,
      timedRoles,
      lateWrites,
      userFields: fieldsOfUsers(workload),
      isStepCompared: comparedSteps(workload),
      promptWrites: promptWritesOf(results),
      others: new Map(),
    },
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

/** Steps that come while the controllers work, and authors with several right outcomes, leave the number of objects open. */
function areCreationsCompared({ steps }: Workload, checks: readonly SimulationChecks[]): boolean {
  return !steps.some(({ atOnce, untilWrites }) => atOnce === true || untilWrites !== undefined) &&
    !checks.some(({ equivalent }) => equivalent !== undefined);
}

/** Runs without faults differ only in the order of events, which must not change how many objects are created. */
function differentCreations(all: readonly CreationsByRole[]): readonly Violation[] {
  const found = all.flatMap((one) => all.flatMap((other) => surplusIn(one, other)));
  const byRole = new Map(found.map((surplus) => [surplus.role, surplus]));
  return [...byRole.values()].slice(0, maxReported).map(({ role, created, needed }) => ({
    invariant: "object-lifecycle",
    message: `${role} differs between runs without faults: ${created} were created in one, ${needed} in another`,
    consequence: `The ${role} was created more often than needed.`,
    object: role,
  }));
}

/** A key without the positions in lists and the numbers of objects with equal roles. */
export function patternOf(key: string): string {
  return key.replaceAll(/\[\d+\]/g, "[]").replaceAll(/#\d+/g, "#");
}

/** A controller that acts by time writes now and then; more than that, or values that take turns, have no end. */
function restlessness(run: ScheduleResult, lateWrites: number): readonly Violation[] {
  const fight = fightIn(run);
  if (fight !== undefined) return [fight];
  if (lateWrites <= maxTimedWrites) return [];
  const message = `${lateWrites} writes in the minute after everything had settled`;
  return [{ invariant: "quiescence", message }];
}

/** The fields that patches of users set, by object: kind, namespace and name. */
function fieldsOfUsers({ steps }: Workload): ReadonlySet<string> {
  return new Set(steps.flatMap((step) => {
    if (step.kind !== "patch") return [];
    const { kind, namespace = "default", name } = step.object;
    return [...patchedPaths(step.patch, "")].map((path) => `${kind} ${namespace}/${name} ${path}`);
  }));
}

function* patchedPaths(value: unknown, path: string): Generator<string> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) yield path;
  else for (const [key, inner] of Object.entries(value)) yield* patchedPaths(inner, `${path}.${key}`);
}

function collectionOf(object: string): string {
  return object.slice(0, object.indexOf(" "));
}

/** True when two runs with the same seed have the same result, as they must if nothing outlives a run. */
export function haveSameResult(one: ScheduleResult, other: ScheduleResult): boolean {
  const [first, second] = [summaryOf(one.outcome), summaryOf(other.outcome)];
  return differingKeys(first.fields, second.fields).length === 0;
}

/** What the memory of a process changes when the same steps come again after the deletion of all objects. */
export function memoryViolations(fresh: ScheduleResult, again: ScheduleResult): readonly Violation[] {
  const [first, second] = [summaryOf(fresh.outcome), summaryOf(again.outcome)];
  const nothing = { timedRoles: new Set<string>(), checks: [] };
  return differentObjects(first, [second], nothing).map(({ object = "" }) => ({
    invariant: "end-state",
    message: `${object} differs between two runs of the same steps: the process remembers objects that were deleted. ` +
      "If the memory should not outlive a simulated process, create the controller with withFactory()",
    object,
  }));
}

/**
 * The objects that exist at the end of some runs without faults, and not of others. One object in the place of another, with
 * the same kind and owner, is another right outcome: a free address, a zone.
 */
function differentObjects(
  summary: Summary,
  others: readonly Summary[],
  { timedRoles, checks }: Pick<Reference, "timedRoles" | "checks">,
): readonly Violation[] {
  const found = new Map<string, Violation>();
  for (const other of others) {
    const [counts, otherCounts] = [countsByOwner(summary), countsByOwner(other)];
    for (const object of differingKeys(summary.objects, other.objects)) {
      const message = `${object} differs between runs without faults: it exists at the end of one, and not of another`;
      if (isEquivalent(checks, other.objects.get(object), summary.objects.get(object))) continue;
      const view = summary.objects.get(object) ?? other.objects.get(object);
      if (view !== undefined && timedRoles.has(roleOf({ collection: collectionOf(object), object: view }))) continue;
      const place = view === undefined ? "" : placeOf(object, view);
      if (counts.get(place) === otherCounts.get(place)) continue;
      if (summary.objects.has(object) !== other.objects.has(object)) {
        found.set(object, { invariant: "end-state", message, object });
      }
    }
  }
  return [...found.values()].slice(0, maxReported);
}

/** The number of objects of each kind that an owner has. */
function countsByOwner({ objects }: Summary): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const [name, object] of objects) {
    const place = placeOf(name, object);
    counts.set(place, (counts.get(place) ?? 0) + 1);
  }
  return counts;
}

function placeOf(name: string, object: KubeObject): string {
  const owner = controllerOf(object);
  return `${collectionOf(name)} ${object.metadata.namespace ?? ""} ${owner?.kind ?? ""} ${owner?.name ?? ""}`;
}

/** All violations of a run: those that it found itself, and the differences from the reference, in each of its clusters. */
export function compareWithReference(
  reference: Reference,
  result: ScheduleResult,
  plan: FaultPlan,
): readonly Violation[] {
  // Nothing can be expected of the objects of a server that is gone for good.
  const inSubject = result.isGone ? result.violations : compareCluster(reference, result, plan);
  const ofProcesses = planForOthers(plan);
  const inOthers = [...reference.others].flatMap(([name, expected]) => {
    const actual = resultIn(result, name);
    const found = [
      ...compareCluster(expected, actual, ofProcesses),
      ...delayViolations(expected.promptWrites, actual.stepWrites, plan),
    ];
    return found.map((violation) => violationIn(name, violation));
  });
  return [...inSubject, ...inOthers];
}

function compareCluster(reference: Reference, result: ScheduleResult, plan: FaultPlan): readonly Violation[] {
  const { settling, violations } = result;
  const found = [...violations];
  if (settling !== reference.settling && settling !== "unsettled") {
    found.push({
      invariant: "quiescence",
      message: differs("the end of the run", { actual: settling, expected: reference.settling, plan }),
    });
  }
  const { lateWrites } = result;
  if (lateWrites > allowedLateWrites(reference)) {
    const what = "the number of writes in the minute after everything had settled";
    found.push({
      invariant: "quiescence",
      message: differs(what, { actual: String(lateWrites), expected: String(reference.lateWrites), plan }),
    });
  }
  const fight = fightIn(result);
  if (fight !== undefined) found.push(fight);
  found.push(...new Comparison(reference, result, plan).violations());
  return found;
}

/** Faults move work that is done by time, so a minute may contain a little more of it. */
function allowedLateWrites({ lateWrites }: Reference): number {
  return lateWrites === 0 ? 0 : lateWrites * 2 + 2;
}

/** The comparison of one run with a reference. */
class Comparison {
  readonly #reference: Reference;
  readonly #outcome: Outcome;
  readonly #summary: Summary;
  readonly #plan: FaultPlan;
  readonly #equivalent = new Map<string, boolean>();
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
    const found = [...this.#fields(), ...this.#hasDeletion || isTimed ? [] : this.#lifecycles()];
    const isCompared = (_: string, index: number) => this.#reference.isStepCompared[index] === true;
    const actual = this.#outcome.outcomes.filter(isCompared).join(", ");
    const expected = summary.outcomes.filter(isCompared).join(", ");
    if (actual !== expected) {
      found.push({ invariant: "end-state", message: differs("the steps", { actual, expected, plan: this.#plan }) });
    }
    return [...found, ...this.#surplus()];
  }

  /** Objects with generated names that were created although events only came later. */
  #surplus(): readonly Violation[] {
    const { creations, names } = this.#reference;
    if (creations === undefined || !changesOnlyTiming(this.#plan)) return [];
    const actual = creationsByRole(this.#outcome.changes, namesOf(this.#outcome, names));
    return surplusIn(actual, creations).slice(0, maxReported).map(({ role, created, needed }) => ({
      invariant: "object-lifecycle",
      message: differs(role, { actual: `${created} created`, expected: String(needed), plan: this.#plan }),
      consequence: `The ${role} was created more often than needed.`,
      object: role,
    }));
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
    const keys = differingKeys(expected, actual).filter(isCompared).map((key) => this.#reportedKey(key));
    return [...new Set(keys)].slice(0, maxReported).map((key) => {
      const object = key.split(" ").slice(0, 2).join(" ");
      const exists = {
        actual: this.#summary.objects.has(object),
        expected: this.#reference.summary.objects.has(object),
      };
      const one = actual.get(key) ?? (exists.actual && key === object ? "present" : undefined);
      const other = expected.get(key) ?? (exists.expected && key === object ? "present" : undefined);
      const kind = this.#objectOf(key)?.kind;
      const consequence = consequenceOf({ invariant, key, actual: one, expected: other, kind, exists });
      const values = { actual: one ?? "missing", expected: other ?? "missing", plan: this.#plan };
      return { invariant, message: differs(shownName(key), values), consequence, object };
    });
  }

  /** An object that only one of the runs has is one difference, whatever fields it has. */
  #reportedKey(key: string): string {
    const object = key.split(" ").slice(0, 2).join(" ");
    return this.#summary.objects.has(object) === this.#reference.summary.objects.has(object) ? key : object;
  }

  #isCompared(key: string, actual: ReadonlyMap<string, string>, expected: ReadonlyMap<string, string>): boolean {
    const pattern = patternOf(key);
    if (this.#isEquivalent(key.split(" ").slice(0, 2).join(" "))) return false;
    if (this.#reference.masked.has(pattern) || this.#isTimed(key) || this.#isOfUser(key)) return false;
    return !this.#reference.varying.has(pattern) || actual.has(key) !== expected.has(key);
  }

  /** True when the author says that an object is as right as the expected one. */
  #isEquivalent(object: string): boolean {
    const { checks, summary } = this.#reference;
    let known = this.#equivalent.get(object);
    if (known === undefined) {
      known = isEquivalent(checks, this.#summary.objects.get(object), summary.objects.get(object));
      this.#equivalent.set(object, known);
    }
    return known;
  }

  /** True for an object that comes and goes by time. */
  #isTimed(key: string): boolean {
    const { timedRoles } = this.#reference;
    const object = timedRoles.size === 0 ? undefined : this.#objectOf(key);
    return object !== undefined && timedRoles.has(roleOf({ collection: collectionOf(key), object }));
  }

  /**
   * True for a field that a user had set in an object that another user, who is a fault, has deleted, and for what the cluster
   * reports about it in the status of a dependent.
   */
  #isOfUser(key: string): boolean {
    const { userFields } = this.#reference;
    const object = userFields.size === 0 || !this.#hasDeletion ? undefined : this.#objectOf(key);
    if (object === undefined) return false;
    const { kind, metadata: { namespace = "default", name } } = object;
    const [prefix, path] = [`${kind} ${namespace}/${name} `, key.split(" ").slice(2).join(" ")];
    if (userFields.has(prefix + path)) return true;
    const isReported = path.startsWith(".status") && controllerOf(object) !== undefined;
    return isReported && [...userFields].some((field) => field.startsWith(`${prefix}.spec`));
  }

  #objectOf(key: string): KubeObject | undefined {
    const object = key.split(" ").slice(0, 2).join(" ");
    return this.#reference.summary.objects.get(object) ?? this.#summary.objects.get(object);
  }

  /** After a deletion by a user, the operator creates the object once more. */
  get #hasDeletion(): boolean {
    return this.#plan.faults.some((fault) =>
      (fault.kind === "actor" && ["delete", "replace"].includes(fault.act)) ||
      (fault.kind === "restart" && fault.deletes !== undefined)
    );
  }

  /** False for a value that the server chose; true when the whole object is there in one run only. */
  #isSent(key: string): boolean {
    const object = key.split(" ").slice(0, 2).join(" ");
    if (collectionOf(key) === externalCollection) return true;
    if (this.#summary.objects.has(object) !== this.#reference.summary.objects.has(object)) return true;
    return this.#sent.some((sent) => sent.has(key));
  }
}

/** Neither value is called the right one: what the run without faults did may be wrong, too. */
function differs(
  what: string,
  { actual, expected, plan }: { readonly actual: string; readonly expected: string; readonly plan: FaultPlan },
): string {
  return plan.faults.length === 0
    ? `${what} differs between orders of events: ${actual} in this one, ${expected} in another`
    : `${what} differs between runs: ${actual} with these faults, ${expected} without`;
}
