/**
 * SharedBudget: what all peers of a server share, its connections or the bytes of bodies, and who gives some back when it is
 * used up.
 *
 * Guarantees: the peer that comes first cannot keep the budget. When it is used up, the claim that has waited longest for
 * its client ends, first among the peers that hold more than their share, which is the budget divided by the number of
 * peers. Claims that the server itself is working for are never ended.
 */

/** A budget of `max` units. */
export class SharedBudget {
  readonly #max: number;
  readonly #heldBy = new Map<string, number>();
  /** Claims that wait for their clients, the longest wait first. */
  readonly #waiting = new Set<Claim>();
  #held = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** The units that all claims hold. */
  get held(): number {
    return this.#held;
  }

  /**
   * A claim without units. Dispose it to give back its units.
   *
   * @param peer The address of the client.
   * @param end Called at most once, when others need the units and this claim waits. The claim is disposed already.
   */
  claim(peer: string, end: () => void): Claim {
    return new Claim(this, peer, end);
  }

  /** Only for {@link Claim}. @returns false when there are not enough units and no other claim waits */
  reserve(claim: Claim, units: number): boolean {
    while (this.#held + units > this.#max) {
      const longest = this.#longest();
      if (longest === undefined || longest === claim) return false;
      longest[Symbol.dispose]();
      longest.end();
    }
    this.#add(claim.peer, units);
    return true;
  }

  /** Only for {@link Claim}. Adds units that are in use already, and ends others for them. */
  force(claim: Claim, units: number): void {
    this.#add(claim.peer, units);
    while (this.#held > this.#max) {
      const longest = this.#longest();
      if (longest === undefined) return;
      longest[Symbol.dispose]();
      longest.end();
    }
  }

  /** Only for {@link Claim}. */
  release(claim: Claim, units: number): void {
    this.#waiting.delete(claim);
    this.#add(claim.peer, -units);
  }

  /** Only for {@link Claim}. */
  setWaiting(claim: Claim, isWaiting: boolean): void {
    if (isWaiting) this.#waiting.add(claim);
    else this.#waiting.delete(claim);
  }

  #add(peer: string, units: number): void {
    this.#held += units;
    const held = (this.#heldBy.get(peer) ?? 0) + units;
    if (held > 0) this.#heldBy.set(peer, held);
    else this.#heldBy.delete(peer);
  }

  /** The claim to end; undefined when none waits. */
  #longest(): Claim | undefined {
    const share = this.#max / this.#heldBy.size;
    for (const claim of this.#waiting) if ((this.#heldBy.get(claim.peer) ?? 0) > share) return claim;
    const [first] = this.#waiting;
    return first;
  }
}

/** The part of a budget that one request or connection holds. */
export class Claim implements Disposable {
  readonly peer: string;
  readonly end: () => void;
  readonly #budget: SharedBudget;
  #held = 0;
  #isDisposed = false;

  constructor(budget: SharedBudget, peer: string, end: () => void) {
    this.#budget = budget;
    this.peer = peer;
    this.end = end;
  }

  /** True while it waits for its client, and may be ended. */
  set isWaiting(isWaiting: boolean) {
    if (!this.#isDisposed) this.#budget.setWaiting(this, isWaiting);
  }

  /** Takes units. @returns false when the budget is used up and no other claim waits longer than this one */
  take(units: number): boolean {
    if (this.#isDisposed || !this.#budget.reserve(this, units)) return false;
    this.#held += units;
    return true;
  }

  /** Holds this many units from now on, whatever it held before; others end for them, and this one never. */
  hold(units: number): void {
    if (this.#isDisposed) return;
    const more = units - this.#held;
    this.#held = units;
    this.#budget.force(this, more);
  }

  /** Gives back the units. */
  [Symbol.dispose](): void {
    if (this.#isDisposed) return;
    this.#isDisposed = true;
    this.#budget.release(this, this.#held);
  }
}
