/** The status of a NodePool and its Events: pure functions. */
import { type ConditionNow, type EventType, findCondition, type Node, withCondition } from "../../mod.ts";
import { type PatchValue } from "../../client.ts";
import type { NodesResult } from "./nodes.ts";
import type { NodeConflict } from "./plan.ts";
import { sumQuantities } from "./quantity.ts";
import type { NodePool } from "./resource.ts";
import { problemsOf, textOf } from "./validate.ts";

/** A reason why a pool is not ready. */
export interface Finding {
  readonly reason: "InvalidSpec" | "ErrResourceExists" | "HandlerInUse" | "NodesFailed" | "Conflict";
  readonly message: string;
}

/** An Event to record. */
export interface Note {
  readonly type: EventType;
  readonly reason: string;
  readonly note: string;
}

type Status = NonNullable<NodePool["status"]>;

/** Items that a message names; it counts the others. */
const maxNamed = 5;

/** Returns the desired status. Null removes resources that no member has any more. */
export function statusOf(
  pool: NodePool,
  members: readonly Node[],
  findings: readonly Finding[],
  at: number,
): PatchValue<Status> {
  const reported = pool.status?.allocatable ?? {};
  const { generation } = pool.metadata;
  return {
    observedGeneration: generation,
    nodeCount: members.length,
    allocatable: {
      ...Object.fromEntries(Object.keys(reported).map((name) => [name, null])),
      ...allocatableOf(members),
    },
    conditions: withCondition(pool.status?.conditions, readiness(findings, generation), at),
  };
}

/** Returns why a pool is not ready, the most serious reason first. */
export function findingsOf(pool: NodePool, result: NodesResult, other: readonly Finding[]): readonly Finding[] {
  const problems = problemsOf(pool).map(textOf);
  const failed = result.failures.map(({ node }) => `"${node}"`);
  const conflicts = result.conflicts.map(conflictText);
  return [
    ...(problems.length === 0 ? [] : [{ reason: "InvalidSpec", message: `ignored: ${some(problems, "; ")}` } as const]),
    ...other,
    ...(failed.length === 0 ? [] : [{ reason: "NodesFailed", message: `cannot write ${nodesText(failed)}` } as const]),
    ...(conflicts.length === 0 ? [] : [{ reason: "Conflict", message: some(conflicts, "; ") } as const]),
  ];
}

/** Returns the Events about written Nodes: joined, left or changed. */
export function membershipNotes(result: NodesResult): readonly Note[] {
  const reasons = { joined: "NodeJoined", left: "NodeLeft", changed: "NodeUpdated" } as const;
  return (["joined", "left", "changed"] as const).flatMap((membership): readonly Note[] => {
    const nodes = result.changed.filter((one) => one.membership === membership).map(({ node }) => `"${node}"`);
    if (nodes.length === 0) return [];
    return [{ type: "Normal", reason: reasons[membership], note: `${nodesText(nodes)} ${membership}` }];
  });
}

/** Returns Warning Events when the findings differ from the stored condition. */
export function warningNotes(pool: NodePool, findings: readonly Finding[]): readonly Note[] {
  const now = readiness(findings, undefined);
  const before = findCondition(pool.status?.conditions, now.type);
  if (before?.status === now.status && before.reason === now.reason && before.message === now.message) return [];
  return findings.map(({ reason, message }) => ({ type: "Warning", reason, note: message }));
}

function readiness(findings: readonly Finding[], observedGeneration: number | undefined): ConditionNow {
  const [first] = findings;
  if (first === undefined) {
    const message = "The Nodes and the RuntimeClass are in the desired state";
    return { type: "Ready", status: "True", reason: "Settled", message, observedGeneration };
  }
  const message = findings.map((finding) => finding.message).join("; ");
  return { type: "Ready", status: "False", reason: first.reason, message, observedGeneration };
}

function allocatableOf(members: readonly Node[]): Readonly<Record<string, string>> {
  const amounts = new Map<string, (string | number)[]>();
  for (const node of members) {
    for (const [name, amount] of Object.entries(node.status?.allocatable ?? {})) {
      const found = amounts.get(name);
      if (found === undefined) amounts.set(name, [amount]);
      else found.push(amount);
    }
  }
  return Object.fromEntries([...amounts].map(([name, all]) => [name, sumQuantities(all)]));
}

function conflictText({ node, what, name, live, desired }: NodeConflict): string {
  return `${what} "${name}" of Node "${node}" is "${live}", set by another client, and stays; desired: "${desired}"`;
}

function nodesText(names: readonly string[]): string {
  return `${names.length === 1 ? "Node" : "Nodes"} ${some(names)}`;
}

function some(texts: readonly string[], separator = ", "): string {
  const named = texts.slice(0, maxNamed).join(separator);
  return texts.length <= maxNamed ? named : `${named} and ${texts.length - maxNamed} more`;
}
