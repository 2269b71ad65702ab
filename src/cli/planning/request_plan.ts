/**
 * requestPlan(): what the controllers of this process would write now. It reads the cluster with a client of its own, and lets a
 * worker process (`plan_worker.ts`) run the controllers on what it has read.
 *
 * Guarantees: the cluster gets GET and LIST requests and no other; the running controllers and their caches take no part; the
 * worker ends with the plan, or with the signal.
 */
import { z } from "zod";
import { untilAborted } from "../../async/mod.ts";
import type { Client } from "../../client/mod.ts";
import type { OperatorController, PlanAnswer } from "../../manager/mod.ts";
import { maskedText } from "../../observe/mod.ts";
import type { WorkerProcess } from "../../runtime/mod.ts";
import { parseBounded } from "../../schema/mod.ts";
import { planRequest } from "./plan_worker.ts";
import { plannedKinds } from "./planned_kinds.ts";
import { takeSnapshot } from "./snapshot.ts";

/** Options of {@link requestPlan}. */
export interface PlanRequestOptions {
  readonly client: Client;
  readonly controllers: readonly OperatorController[];
  /** Empty: all namespaces. */
  readonly namespaces: readonly string[];
  readonly operatorName: string;
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly maxKeys: number;
  /** Starts the worker. @returns undefined where that is not possible */
  readonly startWorker: () => WorkerProcess | undefined;
  readonly signal: AbortSignal;
}

/** Beside the running controllers, there is less memory than for `controller plan`. */
const maxCharacters = 48 * 1024 * 1024;

const problems = z.array(z.object({ controller: z.string(), key: z.string(), problem: z.string() }));

const answerSchema = z.object({
  time: z.string(),
  controllers: z.array(z.string()),
  changes: z.array(z.object({
    action: z.enum(["delete", "replace", "update", "create"]),
    apiVersion: z.string(),
    kind: z.string(),
    namespace: z.string().optional(),
    name: z.string(),
    by: z.array(z.string()),
    waitsFor: z.array(z.string()).optional(),
    diff: z.array(z.string()).optional(),
  })),
  failing: problems,
  endless: problems,
  warnings: problems,
  keys: z.int(),
  leftOut: z.array(z.object({ controller: z.string(), keys: z.int() })),
  notes: z.array(z.string()),
});

const responseSchema = z.union([answerSchema, z.object({ problem: z.string() })]);

/** Computes the plan. @throws Error that says why there is none */
export async function requestPlan(options: PlanRequestOptions): Promise<PlanAnswer> {
  const { client, controllers, namespaces, operatorName, now, maxKeys, signal } = options;
  const kinds = plannedKinds(controllers, namespaces);
  const snapshot = await takeSnapshot(client, {
    ...{ kinds, operatorName, maxCharacters, now, signal },
    single: [],
    installsDefinitions: false,
    onProgress: () => {},
  });
  using worker = options.startWorker();
  if (worker === undefined) throw new Error("Cannot plan: this program cannot start another process of itself");
  const line = await untilAborted(worker.request(planRequest(snapshot, maxKeys)), signal);
  const response = parseBounded(responseSchema, JSON.parse(line));
  if ("problem" in response) throw new Error(response.problem);
  return withoutOwnSecrets(response);
}

/** The worker does not know the credentials of this process. */
function withoutOwnSecrets(answer: PlanAnswer): PlanAnswer {
  const masked = (problems: PlanAnswer["failing"]) =>
    problems.map((one) => ({ ...one, problem: maskedText(one.problem) }));
  return {
    ...answer,
    changes: answer.changes.map(({ diff, ...change }) =>
      diff === undefined ? change : { ...change, diff: diff.map(maskedText) }
    ),
    failing: masked(answer.failing),
    endless: masked(answer.endless),
    warnings: masked(answer.warnings),
    notes: answer.notes.map(maskedText),
  };
}
