/**
 * waitFor(): waits until one object is in a state: a condition is True, a predicate holds, or the object is gone. It is
 * `kubectl wait` for scripts, on top of changes(): the object may not exist yet, and a lost connection is no error.
 */
import { z } from "zod";
import { type KubeObject, type Resource, splitKey } from "../api/mod.ts";
import type { Clock, Random } from "../async/mod.ts";
import { printable } from "../observe/mod.ts";
import { changesAndLists, type ChangesSource } from "./changes.ts";
import { objectPath, objectText } from "./encoder.ts";
import { firstProblemOnly } from "./kubeconfig/mod.ts";

/** Options of `Client.waitFor`. */
export interface WaitForOptions {
  /** The deadline, e.g. `AbortSignal.timeout(60_000)`. @default it waits without end */
  readonly signal?: AbortSignal;
  /** Measures the delays before a watch is resumed. @default that of the client */
  readonly clock?: Clock;
  /** Varies the delays. @default systemRandom */
  readonly random?: Random;
}

/**
 * What to wait for: the type of a condition whose status is to be True, as `"Ready"`; `"deleted"`; or a function that
 * returns true for the wanted state.
 */
export type WaitCondition<T> = string | ((object: T) => boolean);

/** The deadline has passed. The message says what the object was like last; `cause` is the reason of the signal. */
export class WaitError extends Error {
  /** Always "WaitError". */
  override readonly name = "WaitError";
  /** The last known state of the object; undefined if there was none. */
  readonly last: KubeObject | undefined;

  /** Creates the error, e.g. for a fake client in a test. */
  constructor(message: string, options: { readonly last: KubeObject | undefined; readonly cause?: unknown }) {
    super(message, { cause: options.cause });
    this.last = options.last;
  }
}

/** Waits for one object. @returns its state; when it is waited to be deleted, the last one, undefined if there was none */
export async function waitFor(
  source: ChangesSource,
  target: { readonly resource: Resource; readonly key: string },
  condition: WaitCondition<KubeObject>,
  options: WaitForOptions,
): Promise<KubeObject | undefined> {
  const { resource, key } = target;
  objectPath(resource, key); // refuses a key that does not fit the kind
  const { namespace, name } = splitKey(key);
  const selection = { ...options, namespace, fieldSelector: { "metadata.name": name } };
  let last: KubeObject | undefined;
  let isPresent = false;
  try {
    for await (const change of changesAndLists(source, resource, selection)) {
      if (change.type !== "LISTED") {
        last = change.object;
        isPresent = change.type !== "DELETED";
      }
      if (condition === "deleted" ? !isPresent : isPresent && last !== undefined && holds(last, condition)) return last;
    }
  } catch (error) {
    if (options.signal?.aborted !== true) throw error;
  }
  const present = isPresent ? last : undefined;
  const state = present !== undefined
    ? stateOf(present, condition)
    : last === undefined
    ? "it does not exist"
    : "it was deleted";
  throw new WaitError(`Cannot wait for ${objectText(resource, key)} to be ${goalOf(condition)}: ${state}`, {
    last,
    cause: options.signal?.reason,
  });
}

/** The fields that every object with conditions has, whatever its kind. */
const observedSchema = z.object({
  observedGeneration: z.number().optional(),
  conditions: z.array(z.object({
    type: z.string(),
    status: z.string(),
    reason: z.string().optional(),
    message: z.string().optional(),
    observedGeneration: z.number().optional(),
  })).optional(),
});

type Observed = z.output<typeof observedSchema>;

function observedOf(object: KubeObject): Observed {
  const parsed = observedSchema.safeParse(Reflect.get(object, "status"), firstProblemOnly);
  return parsed.success ? parsed.data : {};
}

function holds(object: KubeObject, condition: WaitCondition<KubeObject>): boolean {
  if (typeof condition === "function") return condition(object);
  const { observedGeneration, conditions } = observedOf(object);
  const found = conditions?.find(({ type }) => type === condition);
  return found?.status === "True" && !isOutdated(object, found.observedGeneration ?? observedGeneration);
}

/** True when the status is about an older specification, as `kubectl wait` has it. */
function isOutdated(object: KubeObject, observedGeneration: number | undefined): boolean {
  const { generation } = object.metadata;
  return observedGeneration !== undefined && generation !== undefined && observedGeneration < generation;
}

function goalOf(condition: WaitCondition<never>): string {
  return typeof condition === "function" ? "as wanted" : condition;
}

/** What an object is like, in a few words. */
function stateOf(object: KubeObject, condition: WaitCondition<KubeObject>): string {
  if (condition === "deleted") {
    const { deletionTimestamp, finalizers = [] } = object.metadata;
    if (deletionTimestamp === undefined) return "it exists, and nothing has deleted it";
    return `it is being deleted since ${deletionTimestamp}` +
      (finalizers.length === 0
        ? ""
        : `, and its finalizers are left: ${finalizers.map((one) => printable(one, 64)).join(", ")}`);
  }
  const { conditions = [], observedGeneration } = observedOf(object);
  const shown = typeof condition === "string" ? conditions.filter(({ type }) => type === condition) : conditions;
  if (shown.length === 0) {
    const phase: unknown = Reflect.get(Reflect.get(object, "status") ?? {}, "phase");
    const text = typeof phase === "string" ? `, its phase is ${printable(phase, 64)}` : "";
    return `${
      typeof condition === "string" ? `it has no condition ${printable(condition, 64)}` : "it has no conditions"
    }${text}`;
  }
  return shown.slice(0, 8).map(({ type, status, reason, message, observedGeneration: observed }) => {
    const why = [reason, message].filter((one) => one !== undefined && one !== "").join(": ");
    const outdated = isOutdated(object, observed ?? observedGeneration) ? ", of an older generation" : "";
    return printable(`${type} is ${status}${outdated}${why === "" ? "" : ` (${why})`}`, 256);
  }).join("; ");
}
