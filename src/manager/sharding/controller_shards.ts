/**
 * ControllerShards: the slots of one controller in this replica, from one start of the controller to its end. A slot that the
 * replica has gained is not active before all caches of the controller have its objects, in a state that the server had after
 * the slot was gained: what its last replica wrote is in it.
 *
 * A controller whose caches cannot be filled, because a permission or a CRD is missing, delays no other controller.
 */
import type { KubeObject, ObjectKey, StringMap } from "../../api/mod.ts";
import { type Scope, scope } from "../../async/mod.ts";
import type { SharedInformer } from "../../cache/mod.ts";
import type { KeyHold, KeyShards, KeyShardsListener } from "../../controller/mod.ts";
import { type Logger, logger } from "../../observe/mod.ts";
import type { SlotRule } from "./shard_key.ts";
import type { SlotHold, SlotHolds } from "./slot_holds.ts";

/** Options of {@link ControllerShards}. */
export interface ControllerShardsOptions {
  /** For log records. */
  readonly controller: string;
  readonly holds: SlotHolds;
  readonly rule: SlotRule;
  /** All caches of the controller. */
  readonly informers: () => readonly SharedInformer<KubeObject>[];
}

export class ControllerShards implements KeyShards, Disposable {
  readonly #options: ControllerShardsOptions;
  readonly #log: Logger;
  /** Held slots whose objects are not in the caches yet. */
  readonly #filling = new Set<SlotHold>();
  readonly #active = new Map<number, SlotHold>();
  readonly #listeners = new Set<KeyShardsListener>();
  readonly #life: Scope = scope(new AbortController().signal);
  readonly #listening: Disposable;
  #isFilling = false;

  constructor(options: ControllerShardsOptions) {
    this.#options = options;
    this.#log = logger("controller", options.controller);
    const { holds } = options;
    this.#listening = holds.listen({
      onGained: (gained) => this.#fill(gained),
      onEnded: (hold) => this.#ended(hold),
      onLost: () => {
        for (const listener of [...this.#listeners]) listener.onLost();
      },
    });
    this.#fill([...holds.slots].flatMap((slot) => holds.get(slot) ?? []));
  }

  /** True when every slot that the replica holds is active. */
  isSettled(): boolean {
    return this.#filling.size === 0 && !this.#isFilling;
  }

  slotOf(object: KubeObject): number {
    return this.#options.rule.slotOf(object);
  }

  slotOfKey(key: ObjectKey): number | undefined {
    return this.#options.rule.slotOfKey(key);
  }

  isActive(slot: number): boolean {
    return this.#active.get(slot)?.isDraining === false;
  }

  begin(slot: number): KeyHold | undefined {
    const hold = this.#active.get(slot);
    const running = hold?.begin();
    if (hold === undefined || running === undefined) return undefined;
    return {
      slot,
      signal: hold.signal,
      draining: hold.draining,
      confirm: (signal) => hold.confirm(signal),
      fence: (client) => hold.fence(client),
      [Symbol.dispose]: () => running[Symbol.dispose](),
    };
  }

  listen(listener: KeyShardsListener): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => this.#listeners.delete(listener) };
  }

  dependentLabels(owner: KubeObject): StringMap | undefined {
    return this.#options.rule.dependentLabels?.(owner);
  }

  [Symbol.dispose](): void {
    this.#listening[Symbol.dispose]();
    this.#life.abort();
    this.#life[Symbol.dispose]();
  }

  #fill(gained: readonly SlotHold[]): void {
    for (const hold of gained) this.#filling.add(hold);
    if (!this.#isFilling && this.#filling.size > 0) void this.#fillCaches();
  }

  async #fillCaches(): Promise<void> {
    const { signal } = this.#life;
    this.#isFilling = true;
    try {
      while (this.#filling.size > 0) {
        const holds = [...this.#filling];
        await Promise.all(this.#options.informers().map((informer) => informer.followPart(signal)));
        for (const hold of holds) this.#filling.delete(hold);
        this.#activate(holds.filter(({ isDraining }) => !isDraining));
      }
    } catch (error) {
      // The caches end with the process.
      if (!signal.aborted) this.#log.info("caches stopped before the slots were active", { error });
    } finally {
      this.#isFilling = false;
    }
  }

  #activate(holds: readonly SlotHold[]): void {
    if (holds.length === 0) return;
    for (const hold of holds) this.#active.set(hold.slot, hold);
    this.#log.info("reconciling slots", { gained: holds.length, count: this.#active.size });
    const slots = new Set(holds.map(({ slot }) => slot));
    for (const listener of [...this.#listeners]) listener.onActive(slots);
  }

  #ended(hold: SlotHold): void {
    this.#filling.delete(hold);
    if (this.#active.get(hold.slot) === hold) this.#active.delete(hold.slot);
  }
}
