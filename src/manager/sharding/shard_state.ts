/** ShardState: what a replica knows of its group at this moment, as plain data for the debug endpoint. */
import type { KubeObject, ObjectKey, Resource } from "../../api/mod.ts";
import type { ControllerDefinition } from "../../controller/mod.ts";
import { slotRuleOf } from "./shard_key.ts";
import type { ShardMember } from "./shard_member.ts";

/** A replica of the group. */
export interface ReplicaState {
  /** The name of its Lease. */
  readonly name: string;
  /** The slots that its claim contains, ascending. */
  readonly slots: readonly number[];
}

/** This replica, and its group. */
export interface ShardState {
  readonly group: string;
  /** The name of the Lease of this replica. */
  readonly replica: string;
  /** True when no slot of this replica is about to come or go. */
  readonly isSettled: boolean;
  /** The slots that this replica reconciles, ascending. */
  readonly slots: readonly number[];
  /** Those of them that it gives away when their last reconcile has ended. */
  readonly draining: readonly number[];
  /** The replicas that are alive, this one included. */
  readonly replicas: readonly ReplicaState[];
}

/** The state of a replica. */
export function shardStateOf(member: ShardMember): ShardState {
  const { group, name, holds, holders } = member;
  const bySlot = [...holders].sort(([one], [other]) => one - other);
  return {
    group,
    replica: name,
    isSettled: member.isSettled(),
    slots: ascending(holds.slots),
    draining: ascending(holds.draining),
    replicas: [...new Set([name, ...member.members])].map((replica) => ({
      name: replica,
      slots: bySlot.flatMap(([slot, holder]) => holder === replica ? [slot] : []),
    })),
  };
}

/** Where an object of a kind that a controller watches is cached. */
export interface ShardQuestion {
  readonly definition: ControllerDefinition;
  readonly resource: Resource;
  readonly key: ObjectKey;
  /** Reads the object where the key does not tell its slot. @returns undefined when it does not exist */
  readonly read: () => Promise<KubeObject | undefined>;
}

/** The slot of an object; undefined when every replica has it, or when nothing tells its slot. */
export async function slotOfObject({ definition, resource, key, read }: ShardQuestion): Promise<number | undefined> {
  const { options: { replicas, shardKey = "uid" }, watches } = definition;
  const watch = watches.find((one) => one.resource === resource);
  if (replicas === "one" || watch === undefined || watch.role === "watches" || watch.mapsOthers === true) return;
  const rule = slotRuleOf(shardKey);
  const known = watch.role === "for" ? rule.slotOfKey(key) : undefined;
  if (known !== undefined) return known;
  const object = await read();
  if (object === undefined) return undefined;
  return watch.role === "for" ? rule.slotOf(object) : rule.slotOfDependent(object);
}

function ascending(slots: ReadonlySet<number>): readonly number[] {
  return [...slots].sort((one, other) => one - other);
}
