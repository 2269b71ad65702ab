/**
 * The declared state: what users have created and changed decides what exists at the end, not the way that led there. A workload
 * that creates objects and changes them is compared with one that creates them as they are in the end (Acto's differential
 * oracle). No fault is needed: a removed value that stays in a child, a child with an old name, or a failure that a corrected
 * spec does not end, is there in every run, so other runs do not show it.
 *
 * Each accepted change of more than metadata is compared, not only the last one: a workload that restores a value in the end
 * would hide the rest. In between, a status may tell what has happened, and nothing need exist for an object that is paused.
 *
 * Guarantees: what may depend on the past is not compared: metadata, numbers, times and ids in a status, values that do not come
 * from the declaration, a choice among declared values, finished work (Jobs, Pods), claims, objects that no living user's object
 * controls, paused objects, and what the author calls `equivalent`. Of external systems, only their number of values is.
 * Caveats: only the steps before the first deletion, waiting time or change of an object that no user created can be compared.
 */
import { controllerOf, isJsonObject, type KubeObject, type UntypedObject } from "../api/mod.ts";
import { isPaused } from "../controller/mod.ts";
import type { Workload, WorkloadStep } from "../manager/mod.ts";
import { patternOf, type Reference } from "./reference.ts";
import type { ScheduleResult } from "./schedule_result.ts";
import { SentFields } from "./_sent_fields.ts";
import { externalCollection, isEquivalent } from "./_state_checks.ts";
import { differingKeys, type Summary, summaryOf } from "./summary.ts";
import type { Violation } from "./violation.ts";

/** Objects of work that was done once, or that is kept on purpose. */
const historicCollections: ReadonlySet<string> = new Set([
  "jobs.batch",
  "pods",
  "replicasets.apps",
  "controllerrevisions.apps",
  "persistentvolumeclaims",
  "persistentvolumes",
]);

/** Differences that are reported. */
const maxReported = 5;

/**
 * The workload that creates the objects as they are in the end.
 *
 * @param outcomes the results of the steps: a rejected change declares nothing
 * @returns undefined when it is the same workload, or there is no such one
 */
export function declaredAtOnce({ name, steps }: Workload, outcomes: readonly string[]): Workload | undefined {
  const objects = new Map<string, UntypedObject>();
  let isChanged = false;
  for (const [index, step] of steps.entries()) {
    const isDone = outcomes[index] === "done";
    if (step.kind === "create" && isDone) objects.set(keyOfObject(step.object), step.object);
    else if (step.kind === "patch" && step.subresource === undefined) {
      const key = keyOfName(step.object);
      const object = objects.get(key);
      if (object === undefined) return undefined;
      if (!isDone) continue;
      const patched = merged(object, step.patch);
      if (!isObject(patched)) return undefined;
      objects.set(key, patched);
      isChanged = true;
    } else return undefined;
  }
  // What belongs to a paused object is as it was when it was paused.
  if (!isChanged || [...objects.values()].some(isPaused)) return undefined;
  return { name, steps: [...objects.values()].map((object): WorkloadStep => ({ kind: "create", object })) };
}

/** The beginning of a workload, and the workload that creates the same objects at once. */
export interface DeclaredPart {
  readonly stepwise: Workload;
  readonly direct: Workload;
}

/** The beginnings of a workload that end with a change, the longest first; only one for each declaration. */
export function declaredParts(workload: Workload, outcomes: readonly string[]): readonly DeclaredPart[] {
  const parts = new Map<string, DeclaredPart>();
  for (let count = workload.steps.length; count > 0; count--) {
    const steps = workload.steps.slice(0, count);
    const last = steps.at(-1);
    if (last?.kind !== "patch" || last.atOnce === true || last.untilWrites !== undefined) continue;
    // An annotation may ask for something to be done once.
    const isMetadataOnly = Object.keys(last.patch).every((field) => field === "metadata");
    if (isMetadataOnly && count < workload.steps.length) continue;
    const direct = declaredAtOnce({ ...workload, steps }, outcomes);
    const declaration = JSON.stringify(direct?.steps);
    if (direct !== undefined && !parts.has(declaration)) {
      parts.set(declaration, { stepwise: { ...workload, steps }, direct });
    }
  }
  return [...parts.values()];
}

/** Runs of the workload that creates the objects at once. */
export interface DeclaredRuns {
  readonly direct: readonly ScheduleResult[];
  /** False when more steps follow in the workload. */
  readonly isWhole: boolean;
}

/** The differences between a run of the workload and runs of the one that creates the same objects at once. */
export function declaredStateViolations(
  reference: Reference,
  { direct, isWhole }: DeclaredRuns,
): readonly Violation[] {
  const [stepwise] = reference.results;
  const [first, ...others] = direct.map(({ outcome }) => summaryOf(outcome, reference.names));
  const [firstDirect] = direct;
  if (stepwise === undefined || first === undefined || firstDirect === undefined) return [];
  const isDone = direct.every((one) => one.outcome.outcomes.every((outcome) => outcome === "done"));
  // While something fails, what is right for the last declaration need not be there yet.
  if (!isDone || [stepwise, ...direct].some(({ settling }) => settling !== "settled")) return [];
  const varying = new Set(others.flatMap((other) => differingKeys(first.fields, other.fields).map(patternOf)));
  const sent = [stepwise, firstDirect].map(({ writes, outcome }) => new SentFields(writes, outcome.changes));
  const declared = declaredValues(first);
  const isCompared = (key: string) => {
    const pattern = patternOf(key);
    const [object, other] = [reference.summary, first].map(({ objects }) => objects.get(objectOf(key)));
    if (!isWhole && (isStatus(key) || !isServed(object ?? other, first))) return false;
    return !isEquivalent(reference.checks, object, other) && !varying.has(pattern) && !reference.masked.has(pattern) &&
      !reference.varying.has(pattern) &&
      sent.some((one) => one.has(key)) &&
      dependsOnDeclaration(key, { stepwise: reference.summary, direct: first, declared });
  };
  const differing = differingKeys(first.fields, reference.summary.fields).filter(isCompared).map((key): Violation => ({
    invariant: "declared-state",
    message: `${key} depends on the way: ${reference.summary.fields.get(key) ?? "missing"} after these steps, ` +
      `${first.fields.get(key) ?? "missing"} when the same objects are created at once`,
    object: objectOf(key),
  }));
  return [...differing, ...externalLeaks(reference, first)].slice(0, maxReported);
}

function isStatus(key: string): boolean {
  return key.split(" ")[2]?.startsWith(".status") === true;
}

/** False for a dependent of an object for which nothing exists when it is created at once: such an object is paused. */
function isServed(object: KubeObject | undefined, direct: Summary): boolean {
  const owner = object && controllerOf(object);
  return owner === undefined || [...direct.objects.values()].some((other) => {
    const { kind, name } = controllerOf(other) ?? {};
    return kind === owner.kind && name === owner.name;
  });
}

/** External systems that hold more than they need: ids in them may differ, so only the number of their values is compared. */
function externalLeaks({ summary, checks }: Reference, direct: Summary): readonly Violation[] {
  const systems = [...summary.objects.keys()].filter((name) => name.startsWith(`${externalCollection} `));
  return systems.flatMap((object): readonly Violation[] => {
    const [stepwise, atOnce] = [summary, direct].map(({ fields }) =>
      [...fields.keys()].filter((key) => key.startsWith(`${object} .state`)).length
    );
    if ((stepwise ?? 0) <= (atOnce ?? 0)) return [];
    if (isEquivalent(checks, summary.objects.get(object), direct.objects.get(object))) return [];
    const message = `${object} depends on the way: it holds ${stepwise} values after these steps, ${atOnce} when the ` +
      "same objects are created at once";
    return [{ invariant: "declared-state", message, object }];
  });
}

/** False for what may depend on the past. @param declared the values in the objects of the users */
function dependsOnDeclaration(
  key: string,
  { stepwise, direct, declared }: {
    readonly stepwise: Summary;
    readonly direct: Summary;
    readonly declared: readonly string[];
  },
): boolean {
  const [collection = "", , path = ""] = key.split(" ");
  if (historicCollections.has(collection) || path.startsWith(".metadata")) return false;
  const name = objectOf(key);
  const [object, other] = [stepwise.objects.get(name), direct.objects.get(name)];
  const [one] = [object ?? other];
  const [value, expected] = [stepwise.fields.get(key), direct.fields.get(key)];
  if (one === undefined) return false;
  const isDeclared = controllerOf(one) === undefined;
  const isChoice = value !== undefined && expected !== undefined && declared.includes(bare(value));
  if (isChoice) return false;
  if (path.startsWith(".status")) {
    return isDeclared && object !== undefined && other !== undefined && isWord(value) && isWord(expected);
  }
  if (isDeclared) return false;
  return value === undefined || expected === undefined || declared.some((text) => isMade(bare(expected), text));
}

/** The values of the fields that users have declared. */
function declaredValues({ fields, objects }: Summary): readonly string[] {
  return [...fields].flatMap(([key, value]) => {
    const object = objects.get(objectOf(key));
    const isOwn = object !== undefined && controllerOf(object) === undefined;
    return isOwn && !/^\.(?:metadata|status|kind|apiVersion)\b/.test(key.split(" ")[2] ?? "") ? [bare(value)] : [];
  });
}

/** A shorter text may be a part of another one by chance. */
const minPart = 3;

/** True when a text is a declared one, or has it as a part. An id that another system has chosen is not. */
function isMade(text: string, declared: string): boolean {
  return text === declared || (declared.length >= minPart && text.includes(declared));
}

function bare(value: string): string {
  return value.replaceAll(/^=?"|"$/g, "");
}

/** True for a phase or reason, a boolean, and a value that is missing. Other texts may be ids that another system has chosen. */
function isWord(value: string | undefined): boolean {
  return value === undefined || value === "true" || value === "false" || /^"[A-Z][A-Za-z]*"$/.test(value);
}

function objectOf(key: string): string {
  return key.split(" ").slice(0, 2).join(" ");
}

function keyOfObject({ apiVersion, kind, metadata: { name, namespace } }: KubeObject): string {
  return keyOfName({ apiVersion, kind, name: name ?? "", namespace });
}

function keyOfName(
  { apiVersion, kind, name, namespace = "default" }: {
    readonly apiVersion: string;
    readonly kind: string;
    readonly name: string;
    readonly namespace?: string;
  },
): string {
  return `${apiVersion} ${kind} ${namespace}/${name}`;
}

/** A JSON merge patch (RFC 7396). */
function merged(value: unknown, patch: unknown): unknown {
  if (!isJsonObject(patch)) return patch;
  const result: Record<string, unknown> = { ...(isJsonObject(value) ? value : {}) };
  for (const [key, inner] of Object.entries(patch)) {
    if (inner === null) delete result[key];
    else result[key] = merged(result[key], inner);
  }
  return result;
}

function isObject(value: unknown): value is UntypedObject {
  return isJsonObject(value) && typeof value.apiVersion === "string" && typeof value.kind === "string" &&
    isJsonObject(value.metadata);
}
