/**
 * Plan: the document that `plan -o json` prints, and that `plan --against` reads and compares.
 *
 * Guarantees: a file that is no Plan is refused with the first reason. Its texts are those of others, and are printed as such.
 */
import { z } from "zod";
import { boundedParse } from "../../schema/mod.ts";
import { isDeepEqual, parseFiniteJson } from "../../api/mod.ts";
import { CommandError, exitCode } from "../command/mod.ts";
import type { PlannedChange, PlannedProblem } from "./plan_result.ts";

const action = z.enum(["delete", "replace", "update", "create"]);

const object = z.record(z.string(), z.unknown());

const change = z.object({
  action,
  otherAction: z.union([action, z.literal("none")]).optional(),
  apiVersion: z.string(),
  kind: z.string(),
  namespace: z.string().optional(),
  name: z.string(),
  by: z.array(z.object({
    by: z.enum(["controller", "files", "crds", "cluster"]),
    controller: z.string().optional(),
    kind: z.string().optional(),
    key: z.string().optional(),
  })),
  resourceVersion: z.string().optional(),
  waitsFor: z.array(z.string()).optional(),
  before: object.optional(),
  after: object.optional(),
});

const problems = z.array(z.object({ controller: z.string(), key: z.string(), problem: z.string() }));

const planSchema = z.object({
  apiVersion: z.literal("pintle.dev/v1alpha1"),
  kind: z.literal("Plan"),
  operator: z.object({ name: z.string(), version: z.string() }),
  controllers: z.array(z.string()),
  time: z.string(),
  /** The version of the plan that this one is compared with. */
  against: z.object({ version: z.string(), time: z.string() }).optional(),
  changes: z.array(change),
  refused: problems,
  endless: problems,
  failing: problems,
  warnings: problems,
});

type Lists = "controllers" | "changes" | "refused" | "endless" | "failing" | "warnings";

/** A plan, or what is different from another one. */
export interface Plan extends Readonly<Omit<z.output<typeof planSchema>, Lists>> {
  readonly controllers: readonly string[];
  readonly changes: readonly PlannedChange[];
  readonly refused: readonly PlannedProblem[];
  readonly endless: readonly PlannedProblem[];
  readonly failing: readonly PlannedProblem[];
  readonly warnings: readonly PlannedProblem[];
}

/** Parses the output of `plan -o json`. @throws CommandError when it is none */
export function parsePlan(text: string, source: string): Plan {
  try {
    const result = boundedParse(planSchema, parseFiniteJson(text));
    if (result.kind === "valid") return result.value;
    const [issue] = result.issues;
    throw new TypeError(`${issue?.path.join(".") || "the document"}: ${issue?.message ?? "it is no Plan"}`);
  } catch (cause) {
    const state = cause instanceof Error ? cause.message : String(cause);
    throw new CommandError(`Cannot compare with "${source}": it is no plan: ${state}`, {
      code: exitCode.failed,
      advice: "Write one with the other version: plan -o json > FILE",
      cause,
    });
  }
}

/**
 * What this version does differently: for each object that the two versions leave in different states, the state that the
 * other version leaves as `before` and that of this one as `after`.
 *
 * @throws CommandError when the two plans are about different controllers
 */
export function differencesOf(plan: Plan, other: Plan, source: string): Plan {
  if (!isDeepEqual(plan.controllers.toSorted(), other.controllers.toSorted())) {
    throw new CommandError(
      `Cannot compare with "${source}": it plans ${other.controllers.join(", ")}, and this plans ${
        plan.controllers.join(", ")
      }`,
      { code: exitCode.failed, advice: "Name the same controllers in both" },
    );
  }
  const known = new Map(other.changes.map((one) => [idOf(one), one]));
  const own = new Set(plan.changes.map(idOf));
  const changed = plan.changes.flatMap((one) => differenceOf(one, known.get(idOf(one))) ?? []);
  const dropped = other.changes.filter((one) => !own.has(idOf(one))).map(reverted);
  return {
    ...plan,
    against: { version: other.operator.version, time: other.time },
    changes: [...changed, ...dropped],
    refused: newProblems(plan.refused, other.refused),
    endless: newProblems(plan.endless, other.endless),
    failing: newProblems(plan.failing, other.failing),
    warnings: newProblems(plan.warnings, other.warnings),
  };
}

/** The number of objects that have changed in the cluster between the two plans. */
export function changedBetween(plan: Plan, other: Plan): number {
  const known = new Map(other.changes.map((one) => [idOf(one), one.resourceVersion]));
  return plan.changes.filter((one) => {
    const id = idOf(one);
    return known.has(id) && known.get(id) !== one.resourceVersion;
  }).length;
}

function differenceOf(change: PlannedChange, other: PlannedChange | undefined): PlannedChange | undefined {
  if (other === undefined) return { ...change, otherAction: "none" };
  if (change.action === other.action && isDeepEqual(change.after ?? null, other.after ?? null)) return undefined;
  const { before: _, ...rest } = change;
  return { ...rest, otherAction: other.action, ...(other.after === undefined ? {} : { before: other.after }) };
}

/** This version leaves the object as it is. */
function reverted(other: PlannedChange): PlannedChange {
  const { before, after, waitsFor: _, ...rest } = other;
  const action = before === undefined ? "delete" : after === undefined ? "create" : "update";
  return {
    ...rest,
    action,
    otherAction: other.action,
    ...(after === undefined ? {} : { before: after }),
    ...(before === undefined ? {} : { after: before }),
  };
}

function newProblems(
  problems: readonly PlannedProblem[],
  known: readonly PlannedProblem[],
): readonly PlannedProblem[] {
  const keys = new Set(known.map(({ controller, key }) => `${controller} ${key}`));
  return problems.filter(({ controller, key }) => !keys.has(`${controller} ${key}`));
}

/** Versions of the same object are the same object. */
function idOf({ apiVersion, kind, namespace = "", name }: PlannedChange): string {
  const group = apiVersion.includes("/") ? apiVersion.slice(0, apiVersion.indexOf("/")) : "";
  return `${group} ${kind} ${namespace} ${name}`;
}
