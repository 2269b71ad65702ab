/**
 * Slots: the unit in which keys move between replicas. A slot is one of 256 equal ranges of the hash of a shard key. The
 * hash is the server's own (64-bit FNV-1a, KEP-5866), so a set of slots can be written as a shard selector of a list.
 *
 * `assignSlots` divides the slots between the members of a group by rendezvous hashing with a limit for each member: the
 * members agree without talking to each other, no member has more than 5 % above its part, and a member that joins or
 * leaves moves little more than its own part.
 */
import { shardHashOf } from "../../api/mod.ts";

/** Number of slots. More slots make shard selectors longer, fewer slots make the parts more unequal. */
export const slotCount = 256;

/** How much more than its equal part a member may have: without a limit, one of four members has 20 % more at times. */
const maxSurplus = 1.05;

/** The slot of a shard key. */
export function slotOf(text: string): number {
  return shardHashOf(text).high >>> 24;
}

/**
 * The fields of an object that the server can select slots of.
 *
 * @default none: it sends all objects, and the replica keeps those of its slots
 */
export type SelectableField = "object.metadata.uid" | "object.metadata.namespace";

/** The shard selector of the slots. Undefined when it selects everything; no slot at all is an empty range of one. */
export function shardSelector(slots: ReadonlySet<number>, field: SelectableField): string | undefined {
  if (slots.size >= slotCount) return undefined;
  // The server refuses an empty selector and an empty range. One hash of 2^64 selects practically nothing.
  if (slots.size === 0) return rangeText(field, "0x0000000000000000", "0x0000000000000001");
  const ranges: string[] = [];
  for (let slot = 0; slot < slotCount; slot++) {
    if (!slots.has(slot)) continue;
    const start = slot;
    while (slots.has(slot + 1)) slot++;
    ranges.push(rangeText(field, boundary(start), boundary(slot + 1)));
  }
  return ranges.join(" || ");
}

function rangeText(field: SelectableField, start: string, end: string): string {
  return `shardRange(${field}, '${start}', '${end}')`;
}

/** The lowest hash of a slot; after the last slot it is 2^64. */
function boundary(slot: number): string {
  return slot === slotCount ? "0x10000000000000000" : `0x${hex(slot, 2)}${"0".repeat(14)}`;
}

/** Writes slots as 64 hexadecimal digits: the highest bit of the first one is slot 0. */
export function printSlots(slots: ReadonlySet<number>): string {
  let text = "";
  for (let slot = 0; slot < slotCount; slot += 4) {
    const bits = [0, 1, 2, 3].reduce((bits, offset) => bits * 2 + (slots.has(slot + offset) ? 1 : 0), 0);
    text += bits.toString(16);
  }
  return text;
}

/** Reads what {@link printSlots} wrote. @returns undefined for any other text */
export function parseSlots(text: string): ReadonlySet<number> | undefined {
  if (text.length !== slotCount / 4 || !/^[0-9a-f]+$/.test(text)) return undefined;
  const slots = new Set<number>();
  for (let slot = 0; slot < slotCount; slot++) {
    const digit = Number.parseInt(text.charAt(slot >> 2), 16);
    if (digit & (8 >> (slot & 3))) slots.add(slot);
  }
  return slots;
}

/** Every slot. */
export const allSlots: ReadonlySet<number> = new Set(Array.from({ length: slotCount }, (_, slot) => slot));

/**
 * The member of each slot. The same for the same members in any order.
 *
 * @param members Their names; at least one.
 */
export function assignSlots(members: readonly string[]): readonly string[] {
  const names = [...new Set(members)].sort();
  const id = names.join(" ");
  const known = assignments.get(id) ?? computeAssignment(names);
  // The last ones stay: replicas look at each other every few seconds, and rarely find a change.
  assignments.delete(id);
  assignments.set(id, known);
  for (const oldest of assignments.keys()) {
    if (assignments.size <= maxAssignments) break;
    assignments.delete(oldest);
  }
  return known;
}

const assignments = new Map<string, readonly string[]>();
const maxAssignments = 16;

function computeAssignment(names: readonly string[]): readonly string[] {
  const limit = Math.ceil(slotCount * maxSurplus / names.length);
  const pairs = names.flatMap((member) =>
    Array.from({ length: slotCount }, (_, slot) => ({ member, slot, score: scoreOf(member, slot) }))
  );
  pairs.sort((a, b) => a.score < b.score ? 1 : a.score > b.score ? -1 : a.slot - b.slot);
  const loads = new Map<string, number>();
  const assigned = new Map<number, string>();
  for (const { member, slot } of pairs) {
    const load = loads.get(member) ?? 0;
    if (assigned.has(slot) || load >= limit) continue;
    assigned.set(slot, member);
    loads.set(member, load + 1);
  }
  return Array.from({ length: slotCount }, (_, slot) => assigned.get(slot) ?? names[0] ?? "");
}

/** How much a member wants a slot. FNV alone is not even enough in its high bits for texts that differ at their end. */
function scoreOf(member: string, slot: number): number {
  const { high, low } = shardHashOf(`${member}/${slot}`);
  return mixed(mixed(high ^ slot) ^ low);
}

/** The finalizer of MurmurHash3: each bit of the input changes half of the bits of the result. */
function mixed(value: number): number {
  let bits = value;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, "0");
}
