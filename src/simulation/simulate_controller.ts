/** simulateController(): what the command `simulate` does with one controller, for a test. */
import { type OperatorController, withFactory, type Workload } from "../manager/mod.ts";
import type { Entry } from "../observe/mod.ts";
import { defaultWorkloads } from "./default_workloads.ts";
import { simulate } from "./simulate.ts";

/** Options of {@link simulateController}. */
export interface SimulateControllerOptions {
  /** What the users do. @default those of `withWorkloads()`, else generated from those of `withSamples()` */
  readonly workloads?: readonly Workload[];
  /** Further controllers of the operator, which run in the same process. @default none */
  readonly others?: readonly OperatorController[];
  /** Single faults per workload, spread evenly over all that are possible. @default all */
  readonly points?: number;
  /** Random combinations of faults per workload. @default 0 */
  readonly storms?: number;
  /** Seed of the first storm. @default 1 */
  readonly firstSeed?: number;
  /** Findings after which a workload is left. @default 1 */
  readonly maxFindings?: number;
  /** Runs every schedule as a fleet with so many members, and checks the invariants in each. @default one cluster */
  readonly members?: number;
  /** Ends the simulation early. @default never */
  readonly signal?: AbortSignal;
}

/** A schedule that broke an invariant. */
export interface SimulatedFinding {
  /** The name of the workload. */
  readonly workload: string;
  /** The seed of the run. */
  readonly seed: number;
  /** The processes of the operator. */
  readonly replicas: number;
  /** The faults, as JSON: what `simulate --plan` takes. */
  readonly plan: string;
  /** What was broken, in words; the invariants are those of docs/SIMULATION.md. */
  readonly violations: readonly { readonly invariant: string; readonly message: string }[];
  /** What happened, one line each. */
  readonly timeline: string;
  /** Everything that happened, oldest first, with whole objects, without secrets: entries have their causes. */
  readonly recording: readonly Entry[];
}

/** The result of {@link simulateController}. */
export interface SimulatedController {
  /** How many times the workloads ran, with and without faults. */
  readonly schedules: number;
  /** The schedules that broke an invariant, each with the fewest faults that still break it; none if all is well. */
  readonly findings: readonly SimulatedFinding[];
}

/**
 * Runs the workloads of a controller under every single fault that is possible during them, such as crashes, lost responses
 * and old caches, and under random combinations, and compares each run with one without faults. Cluster and clock are
 * simulated: it takes about 20 ms of CPU for each fault, and no time of the machine's clock matters.
 *
 * @param subject The controller, or a function that creates it. The function is called for each simulated process, so that what
 * the controller keeps in memory is lost when a process ends, as in reality.
 * @throws {TypeError} when there is neither a workload nor a sample
 *
 * @example
 * ```ts
 * import { ConfigMap, controller, done, manifest, Secret } from "@pintle/controller";
 * import { simulateController } from "@pintle/controller/testing";
 *
 * const greeter = controller("greeter").for(Secret).owns(ConfigMap).reconcile(async (ctx) => {
 *   const namespace = ctx.object.metadata.namespace;
 *   // Wrong: if the response to the first write is lost, the second one is never made.
 *   if (ctx.find(ConfigMap, `${namespace}/a`) !== undefined) return done;
 *   for (const name of ["a", "b"]) await ctx.apply(manifest(ConfigMap, { metadata: { namespace, name }, data: {} }));
 *   return done;
 * });
 * const object = { apiVersion: "v1", kind: "Secret", metadata: { namespace: "default", name: "team-a" } };
 * const workloads = [{ name: "create", steps: [{ kind: "create", object }] }] as const;
 * const { findings: [finding] } = await simulateController(greeter, { workloads, points: 20 });
 * console.assert(finding?.violations[0]?.invariant === "end-state");
 * // Everything that happened has its causes: the failed write has the fault.
 * const failed = finding?.recording.find((entry) => entry.kind === "write" && entry.answer.kind === "failed");
 * const causes = finding?.recording.filter(({ id }) => failed?.causes.includes(id)) ?? [];
 * console.assert(causes.some((entry) => entry.kind === "note" && entry.actor === "fault"));
 * ```
 */
export async function simulateController(
  subject: OperatorController | (() => OperatorController),
  options: SimulateControllerOptions = {},
): Promise<SimulatedController> {
  const controller = typeof subject === "function" ? withFactory(subject) : subject;
  const { workloads = controller.workloads ?? defaultWorkloads(controller), maxFindings = 1, ...how } = options;
  if (workloads.length === 0) {
    throw new TypeError(
      `Cannot simulate controller "${controller.name}": it has neither workloads nor samples. ` +
        "Add some with withWorkloads() or withSamples()",
    );
  }
  const { schedules, findings } = await simulate({ controller, workloads, maxFindings, ...how });
  return {
    schedules,
    findings: findings.map(({ workload, seed, replicas, plan, violations, timeline, recording }) => ({
      ...{ workload, seed, replicas, timeline, recording },
      plan: JSON.stringify(plan),
      violations: violations.map(({ invariant, message }) => ({ invariant, message })),
    })),
  };
}
