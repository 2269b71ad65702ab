/**
 * The declared state: what users have created and changed decides what exists at the end, not the way that led there. A workload
 * that creates objects and changes them is compared with one that creates them as they are in the end (Acto's differential
 * oracle). No fault is needed: a removed value that stays in a child, a child with an old name, or a failure that a corrected
 * spec does not end, is there in every run, so other runs do not show it.
 *
 * Guarantees: what may depend on the past is not compared: metadata, numbers, times and ids in a status, values that do not come
 * from the declaration, finished work (Jobs, Pods), claims, and objects that no living user's object controls.
 * Caveats: only workloads without deletions, waiting times and changes of objects that no user created can be compared.
 */
import { controllerOf, type KubeObject, type UntypedObject } from "../api/mod.ts";
import type { Workload, WorkloadStep } from "../manager/mod.ts";
import { patternOf, type Reference } from "./reference.ts";
import type { ScheduleResult } from "./schedule_result.ts";
import { SentFields } from "./_sent_fields.ts";
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
  if (!isChanged) return undefined;
  return { name, steps: [...objects.values()].map((object): WorkloadStep => ({ kind: "create", object })) };
}

/** The differences between a run of the workload and runs of the one that creates the same objects at once. */
export function declaredStateViolations(
  reference: Reference,
  direct: readonly ScheduleResult[],
): readonly Violation[] {
  const [stepwise] = reference.results;
  const [first, ...others] = direct.map(({ outcome }) => summaryOf(outcome, reference.names));
  const [firstDirect] = direct;
  if (stepwise === undefined || first === undefined || firstDirect === undefined) return [];
  const isDone = direct.every((one) => one.outcome.outcomes.every((outcome) => outcome === "done"));
  if (!isDone || direct.some(({ settling }) => settling !== stepwise.settling)) return [];
  const varying = new Set(others.flatMap((other) => differingKeys(first.fields, other.fields).map(patternOf)));
  const sent = [stepwise, firstDirect].map(({ writes, outcome }) => new SentFields(writes, outcome.changes));
  const declared = declaredValues(first);
  const isCompared = (key: string) => {
    const pattern = patternOf(key);
    return !varying.has(pattern) && !reference.masked.has(pattern) && !reference.varying.has(pattern) &&
      sent.some((one) => one.has(key)) &&
      dependsOnDeclaration(key, { stepwise: reference.summary, direct: first, declared });
  };
  return differingKeys(first.fields, reference.summary.fields).filter(isCompared).slice(0, maxReported).map((key) => ({
    invariant: "declared-state",
    message: `${key} depends on the way: ${reference.summary.fields.get(key) ?? "missing"} after these steps, ` +
      `${first.fields.get(key) ?? "missing"} when the same objects are created at once`,
    object: objectOf(key),
  }));
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
  if (!isRecord(patch)) return patch;
  const result: Record<string, unknown> = { ...(isRecord(value) ? value : {}) };
  for (const [key, inner] of Object.entries(patch)) {
    if (inner === null) delete result[key];
    else result[key] = merged(result[key], inner);
  }
  return result;
}

function isObject(value: unknown): value is UntypedObject {
  return isRecord(value) && typeof value.apiVersion === "string" && typeof value.kind === "string" &&
    isRecord(value.metadata);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
