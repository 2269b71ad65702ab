/**
 * Lanes: the queued entries of one priority, shared out fairly between lanes (namespaces, say).
 *
 * Weighted round robin: a lane that has its turn gives up to `weight` entries, then the next one has its turn, so a
 * lane with 10,000 entries delays a lane with one by a single turn. Within a lane entries keep their order. Only
 * lanes that hold something exist: namespaces that come and go leave nothing behind.
 */
import { type Entry, EntryList } from "./_entry.ts";

/** How keys are sorted into lanes. */
export interface LaneRule<K> {
  readonly laneOf: ((key: K) => string) | undefined;
  readonly laneWeight: (lane: string) => number;
}

/** One lane of one priority: its entries in order, and its place in the round. */
export class Lane<K, C> extends EntryList<K, C> {
  readonly name: string;
  readonly owner: Lanes<K, C>;
  /** Entries it may still give in this turn. */
  credit = 0;
  following: Lane<K, C>;
  preceding: Lane<K, C>;

  constructor(name: string, owner: Lanes<K, C>) {
    super();
    this.name = name;
    this.owner = owner;
    this.following = this;
    this.preceding = this;
  }
}

/** All queued entries of one priority. */
export class Lanes<K, C> {
  readonly priority: number;
  size = 0;
  /** Neighbours in the list of priorities by last service; see `_ready.ts`. */
  older: Lanes<K, C> | undefined = undefined;
  newer: Lanes<K, C> | undefined = undefined;
  readonly #rule: LaneRule<K>;
  /** The only lane there is without a rule. */
  readonly #single: Lane<K, C>;
  readonly #byName = new Map<string, Lane<K, C>>();
  /** Whose turn it is. */
  #turn: Lane<K, C> | undefined = undefined;

  constructor(priority: number, rule: LaneRule<K>) {
    this.priority = priority;
    this.#rule = rule;
    this.#single = new Lane("", this);
  }

  append(entry: Entry<K, C>): void {
    const lane = this.#rule.laneOf === undefined ? this.#single : this.#lane(this.#rule.laneOf(entry.key));
    if (lane.first === undefined) this.#enter(lane);
    lane.append(entry);
    entry.lane = lane;
    this.size++;
  }

  /** The entry whose turn it is. */
  shift(): Entry<K, C> | undefined {
    const lane = this.#turn;
    const entry = lane?.first;
    if (lane === undefined || entry === undefined) return undefined;
    this.remove(entry, lane);
    // A lane that ran empty has passed the turn on already.
    if (lane === this.#turn && --lane.credit <= 0) {
      lane.credit = this.#weight(lane);
      this.#turn = lane.following;
    }
    return entry;
  }

  /** Takes `entry` out of line. */
  remove(entry: Entry<K, C>, lane: Lane<K, C>): void {
    lane.remove(entry);
    entry.lane = undefined;
    this.size--;
    if (lane.first === undefined) this.#leave(lane);
  }

  /** Entries in the order of the round as it stands, lane by lane. */
  *entries(): Generator<Entry<K, C>> {
    const start = this.#turn;
    for (let lane = start; lane !== undefined; lane = lane.following === start ? undefined : lane.following) {
      yield* lane;
    }
  }

  #lane(name: string): Lane<K, C> {
    let lane = this.#byName.get(name);
    if (lane === undefined) this.#byName.set(name, lane = new Lane(name, this));
    return lane;
  }

  /** Lets a lane join the round, last. */
  #enter(lane: Lane<K, C>): void {
    lane.credit = this.#weight(lane);
    const turn = this.#turn;
    if (turn === undefined) {
      this.#turn = lane;
      return;
    }
    lane.following = turn;
    lane.preceding = turn.preceding;
    turn.preceding.following = lane;
    turn.preceding = lane;
  }

  #leave(lane: Lane<K, C>): void {
    if (lane.following === lane) {
      this.#turn = undefined;
    } else {
      if (this.#turn === lane) this.#turn = lane.following;
      lane.preceding.following = lane.following;
      lane.following.preceding = lane.preceding;
      lane.following = lane;
      lane.preceding = lane;
    }
    if (lane !== this.#single) this.#byName.delete(lane.name);
  }

  #weight(lane: Lane<K, C>): number {
    return lane === this.#single ? 1 : Math.max(1, Math.floor(this.#rule.laneWeight(lane.name)));
  }
}
