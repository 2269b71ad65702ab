/** Sharding: the keys of controllers divided between replicas, by slots that move with a fenced hand-over. */
export { ControllerShards } from "./controller_shards.ts";
export { claimAnnotation, groupLabel, groupLabels } from "./member_leases.ts";
export { dividedWork } from "./divided_work.ts";
export { type SlotRule, slotRuleOf } from "./shard_key.ts";
export {
  type ShardingOptions,
  ShardMember,
  type ShardMemberOptions,
  type ShardMetrics,
  shardMetrics,
} from "./shard_member.ts";
export type { ShardTerm, SlotHold, SlotHolds } from "./slot_holds.ts";
export { type ShardState, shardStateOf, slotOfObject } from "./shard_state.ts";
export { SlotParts } from "./slot_part.ts";
export { parseSlots, slotCount, slotOf } from "./slots.ts";
