/**
 * The worker processes of `simulate`: this program again, once for each core, while the first process plans and waits. A
 * request is the name of a controller and a schedule, a response is a CheckResult; both are JSON in one line.
 */
import { z } from "zod";
import type { OperatorController, Workload } from "../../manager/mod.ts";
import { answerWorkerRequests, coreCount, type WorkerProcess } from "../../runtime/mod.ts";
import { parseBounded } from "../../schema/mod.ts";
import { type CheckSchedule, faultPlanSchema, invariantNames, ScheduleChecker } from "../../simulation/mod.ts";
import type { Session } from "../command/mod.ts";

/** With this variable set to 1, `simulate` is a worker: it reads requests from standard input. */
export const workerVariable = "PINTLE_SIMULATION_WORKER";

/**
 * Settings for Bun. With one process on each core, the last stage of its compiler and a concurrent garbage collector need
 * more CPU than they save, and so does each collection: a process may allocate 64 MiB between two of them, by default half
 * (docs/SIMULATION.md). A process reads these variables only at its start.
 */
const bunSettings = {
  BUN_JSC_useFTLJIT: "0",
  BUN_JSC_useConcurrentGC: "0",
  BUN_JSC_largeHeapSize: String(64 * 1024 * 1024),
};

/** A controller and the workloads to simulate. */
export interface SimulatedController {
  readonly controller: OperatorController;
  readonly workloads: readonly Workload[];
  /** Further controllers that run in the same process. */
  readonly others: readonly OperatorController[];
}

const request = z.object({
  controller: z.string(),
  workload: z.string(),
  plan: faultPlanSchema,
  seed: z.int(),
  replicas: z.int().min(1),
  sharded: z.boolean().optional(),
  members: z.int().min(0).optional(),
});

const response = z.object({
  violations: z.array(
    z.object({
      invariant: z.enum(invariantNames),
      message: z.string(),
      consequence: z.string().optional(),
      object: z.string().optional(),
    }),
  ),
  totals: z.object({ requests: z.int(), faults: z.int(), reconciles: z.int(), virtualMs: z.number() }),
});

/** The worker processes. They start when they are first needed, and end when this is disposed. */
export class SimulationWorkers implements Disposable {
  readonly #session: Session;
  readonly #count: number;
  #workers: readonly WorkerProcess[] | undefined;

  /** @param jobs Number of processes; with 1 there is only the present one. @default one for each core */
  constructor(session: Session, jobs: number = coreCount()) {
    this.#session = session;
    this.#count = jobs > 1 ? jobs : 0;
  }

  /** Returns one checker for each worker process. */
  checkersOf(controller: OperatorController): readonly CheckSchedule[] {
    const { processEnvironment: { startWorkerProcess, args }, environment } = this.#session;
    const env = { ...bunSettings, ...environment, [workerVariable]: "1" };
    this.#workers ??= Array.from({ length: this.#count }).flatMap(() => startWorkerProcess(args, env) ?? []);
    return this.#workers.map((worker): CheckSchedule => async (schedule) => {
      const { workload, plan, seed, replicas, sharded, members } = schedule;
      const sent = { controller: controller.name, workload, plan, seed, replicas, sharded, members };
      return parseBounded(response, JSON.parse(await worker.request(JSON.stringify(sent))));
    });
  }

  [Symbol.dispose](): void {
    for (const worker of this.#workers ?? []) worker[Symbol.dispose]();
  }
}

/** Simulates the schedules that the first process requests, until it closes standard input. */
export async function runSimulationWorker(subjects: readonly SimulatedController[]): Promise<void> {
  const checkers = new Map(
    subjects.map(({ controller, workloads, others }) => [
      controller.name,
      new ScheduleChecker(controller, workloads, others),
    ]),
  );
  // Faults cause many errors, and nothing here shows where one was created.
  Error.stackTraceLimit = 0;
  await answerWorkerRequests((line) => handleRequest(checkers, line));
}

/** Returns the response to a request. @throws SyntaxError when it is not a request */
export async function handleRequest(checkers: ReadonlyMap<string, ScheduleChecker>, line: string): Promise<string> {
  const { controller, ...schedule } = parseBounded(request, JSON.parse(line));
  const checker = checkers.get(controller);
  if (checker === undefined) {
    throw new TypeError(`Cannot simulate controller "${controller}": this worker does not know it`);
  }
  return JSON.stringify(await checker.check(schedule));
}
