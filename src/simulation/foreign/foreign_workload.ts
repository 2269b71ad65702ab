/**
 * ForeignWorkload: what users do while an operator that is a program of its own runs: apply, patch, delete, scale, wait, let
 * time pass, edit a child by hand, restart the operator. It is data: workload files and generated workloads become this form,
 * and performStep() executes it.
 *
 * Caveats: time is real here, so a step says how long it takes, not a time of day as `advance` of a Workload does.
 */
import type { UntypedObject } from "../../api/mod.ts";

/**
 * Selects one object: by its name, or the first one by name among those with labels or an owner, as the names of
 * children are often generated.
 */
export interface ObjectSelector {
  /** Any name that `kubectl` accepts: `Deployment`, `deploy`, `deployments.apps`. */
  readonly kind: string;
  /** @default that of the workload */
  readonly namespace?: string;
  readonly name?: string;
  /** A label selector: `app=web,tier in (a,b)`. */
  readonly labels?: string;
  /** The object must have this owner. */
  readonly owner?: { readonly kind: string; readonly name: string };
}

/** A change of some fields. */
export type StepPatch =
  | { readonly kind: "merge"; readonly value: Readonly<Record<string, unknown>> }
  | { readonly kind: "strategic"; readonly value: Readonly<Record<string, unknown>> }
  | { readonly kind: "json"; readonly operations: readonly Readonly<Record<string, unknown>>[] };

/** The state that a `wait` waits for. */
export type AwaitedState =
  | { readonly kind: "exists" }
  | { readonly kind: "deleted" }
  /** `status.conditions` has this type with this status, for the newest generation. */
  | { readonly kind: "condition"; readonly type: string; readonly status: string }
  /** A value at the path is this text. @default any value */
  | { readonly kind: "jsonpath"; readonly path: string; readonly value?: string };

/** What one step does. */
export type StepAction =
  | { readonly kind: "apply"; readonly objects: readonly UntypedObject[] }
  | {
    readonly kind: "patch";
    readonly target: ObjectSelector;
    readonly patch: StepPatch;
    readonly subresource?: string;
  }
  | {
    readonly kind: "delete";
    readonly target: ObjectSelector;
    /** @default "Background", as kubectl deletes */
    readonly propagationPolicy?: "Background" | "Foreground" | "Orphan";
  }
  | { readonly kind: "scale"; readonly target: ObjectSelector; readonly replicas: number }
  | { readonly kind: "wait"; readonly target: ObjectSelector; readonly until: AwaitedState; readonly timeoutMs: number }
  | { readonly kind: "sleep"; readonly durationMs: number }
  /** Kills the operator, and starts it again. */
  | { readonly kind: "restart" };

/** One step. */
export type ForeignStep = StepAction & {
  /** The next step follows immediately, while the operator is still busy. @default false */
  readonly atOnce?: boolean;
  /** The step is left out; the others keep their numbers. @default false */
  readonly isSkipped?: boolean;
};

/** A sequence of steps. After each one the operator finishes its work, unless the step is `atOnce`. */
export interface ForeignWorkload {
  /** A few words: `scale down and up`. */
  readonly name: string;
  /** The namespace of objects that name none. */
  readonly namespace: string;
  readonly steps: readonly ForeignStep[];
}

/** The numbers of the steps that are performed, from 1. */
export function performedSteps({ steps }: ForeignWorkload): readonly number[] {
  return steps.flatMap(({ isSkipped = false }, index) => isSkipped ? [] : [index + 1]);
}

/** The workload with some of its steps. @param numbers of the steps that are performed */
export function withSteps(workload: ForeignWorkload, numbers: readonly number[]): ForeignWorkload {
  const steps = workload.steps.map((step, index): ForeignStep => {
    return numbers.includes(index + 1) ? step : { ...step, isSkipped: true };
  });
  return { ...workload, steps };
}

/** A step in a few words: `delete ZookeeperCluster zk`. */
export function stepText(step: StepAction): string {
  switch (step.kind) {
    case "apply":
      return `apply ${step.objects.map(({ kind, metadata }) => `${kind} ${metadata.name ?? ""}`).join(", ")}`;
    case "patch": {
      const part = step.subresource === undefined ? "" : ` (${step.subresource})`;
      return `patch ${selectorText(step.target)}${part}`;
    }
    case "delete":
      return `delete ${selectorText(step.target)}`;
    case "scale":
      return `scale ${selectorText(step.target)} to ${step.replicas}`;
    case "wait":
      return `wait for ${selectorText(step.target)} ${awaitedText(step.until)}`;
    case "sleep":
      return `let ${step.durationMs / 1000} s pass`;
    case "restart":
      return "restart the operator";
    default:
      return step satisfies never;
  }
}

/** What is selected, in words: `Pod zk-0`, `Pod of StatefulSet zk`. */
export function selectorText({ kind, namespace, name, labels, owner }: ObjectSelector): string {
  const parts = [
    kind,
    ...(name === undefined ? [] : [namespace === undefined ? name : `${namespace}/${name}`]),
    ...(labels === undefined ? [] : [`with ${labels}`]),
    ...(owner === undefined ? [] : [`of ${owner.kind} ${owner.name}`]),
  ];
  return parts.join(" ");
}

/** An awaited state in words: `to be Ready`. */
export function awaitedText(until: AwaitedState): string {
  switch (until.kind) {
    case "exists":
      return "to exist";
    case "deleted":
      return "to be deleted";
    case "condition":
      return until.status === "True" ? `to be ${until.type}` : `to have ${until.type} ${until.status}`;
    case "jsonpath":
      return until.value === undefined ? `to have ${until.path}` : `to have ${until.path} ${until.value}`;
    default:
      return until satisfies never;
  }
}
