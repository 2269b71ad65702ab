/**
 * Player: plays schedules of one controller and says what is wrong with each. What it is asked can be written as JSON, so that
 * another process of the same program can do it: the answer does not depend on who plays.
 */
import type { OperatorController, Workload } from "../manager/mod.ts";
import { folded } from "./_folded.ts";
import { judge, learnReference, type Reference } from "./_reference.ts";
import type { FaultPlan } from "./fault_plan.ts";
import { runSchedule } from "./schedule.ts";
import type { Violation } from "./violation.ts";

/** What is played. */
export interface PlannedSchedule {
  /** The name of a workload. */
  readonly workload: string;
  readonly plan: FaultPlan;
  readonly seed: number;
  readonly replicas: number;
}

/** Plays one schedule: here or in another process. */
export type Play = (schedule: PlannedSchedule) => Promise<readonly Violation[]>;

/** Plays schedules one by one. */
export class Player {
  readonly #controller: OperatorController;
  readonly #workloads: ReadonlyMap<string, Workload>;
  readonly #references = new Map<string, Promise<Reference>>();

  constructor(controller: OperatorController, workloads: readonly Workload[]) {
    this.#controller = controller;
    this.#workloads = new Map(workloads.map((workload) => [workload.name, workload]));
  }

  /** What a workload comes to without faults; learnt once. */
  async reference(workload: string, replicas: number): Promise<Reference> {
    const key = `${replicas} ${workload}`;
    const learnt = this.#references.get(key) ?? learnReference(this.#base(workload, replicas));
    this.#references.set(key, learnt);
    return await learnt;
  }

  /** @throws {TypeError} when there is no such workload */
  async play({ workload, plan, seed, replicas }: PlannedSchedule): Promise<readonly Violation[]> {
    const reference = await this.reference(workload, replicas);
    return judge(reference, await runSchedule({ ...this.#base(workload, replicas), plan, seed }), plan);
  }

  /** Plays a schedule once more, for what happens in it. */
  async timeline({ workload, plan, seed, replicas }: PlannedSchedule): Promise<string> {
    return folded((await runSchedule({ ...this.#base(workload, replicas), plan, seed })).trace.timeline());
  }

  #base(name: string, replicas: number) {
    const workload = this.#workloads.get(name);
    if (workload === undefined) throw new TypeError(`Cannot play workload "${name}": there is none of this name`);
    return { controllers: [this.#controller], workload, replicas };
  }
}
