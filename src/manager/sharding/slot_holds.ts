/**
 * SlotHolds: the slots that this process may reconcile, and the reconciles that run in them. A slot that is to be given away
 * drains: nothing more begins in it, and it ends when the last reconcile has ended. Only then is the claim written without it.
 *
 * Guarantees: a hold that has ended stays ended; if the slot comes back, it is another hold. From the end on, a write of its
 * reconciles is refused by the fence, also by a retry of a request that was sent before.
 */
import { Latch, onAbort } from "../../async/mod.ts";
import type { Client } from "../../client/mod.ts";
import { fencedTransport, type WriteAuthority } from "../fence/mod.ts";

/** The right to write of the whole process. A Term (`election/`) is one. */
export interface ShardTerm extends WriteAuthority {
  /** `Lease "namespace/name"`. */
  readonly lease: string;
}

/** One slot, from gaining it to giving it away or losing it. */
export class SlotHold implements WriteAuthority {
  readonly slot: number;
  readonly #term: ShardTerm;
  readonly #end = new AbortController();
  readonly #drain = new AbortController();
  readonly #clients = new WeakMap<Client, Client>();
  readonly #onEnd: (hold: SlotHold) => void;
  #running = 0;
  #isDraining = false;

  constructor(slot: number, term: ShardTerm, onEnd: (hold: SlotHold) => void) {
    this.slot = slot;
    this.#term = term;
    this.#onEnd = onEnd;
  }

  get signal(): AbortSignal {
    return this.#end.signal;
  }

  /** Aborts when the slot is to be given away, or is lost. */
  get draining(): AbortSignal {
    return this.#drain.signal;
  }

  get lost(): Error | undefined {
    return this.#term.lost;
  }

  get isDraining(): boolean {
    return this.#isDraining;
  }

  /** Number of reconciles that run in the slot. */
  get running(): number {
    return this.#running;
  }

  mayWrite(): boolean {
    return !this.#end.signal.aborted && this.#term.mayWrite();
  }

  async confirm(signal: AbortSignal): Promise<boolean> {
    return await this.#term.confirm(signal) && this.mayWrite();
  }

  /** The client for the reconciles of the slot: it writes only while the slot is held. */
  fence(client: Client): Client {
    const known = this.#clients.get(client);
    if (known !== undefined) return known;
    const source = { lease: `slot ${this.slot} of ${this.#term.lease}`, leadership: this };
    const fenced = client.withTransport((transport) => fencedTransport(transport, source));
    this.#clients.set(client, fenced);
    return fenced;
  }

  /** Begins a reconcile. Dispose the result at its end. @returns undefined when nothing may begin any more */
  begin(): Disposable | undefined {
    if (this.#isDraining || this.#end.signal.aborted) return undefined;
    this.#running++;
    return {
      [Symbol.dispose]: () => {
        this.#running--;
        this.#endIfDrained();
      },
    };
  }

  drain(): void {
    this.#isDraining = true;
    this.#drain.abort(new DOMException(`Slot ${this.slot} is to be given away`, "AbortError"));
    this.#endIfDrained();
  }

  /** Ends the hold, whatever still runs. @param reason for the reconciles that are aborted */
  end(reason: unknown): void {
    if (this.#end.signal.aborted) return;
    this.#isDraining = true;
    this.#drain.abort(reason);
    this.#end.abort(reason);
    this.#onEnd(this);
  }

  #endIfDrained(): void {
    if (this.#isDraining && this.#running === 0) {
      this.end(new DOMException(`Slot ${this.slot} was given away`, "AbortError"));
    }
  }
}

/** Is told when slots come and go, as far as it wants to know. */
export interface SlotListener {
  /** These slots are held from now on. */
  onGained?(holds: readonly SlotHold[]): void;
  /** This slot is no longer held. */
  onEnded?(hold: SlotHold): void;
  /** The replica has fewer slots. Called once for all that end at the same time. */
  onLost?(): void;
}

/** The slots that this process holds. */
export class SlotHolds {
  readonly #holds = new Map<number, SlotHold>();
  readonly #listeners = new Set<SlotListener>();
  #isLossDue = false;
  readonly #firstGain = new Latch();
  #generation = 0;

  /** How often slots were gained. */
  get generation(): number {
    return this.#generation;
  }

  /** Resolves when slots were gained for the first time. @throws `signal.reason` when aborted */
  firstGain(signal: AbortSignal): Promise<void> {
    return this.#firstGain.wait(signal);
  }

  get(slot: number): SlotHold | undefined {
    return this.#holds.get(slot);
  }

  /** True while the slot is held, also while it is draining. */
  has(slot: number): boolean {
    return this.#holds.has(slot);
  }

  get slots(): ReadonlySet<number> {
    return new Set(this.#holds.keys());
  }

  get draining(): ReadonlySet<number> {
    return new Set([...this.#holds.values()].filter(({ isDraining }) => isDraining).map(({ slot }) => slot));
  }

  /** Tells a listener of changes from now on. Dispose the result to end that. */
  listen(listener: SlotListener): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => this.#listeners.delete(listener) };
  }

  /** Holds slots until they are drained, or until the term ends. */
  gain(slots: Iterable<number>, term: ShardTerm): void {
    if (term.signal.aborted) return;
    const gained = [...slots].filter((slot) => !this.#holds.has(slot)).map((slot) => {
      const hold = new SlotHold(slot, term, (ended) => this.#ended(ended));
      this.#holds.set(slot, hold);
      return hold;
    });
    if (gained.length === 0) return;
    this.#generation++;
    this.#firstGain.open();
    for (const listener of [...this.#listeners]) listener.onGained?.(gained);
  }

  drain(slots: Iterable<number>): void {
    for (const slot of slots) this.#holds.get(slot)?.drain();
  }

  /** Ends all holds when the term ends. Dispose the result to end that. */
  endWith(term: ShardTerm): Disposable {
    return onAbort(term.signal, () => this.endAll(term.signal.reason));
  }

  endAll(reason: unknown): void {
    for (const hold of [...this.#holds.values()]) hold.end(reason);
  }

  #ended(hold: SlotHold): void {
    if (this.#holds.get(hold.slot) === hold) this.#holds.delete(hold.slot);
    for (const listener of [...this.#listeners]) listener.onEnded?.(hold);
    if (this.#isLossDue) return;
    this.#isLossDue = true;
    Promise.resolve().then(() => {
      this.#isLossDue = false;
      for (const listener of [...this.#listeners]) listener.onLost?.();
    });
  }
}
