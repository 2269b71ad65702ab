/**
 * The worker process of a plan: this program again, with the arguments of the process that runs the controllers. It gets a
 * snapshot of the cluster, runs its own controllers on it, and answers what they wrote.
 *
 * Guarantees: it has no connection to the cluster, and refuses calls to other systems; nothing that it does is seen by the
 * controllers of the process that asks. No secret is in the answer.
 */
import { z } from "zod";
import {
  combinedSelector,
  type KubeObject,
  type LabelSelector,
  parseExactJson,
  printExactJson,
} from "../../api/mod.ts";
import type { OperatorController, PlanAnswer, PlanRow } from "../../manager/mod.ts";
import { errorText, maskedObject, maskedText } from "../../observe/mod.ts";
import { refuseOutgoingCalls } from "../../runtime/mod.ts";
import { parseBounded, type StoredCrd } from "../../schema/mod.ts";
import type { Operator } from "../command/mod.ts";
import { changeDiff } from "./plan_diff.ts";
import { causeText, type PlannedChange } from "./plan_result.ts";
import { PlannedCluster, type PlannedClusterOptions } from "./planned_cluster.ts";
import { planLimits, planOf } from "./planned_document.ts";
import { plannedKinds } from "./planned_kinds.ts";
import type { Snapshot } from "./snapshot.ts";

/** What a worker plans: the same as the process that asks runs. */
export interface PlanSubject {
  readonly operator: Pick<Operator, "name" | "cacheRules">;
  readonly version: string;
  /** Configured anew for each plan, without output and without files. */
  readonly configure: () => Promise<readonly OperatorController[]>;
  readonly namespaces: PlannedClusterOptions["namespaces"];
  /** The selector of the command line. */
  readonly selector: LabelSelector | undefined;
}

const requestSchema = z.object({
  maxKeys: z.int().min(1),
  snapshot: z.object({
    takenAt: z.number(),
    objects: z.array(z.object({ collection: z.string(), object: z.custom<KubeObject>(isObject) })),
    definitions: z.array(z.tuple([z.string(), z.custom<StoredCrd>(isObject)])),
    unreadable: z.array(z.string()),
    hasNamespaces: z.boolean(),
  }),
});

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}

/** The same as for `controller plan`. */
const horizonMs = 2 * 60 * 60_000;
/** Characters of all diffs. */
const maxDiffCharacters = 8 * 1024 * 1024;
const maxProblems = 1_000;
const maxProblemCharacters = 2_000;

/** The request for a plan of a snapshot, in one line. */
export function planRequest(snapshot: Snapshot, maxKeys: number): string {
  return inOneLine(printExactJson({ maxKeys, snapshot: { ...snapshot, definitions: [...snapshot.definitions] } }));
}

/** Answers a {@link planRequest}: a {@link PlanAnswer}, or `{"problem": "..."}`, in one line. */
export async function answerPlanRequest(line: string, subject: PlanSubject): Promise<string> {
  using _guard = refuseOutgoingCalls("a plan calls no other system");
  try {
    const { maxKeys, snapshot } = parseBounded(requestSchema, parseExactJson(line));
    const read = { ...snapshot, definitions: new Map(snapshot.definitions) };
    return inOneLine(JSON.stringify(await answerOf(subject, read, maxKeys)));
  } catch (error) {
    return inOneLine(JSON.stringify({ problem: errorText(error) }));
  }
}

/** JSON may hold two line separators of Unicode, at which a reader of lines ends a line. */
function inOneLine(json: string): string {
  return json.replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
}

async function answerOf(subject: PlanSubject, snapshot: Snapshot, maxKeys: number): Promise<PlanAnswer> {
  const { operator, namespaces, selector, version } = subject;
  const controllers = await subject.configure();
  await using cluster = await PlannedCluster.start({
    ...{ snapshot, controllers, namespaces, maxKeys, horizonMs },
    kinds: plannedKinds(controllers, namespaces),
    operatorName: operator.name,
    cacheRules: operator.cacheRules,
    showsCluster: false,
    optionsOf: ({ options }) => ({ selector: combinedSelector(options.selector, selector) }),
    signal: new AbortController().signal,
  });
  await cluster.runControllers();
  const parts = { operator: { name: operator.name, version }, controllers, snapshot };
  const { time, controllers: names, changes, failing, endless, warnings } = planOf(cluster, parts);
  const { keys, leftOut } = cluster;
  return {
    ...{ time, controllers: names, keys, leftOut },
    changes: rowsOf(changes),
    failing: bounded(failing),
    endless: bounded(endless),
    warnings: bounded(warnings),
    notes: planLimits(cluster, parts),
  };
}

function rowsOf(changes: readonly PlannedChange[]): readonly PlanRow[] {
  let left = maxDiffCharacters;
  return changes.map((change) => {
    const { action, apiVersion, kind, namespace, name, by, waitsFor } = change;
    const diff = left <= 0 ? undefined : changeDiff({
      ...{ apiVersion, kind, namespace, name },
      before: maskedState(change.before),
      after: maskedState(change.after),
    });
    left -= diff?.reduce((sum, line) => sum + line.length, 0) ?? 0;
    return {
      ...{ action, apiVersion, kind, name },
      ...(namespace === undefined ? {} : { namespace }),
      ...(waitsFor === undefined ? {} : { waitsFor }),
      ...(diff === undefined || left < 0 ? {} : { diff }),
      by: by.map(causeText),
    };
  });
}

/** As the debug endpoint shows objects everywhere. */
function maskedState(state: PlannedChange["before"]): PlannedChange["before"] {
  const masked = state === undefined ? undefined : maskedObject(state, "");
  return typeof masked === "object" && masked !== null && !Array.isArray(masked)
    ? masked as NonNullable<PlannedChange["before"]>
    : undefined;
}

function bounded(problems: PlanAnswer["failing"]): PlanAnswer["failing"] {
  return problems.slice(0, maxProblems).map(({ problem, ...rest }) => ({
    ...rest,
    problem: maskedText(problem).slice(0, maxProblemCharacters),
  }));
}
