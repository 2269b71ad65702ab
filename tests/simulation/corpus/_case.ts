/**
 * What the operators of the corpus have in common: the type of an entry, and the steps of users that their workloads consist of.
 *
 * Guarantees: an entry is complete: whoever simulates its controllers needs nothing else. An operator with a bug works without
 * faults as its author tried it; nothing in it helps the simulation.
 */
import type { OperatorController, Workload, WorkloadStep } from "../../../src/mod.ts";

/** An operator of the corpus. */
export interface CorpusCase {
  /** Unique, for `--only`. */
  readonly name: string;
  readonly kind: "bug" | "correct";
  /** What kind of bug it has, or for a correct operator: what looks suspicious about it. */
  readonly class: string;
  /** One sentence: what a user loses, or why nothing is lost. */
  readonly about: string;
  /** The controllers of one operator, with their workloads. Several of them are played together. */
  readonly controllers: readonly OperatorController[];
  /** The invariants of which at least one must be broken. @default none: the operator is correct */
  readonly expected?: readonly string[];
}

/** A step that creates an object. */
export function create(object: Extract<WorkloadStep, { kind: "create" }>["object"]): WorkloadStep {
  return { kind: "create", object };
}

/** The workload of an operator that has only one. */
export function workload(name: string, ...steps: readonly WorkloadStep[]): readonly Workload[] {
  return [{ name, steps }];
}

/** The users' steps for the objects of one kind in the namespace "default". */
export class UserSteps {
  readonly #apiVersion: string;
  readonly #kind: string;

  constructor(apiVersion: string, kind: string) {
    this.#apiVersion = apiVersion;
    this.#kind = kind;
  }

  /** @param rest further fields of the object, such as `spec` or `data` */
  create(name: string, rest: Readonly<Record<string, unknown>> = {}): WorkloadStep {
    const { metadata = {}, ...fields } = rest;
    const whole = { name, namespace: "default", ...(metadata as Readonly<Record<string, unknown>>) };
    return create({ apiVersion: this.#apiVersion, kind: this.#kind, metadata: whole, ...fields });
  }

  /** @param patch a merge patch */
  patch(name: string, patch: Readonly<Record<string, unknown>>, subresource?: string): WorkloadStep {
    const object = { apiVersion: this.#apiVersion, kind: this.#kind, name };
    return { kind: "patch", object, patch, ...(subresource === undefined ? {} : { subresource }) };
  }

  delete(name: string): WorkloadStep {
    return { kind: "delete", object: { apiVersion: this.#apiVersion, kind: this.#kind, name } };
  }
}

/** The same step, with the next one right after it. */
export function atOnce(step: WorkloadStep): WorkloadStep {
  return { ...step, atOnce: true };
}
