/**
 * objectRow(): what the list of objects on the page shows of one object: its names, its owners, and its state in a word.
 *
 * Guarantees: of the object's content only its conditions and its phase are used, without secrets and bounded in length.
 */
import type { KubeObject, OwnerReference } from "../../api/mod.ts";
import { printable, redactText } from "../../observe/mod.ts";

/** One object in a list. */
export interface ObjectRow {
  /** `deployments.apps`. */
  readonly resource: string;
  readonly kind: string;
  /** `namespace/name`, or `name`. */
  readonly key: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  /** The UIDs of its owners, the controlling one first. */
  readonly owners: readonly string[];
  /** The entry that shows it so, in a recording with states. */
  readonly entry?: number;
  /** Its state; absent if it has neither conditions nor a phase. */
  readonly state?: ObjectState;
}

/** What an object says about itself. */
export interface ObjectState {
  /** `Ready`, `not Available: MinimumReplicasUnavailable`, `Pending`. */
  readonly text: string;
  readonly tone: "good" | "warning" | "bad" | "neutral";
  /** The message of the condition. */
  readonly message?: string;
}

/** The conditions that tell most, the first one decides. */
const mainConditions = ["Ready", "Available", "Complete", "Established", "Synced", "Healthy"];
const goodPhases: ReadonlySet<string> = new Set(["Running", "Succeeded", "Bound", "Active", "Available", "Ready"]);
const badPhases: ReadonlySet<string> = new Set(["Failed", "Lost", "Error"]);
const maxText = 120;
const maxMessage = 400;

/** @param names The names of its kind */
export function objectRow(names: { readonly resource: string; readonly kind: string }, object: KubeObject): ObjectRow {
  const { name = "", namespace, uid, resourceVersion, ownerReferences = [] } = object.metadata;
  const state = stateOf(object);
  return {
    resource: names.resource,
    kind: names.kind,
    key: namespace === undefined ? name : `${namespace}/${name}`,
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
    owners: [...ownerReferences].sort(controllingFirst).map((owner) => owner.uid),
    ...(state === undefined ? {} : { state }),
  };
}

function controllingFirst(a: OwnerReference, b: OwnerReference): number {
  return Number(b.controller === true) - Number(a.controller === true);
}

/** What is read of a status; another shape is no state. */
interface Condition {
  readonly type?: unknown;
  readonly status?: unknown;
  readonly reason?: unknown;
  readonly message?: unknown;
}

function stateOf(object: KubeObject & { readonly status?: unknown }): ObjectState | undefined {
  if (object.metadata.deletionTimestamp !== undefined) return { text: "deleting", tone: "warning" };
  const status = isMap(object.status) ? object.status : {};
  const conditions = Array.isArray(status.conditions) ? status.conditions.filter(isMap) as readonly Condition[] : [];
  const failed = conditions.find(({ type, status: now }) => type === "Failed" && now === "True");
  if (failed !== undefined) return withMessage({ text: "failed", tone: "bad" }, failed);
  for (const type of mainConditions) {
    const condition = conditions.find((one) => one.type === type);
    if (condition !== undefined) return conditionState(type, condition);
  }
  const { phase } = status;
  if (typeof phase !== "string") return undefined;
  const tone = goodPhases.has(phase) ? "good" : badPhases.has(phase) ? "bad" : "neutral";
  return { text: safe(phase, maxText), tone };
}

function conditionState(type: string, condition: Condition): ObjectState {
  if (condition.status === "True") return { text: type, tone: "good" };
  const reason = typeof condition.reason === "string" ? `: ${condition.reason}` : "";
  const [word, tone] = condition.status === "False"
    ? ["not ", "bad"] as const
    : ["unknown whether ", "warning"] as const;
  return withMessage({ text: safe(`${word}${type}${reason}`, maxText), tone }, condition);
}

function withMessage(state: ObjectState, { message }: Condition): ObjectState {
  return typeof message === "string" && message !== "" ? { ...state, message: safe(message, maxMessage) } : state;
}

function safe(text: string, max: number): string {
  return printable(redactText(text), max);
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
