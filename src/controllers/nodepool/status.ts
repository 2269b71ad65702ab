/** The status of a NodePool, and the Events that go with it. Pure functions: what a pool says of itself. */
import {
  type ConditionNow,
  type EventType,
  findCondition,
  type Node,
  type PatchValue,
  withCondition,
} from "../../mod.ts";
import type { Outcome } from "./nodes.ts";
import type { NodeConflict } from "./plan.ts";
import { sumQuantities } from "./quantity.ts";
import type { NodePool } from "./resource.ts";
import { problemsOf, textOf } from "./validate.ts";

/** Something that keeps a pool from being ready. */
export interface Finding {
  readonly reason: "InvalidSpec" | "ErrResourceExists" | "HandlerInUse" | "NodesFailed" | "Conflict";
  readonly message: string;
}

/** An Event to come. */
export interface Note {
  readonly type: EventType;
  readonly reason: string;
  readonly note: string;
}

type Status = NonNullable<NodePool["status"]>;

/** Things named in one message; how many more there are is said. */
const mostNamed = 5;

/** The status a pool should have. Resources that no member has any more are named with null, which removes them. */
export function statusOf(
  pool: NodePool,
  members: readonly Node[],
  findings: readonly Finding[],
  at: number,
): PatchValue<Status> {
  const held = pool.status?.allocatable ?? {};
  const { generation } = pool.metadata;
  return {
    observedGeneration: generation,
    nodeCount: members.length,
    allocatable: { ...Object.fromEntries(Object.keys(held).map((name) => [name, null])), ...allocatableOf(members) },
    conditions: withCondition(pool.status?.conditions, readiness(findings, generation), at),
  };
}

/** What keeps a pool from being ready, worst first. */
export function findingsOf(pool: NodePool, outcome: Outcome, other: readonly Finding[]): readonly Finding[] {
  const problems = problemsOf(pool).map(textOf);
  const failed = outcome.failures.map(({ node }) => `"${node}"`);
  const conflicts = outcome.conflicts.map(conflictText);
  return [
    ...(problems.length === 0
      ? []
      : [{ reason: "InvalidSpec", message: `left out: ${some(problems, "; ")}` } as const]),
    ...other,
    ...(failed.length === 0 ? [] : [{ reason: "NodesFailed", message: `cannot write ${nodesText(failed)}` } as const]),
    ...(conflicts.length === 0 ? [] : [{ reason: "Conflict", message: some(conflicts, "; ") } as const]),
  ];
}

/** What is told of Nodes that came, went or changed. Nothing where nothing was written. */
export function membershipNotes(outcome: Outcome): readonly Note[] {
  const said = { joined: "NodeJoined", left: "NodeLeft", changed: "NodeUpdated" } as const;
  return (["joined", "left", "changed"] as const).flatMap((membership): readonly Note[] => {
    const nodes = outcome.changed.filter((one) => one.membership === membership).map(({ node }) => `"${node}"`);
    if (nodes.length === 0) return [];
    return [{ type: "Normal", reason: said[membership], note: `${nodesText(nodes)} ${membership}` }];
  });
}

/** Warnings about findings that the pool did not have when it was last looked at. */
export function warningNotes(pool: NodePool, findings: readonly Finding[]): readonly Note[] {
  const now = readiness(findings, undefined);
  const before = findCondition(pool.status?.conditions, now.type);
  if (before?.status === now.status && before.reason === now.reason && before.message === now.message) return [];
  return findings.map(({ reason, message }) => ({ type: "Warning", reason, note: message }));
}

function readiness(findings: readonly Finding[], observedGeneration: number | undefined): ConditionNow {
  const [first] = findings;
  if (first === undefined) {
    const message = "The pool's Nodes and its RuntimeClass are as they should be";
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

function conflictText({ node, what, name, live, wanted }: NodeConflict): string {
  return `${what} "${name}" of Node "${node}" is "${live}" by somebody else, "${wanted}" is not given`;
}

function nodesText(names: readonly string[]): string {
  return `${names.length === 1 ? "Node" : "Nodes"} ${some(names)}`;
}

function some(texts: readonly string[], separator = ", "): string {
  const named = texts.slice(0, mostNamed).join(separator);
  return texts.length <= mostNamed ? named : `${named} and ${texts.length - mostNamed} more`;
}
