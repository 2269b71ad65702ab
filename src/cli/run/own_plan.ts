/**
 * The plan of a running process, for its debug endpoint: what its controllers would write now. The work is that of
 * `controller plan` (`../planning/`), which is loaded when it is first asked for.
 */
import type { LabelSelector } from "../../api/mod.ts";
import type { Client } from "../../client/mod.ts";
import type { OperatorController, PlanSource } from "../../manager/mod.ts";
import { answerWorkerRequests } from "../../runtime/mod.ts";
import { type ExitCode, exitCode, type Session } from "../command/mod.ts";

/** With this variable set to 1, `run` and `dev` are the worker of a plan: they read requests from standard input. */
const workerVariable = "PINTLE_PLAN_WORKER";

/** What a process runs. */
interface OwnPlanOptions {
  readonly session: Session;
  readonly controllers: readonly OperatorController[];
  /** Those of the caches at this moment; empty: all. */
  readonly namespaces: () => readonly string[];
  /** Returns a client that no controller uses. Called once. */
  readonly createClient: () => Client;
}

/** Computes the plans of this process, each in a new worker process. */
export function ownPlan({ session, controllers, namespaces, createClient }: OwnPlanOptions): PlanSource {
  const { operator: { name: operatorName }, processEnvironment, environment } = session;
  const { startWorkerProcess, args, clock } = processEnvironment;
  let client: Client | undefined;
  return async ({ maxKeys, signal }) => {
    const { requestPlan } = await import("../planning/mod.ts");
    client ??= createClient();
    return await requestPlan({
      ...{ client, controllers, namespaces: namespaces(), operatorName, maxKeys, signal },
      now: clock.now(),
      startWorker: () => startWorkerProcess(args, { ...environment, [workerVariable]: "1" }),
    });
  };
}

/** True in a worker process of a plan. */
export function isPlanWorker({ environment }: Session): boolean {
  return environment[workerVariable] === "1";
}

/** What a worker plans. */
interface PlanWorkerOptions {
  readonly session: Session;
  readonly namespaces: readonly string[];
  /** The selector of the command line. */
  readonly selector: LabelSelector | undefined;
  /** Configures the controllers anew, without output and without files. */
  readonly configure: () => Promise<readonly OperatorController[]>;
}

/** Answers the requests of the process that started this one, until that process closes standard input. */
export async function runPlanWorker({ session, ...subject }: PlanWorkerOptions): Promise<ExitCode> {
  const { answerPlanRequest } = await import("../planning/mod.ts");
  const { operator, version } = session;
  await answerWorkerRequests((line) => answerPlanRequest(line, { ...subject, operator, version }));
  return exitCode.done;
}
