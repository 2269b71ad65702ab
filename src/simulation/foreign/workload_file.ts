/**
 * parseWorkload(): a workload file of `simulate --command`, as users write it in YAML, becomes a ForeignWorkload. The steps
 * have the words of kubectl: apply, patch, delete, scale, wait.
 *
 * Guarantees: an error names the file, the step and the field; no value of a file is in a message, because objects may be
 * Secrets. The result has all objects, also those of other files, so that it does not depend on files any more.
 */
import { parseLabelSelector, type UntypedObject } from "../../api/mod.ts";
import { JsonPath } from "../../apiserver/mod.ts";
import { boundedParse, dotPath, z } from "../../schema/mod.ts";
import type { AwaitedState, ForeignStep, ForeignWorkload, ObjectSelector, StepPatch } from "./foreign_workload.ts";

/** A document of a file. */
export interface WorkloadDocument {
  readonly value: unknown;
  /** The path of the file. */
  readonly name: string;
  /** The line where it begins, from 1. */
  readonly line: number;
}

/** What the parser needs from outside. */
export interface WorkloadFileOptions {
  /** Reads the documents of a file or folder that a step names; the path is relative to the file of the workload. */
  readonly documentsOf: (path: string, workloadFile: string) => Promise<readonly WorkloadDocument[]>;
  /** The namespace of objects that name none, if the workload has none either. @default "default" */
  readonly namespace?: string;
}

/** A workload file that cannot be used. */
export class WorkloadFileError extends SyntaxError {
  override readonly name = "WorkloadFileError";

  constructor({ name, line }: WorkloadDocument, state: string) {
    super(`Cannot read workload file "${name}": ${line === 1 ? "" : `the document at line ${line}: `}${state}`);
  }
}

/** How long a `waitFor` waits that says nothing else. */
const defaultTimeoutMs = 30_000;

const milliseconds = { h: 3_600_000, m: 60_000, s: 1_000, ms: 1 } as const;

/** A duration as in Go: `1m30s`, `500ms`. */
const duration = z.string().regex(/^(\d+(\.\d+)?(ms|s|m|h))+$/, "a duration like 500ms, 30s or 1m30s is needed")
  .transform((text) => {
    let sum = 0;
    for (const [, count, unit] of text.matchAll(/([\d.]+)(ms|s|m|h)/g)) {
      sum += Number(count) * (unit === "ms" || unit === "s" || unit === "m" || unit === "h" ? milliseconds[unit] : 0);
    }
    return sum;
  });

const name = z.string().min(1).max(253);
const plainObject = z.record(z.string(), z.unknown());

/** `KIND/NAME` or `KIND/NAMESPACE/NAME`. */
const shortReference = z.string().regex(
  /^[^/\s]+(\/[^/\s]+){1,2}$/,
  "an object is KIND/NAME or KIND/NAMESPACE/NAME",
).transform((text): ObjectSelector => {
  const [kind = "", second = "", third] = text.split("/");
  return third === undefined ? { kind, name: second } : { kind, namespace: second, name: third };
});

const ownerReference = z.string().regex(/^[^/\s]+\/[^/\s]+$/, "an owner is KIND/NAME").transform((text) => {
  const [kind = "", ownerName = ""] = text.split("/");
  return { kind, name: ownerName };
});

const longReference = z.strictObject({
  kind: name,
  namespace: name.optional(),
  name: name.optional(),
  labels: z.string().min(1).refine(isLabelSelector, "it is no label selector").optional(),
  owner: ownerReference.optional(),
}).refine(
  (one) => one.name !== undefined || one.labels !== undefined || one.owner !== undefined,
  "name, labels or owner is needed",
);

/** One of two forms, so that a problem is reported for the form that was written. */
const target = z.unknown().transform((value, context): ObjectSelector => {
  const parsed = boundedParse(typeof value === "string" ? shortReference : longReference, value);
  if (parsed.kind === "valid") return parsed.value;
  for (const { path, message } of parsed.issues) context.addIssue({ code: "custom", path: [...path], message });
  return z.NEVER;
});

const applied = z.union([z.string().min(1), plainObject]);

const patchStep = z.strictObject({
  object: target,
  merge: plainObject.optional(),
  strategic: plainObject.optional(),
  json: z.array(plainObject).min(1).max(1_000).optional(),
  subresource: name.optional(),
}).refine(
  ({ merge, strategic, json }) => [merge, strategic, json].filter((one) => one !== undefined).length === 1,
  "exactly one of merge, strategic and json is needed",
);

const waitStep = z.strictObject({
  object: target,
  condition: z.string().regex(/^[^=\s]+(=[^=\s]+)?$/, "a condition is TYPE or TYPE=STATUS").optional(),
  jsonpath: z.string().min(1).refine(isJsonPath, "it is no JSON path").optional(),
  value: z.union([z.string(), z.number(), z.boolean()]).optional(),
  deleted: z.literal(true).optional(),
  timeout: duration.optional(),
}).refine(
  ({ condition, jsonpath, deleted }) => [condition, jsonpath, deleted].filter((one) => one !== undefined).length <= 1,
  "only one of condition, jsonpath and deleted is allowed",
).refine(({ value, jsonpath }) => value === undefined || jsonpath !== undefined, "value needs jsonpath");

const actions = {
  apply: z.union([applied, z.array(applied).min(1).max(1_000)]),
  patch: patchStep,
  delete: z.unknown(),
  scale: z.strictObject({ object: target, replicas: z.int().min(0).max(10_000) }),
  waitFor: z.unknown(),
  sleep: duration,
  restart: z.literal("operator"),
} as const;

const deleteStep = z.strictObject({
  object: target,
  propagation: z.enum(["Background", "Foreground", "Orphan"]).optional(),
});

const stepSchema = z.strictObject({
  apply: actions.apply.optional(),
  patch: actions.patch.optional(),
  delete: actions.delete.optional(),
  scale: actions.scale.optional(),
  waitFor: actions.waitFor.optional(),
  sleep: actions.sleep.optional(),
  restart: actions.restart.optional(),
  atOnce: z.boolean().optional(),
});

const workloadSchema = z.strictObject({
  name: name.optional(),
  namespace: name.optional(),
  steps: z.array(z.unknown()).min(1).max(1_000),
});

/** Parses one document. @throws WorkloadFileError */
export async function parseWorkload(
  document: WorkloadDocument,
  options: WorkloadFileOptions,
): Promise<ForeignWorkload> {
  const file = checked(workloadSchema, document.value, { document, place: "" });
  const { namespace = options.namespace ?? "default" } = file;
  const steps: ForeignStep[] = [];
  for (const [index, step] of file.steps.entries()) {
    const place = { document, place: `step ${index + 1}` };
    steps.push(await parseStep(checked(stepSchema, step, place), place, options));
  }
  return { name: file.name ?? nameOfFile(document.name), namespace, steps };
}

/** Where a part of a file is, for messages. */
interface Place {
  readonly document: WorkloadDocument;
  /** `step 3`; empty for the file itself. */
  readonly place: string;
}

function checked<T extends z.core.$ZodType>(schema: T, value: unknown, { document, place }: Place): z.output<T> {
  const parsed = boundedParse(schema, value);
  if (parsed.kind === "valid") return parsed.value;
  const [issue] = parsed.issues;
  const where = [place, dotPath(issue?.path ?? [])].filter((part) => part !== "").join(", ");
  throw new WorkloadFileError(document, `${where === "" ? "" : `${where}: `}${issue?.message}`);
}

async function parseStep(
  written: z.output<typeof stepSchema>,
  place: Place,
  options: WorkloadFileOptions,
): Promise<ForeignStep> {
  const { atOnce, ...rest } = written;
  const named = Object.entries(rest).filter(([, value]) => value !== undefined).map(([key]) => key);
  if (named.length !== 1) {
    const known = Object.keys(actions).join(", ");
    const state = named.length === 0 ? "it has no action" : `it has ${named.length} actions (${named.join(", ")})`;
    throw new WorkloadFileError(place.document, `${place.place}: ${state}; exactly one of ${known} is needed`);
  }
  const common = atOnce === undefined ? {} : { atOnce };
  const { apply, patch, scale, sleep } = rest;
  if (apply !== undefined) return { kind: "apply", objects: await objectsOf(apply, place, options), ...common };
  if (patch !== undefined) {
    const { object, subresource } = patch;
    return { kind: "patch", target: object, patch: patchOf(patch), ...defined({ subresource }), ...common };
  }
  if (scale !== undefined) return { kind: "scale", target: scale.object, replicas: scale.replicas, ...common };
  if (sleep !== undefined) return { kind: "sleep", durationMs: sleep, ...common };
  if (rest.delete !== undefined) {
    const form = isWithObject(rest.delete) ? rest.delete : { object: rest.delete };
    const { object, propagation: propagationPolicy } = checked(deleteStep, form, within(place, "delete"));
    return { kind: "delete", target: object, ...defined({ propagationPolicy }), ...common };
  }
  if (rest.waitFor === undefined) return { kind: "restart", ...common };
  const form = isWithObject(rest.waitFor) ? rest.waitFor : { object: rest.waitFor };
  const waiting = checked(waitStep, form, within(place, "waitFor"));
  const { object, timeout = defaultTimeoutMs } = waiting;
  return { kind: "wait", target: object, until: awaitedOf(waiting), timeoutMs: timeout, ...common };
}

function within({ document, place }: Place, key: string): Place {
  return { document, place: `${place}, ${key}` };
}

/** `delete` and `waitFor` may name the object directly. */
function isWithObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && "object" in value;
}

/** Without the fields that are undefined. */
function defined<T extends Readonly<Record<string, unknown>>>(fields: T): Partial<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<T>;
}

function patchOf({ merge, strategic, json = [] }: z.output<typeof patchStep>): StepPatch {
  if (merge !== undefined) return { kind: "merge", value: merge };
  return strategic === undefined ? { kind: "json", operations: json } : { kind: "strategic", value: strategic };
}

function awaitedOf({ condition, jsonpath, value, deleted }: z.output<typeof waitStep>): AwaitedState {
  if (condition !== undefined) {
    const [type = "", status = "True"] = condition.split("=");
    return { kind: "condition", type, status };
  }
  if (jsonpath !== undefined) {
    return {
      kind: "jsonpath",
      path: withoutBraces(jsonpath),
      ...(value === undefined ? {} : { value: String(value) }),
    };
  }
  return { kind: deleted === true ? "deleted" : "exists" };
}

/** kubectl writes paths in braces: `{.status.phase}`. */
function withoutBraces(path: string): string {
  return path.replace(/^\{(.*)\}$/, "$1");
}

function isJsonPath(path: string): boolean {
  try {
    new JsonPath(withoutBraces(path));
    return true;
  } catch {
    return false;
  }
}

function isLabelSelector(text: string): boolean {
  try {
    parseLabelSelector(text);
    return true;
  } catch {
    return false;
  }
}

async function objectsOf(
  applied: z.output<typeof actions.apply>,
  place: Place,
  { documentsOf }: WorkloadFileOptions,
): Promise<readonly UntypedObject[]> {
  const objects: UntypedObject[] = [];
  for (const one of Array.isArray(applied) ? applied : [applied]) {
    if (typeof one !== "string") {
      objects.push(checked(objectSchema, one, within(place, "apply")));
      continue;
    }
    for (const document of await documentsOf(one, place.document.name)) {
      const inside = { document: place.document, place: `${place.place}, file "${document.name}"` };
      objects.push(...listed(document.value).map((value) => checked(objectSchema, value, inside)));
    }
  }
  return objects;
}

/** The items of a List, as kubectl prints several objects. */
function listed(value: unknown): readonly unknown[] {
  const isList = typeof value === "object" && value !== null && Reflect.get(value, "kind") === "List";
  const items: unknown = isList ? Reflect.get(value, "items") : undefined;
  return Array.isArray(items) ? items : [value];
}

/** What every object has. The server checks the rest. */
const objectSchema = z.looseObject({
  apiVersion: z.string().min(1),
  kind: z.string().min(1),
  metadata: z.looseObject({ name, namespace: name.optional() }),
});

/** `scale` of `flows/scale.yaml`. */
function nameOfFile(path: string): string {
  return path.replace(/^.*[/\\]/, "").replace(/\.(ya?ml|json)$/, "");
}
