/**
 * SlotPart: the part of a kind that one replica caches: the objects in the slots that it holds. SlotParts has one for each
 * rule, so that controllers that divide a kind in the same way share a cache.
 */
import type { KubeObject } from "../../api/mod.ts";
import type { CachePart } from "../../cache/mod.ts";
import type { SlotRule } from "./shard_key.ts";
import type { SlotHolds } from "./slot_holds.ts";
import { type SelectableField, shardSelector } from "./slots.ts";

/** Options of a {@link SlotPart}. */
interface SlotPartOptions {
  readonly id: string;
  readonly slotOf: (object: KubeObject) => number | undefined;
  readonly field: SelectableField | undefined;
}

class SlotPart implements CachePart {
  readonly #holds: SlotHolds;
  readonly #options: SlotPartOptions;

  constructor(holds: SlotHolds, options: SlotPartOptions) {
    this.#holds = holds;
    this.#options = options;
  }

  get id(): string {
    return this.#options.id;
  }

  get generation(): number {
    return this.#holds.generation;
  }

  includes(object: KubeObject): boolean {
    const slot = this.#options.slotOf(object);
    return slot !== undefined && this.#holds.has(slot);
  }

  shardSelector(): string | undefined {
    const { field } = this.#options;
    return field === undefined ? undefined : shardSelector(this.#holds.slots, field);
  }

  started(signal: AbortSignal): Promise<void> {
    return this.#holds.firstGain(signal);
  }
}

/** The parts of one process. */
export class SlotParts {
  readonly #holds: SlotHolds;
  readonly #parts = new Map<string, CachePart>();

  constructor(holds: SlotHolds) {
    this.#holds = holds;
  }

  /** The objects of a primary kind. */
  ofPrimary({ id, slotOf, field }: SlotRule): CachePart {
    return this.#part({ id: `the slots of this replica by ${id}`, slotOf, field });
  }

  /** The objects of a kind of dependents. */
  ofDependents({ id, slotOfDependent, dependentField }: SlotRule): CachePart {
    const part = `the slots of this replica by the ${id} of the owner`;
    return this.#part({ id: part, slotOf: slotOfDependent, field: dependentField });
  }

  #part(options: SlotPartOptions): CachePart {
    const known = this.#parts.get(options.id) ?? new SlotPart(this.#holds, options);
    this.#parts.set(options.id, known);
    return known;
  }
}
