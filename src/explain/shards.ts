/**
 * What sharding means for an object: which replica reconciles it. Only a running process knows it.
 *
 * Guarantees: pure; the texts are safe to show (`words.ts`).
 */
import type { Explanation } from "./chains.ts";
import type { Subject } from "./history.ts";
import type { WhyNot } from "./why_not.ts";
import { objectText, shown } from "./words.ts";

/** The replica that reconciles an object. */
export interface ShardFact {
  /** The slot of the object, from 0. */
  readonly slot: number;
  /** The Lease of the process that was asked, which is the name of the replica. */
  readonly replica: string;
  /** The Lease of the replica that has the slot. @default none has it */
  readonly holder?: string;
}

/** Says in an answer which replica reconciles its object. */
export function withShard<A extends Explanation | WhyNot>(answer: A, subject: Subject, fact: ShardFact): A {
  const isHere = fact.holder === fact.replica;
  if (!("reasons" in answer)) return { ...answer, notes: [...answer.notes, shardText(subject, fact)] };
  if (isHere) return answer;
  const advice = fact.holder === undefined
    ? "ask again in a few seconds: slots move within the lease duration"
    : `ask that replica with --address; its Lease ${shown(fact.holder)} has the annotation pintle.dev/debug-endpoint`;
  const reason = { kind: "other-replica" as const, text: shardText(subject, fact), advice, entries: [] };
  return { ...answer, reasons: [reason, ...answer.reasons.filter(({ kind }) => kind !== "not-cached")] };
}

function shardText(subject: Subject, { slot, replica, holder }: ShardFact): string {
  const object = objectText(subject);
  const here = `this process is replica ${shown(replica)}`;
  if (holder === undefined) return `no replica has slot ${slot} of ${object} now; ${here}`;
  if (holder === replica) return `this process, replica ${shown(replica)}, reconciles slot ${slot} of ${object}`;
  return `replica ${shown(holder)} reconciles slot ${slot} of ${object}; ${here}`;
}
