/**
 * ReadyKeys: the keys that wait for a worker, of all priorities, and the rule for which of them is next.
 *
 * The highest priority goes first, but lower ones age: an age is counted in takes that passed them over. After
 * `ageingTurns` such takes, the next one goes to the priority that was served longest ago. So with P priorities, the
 * n-th entry of any of them is taken after at most n·P·(ageingTurns + 1) takes, whatever is added above it: this
 * prevents the starvation of controller-runtime#3496. Ages are counted in takes and not in seconds: with seconds, an
 * old backlog would overtake all live events at once, and a slow worker would not see priorities at all.
 */
import { type Entry, Lane } from "./queue_item.ts";

/** How keys are sorted into lanes. */
export interface LaneRule<K> {
  readonly laneOf: ((key: K) => string) | undefined;
  readonly laneWeight: (lane: string) => number;
}

/** How many empty priorities are stored for reuse; only computed priorities are more than that. */
const maxEmptyLevels = 32;

/** All keys that are ready. */
export class ReadyKeys<K, C> {
  size = 0;
  readonly #rule: LaneRule<K>;
  readonly #ageingTurns: number;
  /** By rising priority. */
  readonly #levels: PriorityLevel<K, C>[] = [];
  readonly #byPriority = new Map<number, PriorityLevel<K, C>>();
  /** The highest level that is not empty. */
  #top: PriorityLevel<K, C> | undefined = undefined;
  /** Ends of the list of levels that are not empty, by last service. */
  #oldest: PriorityLevel<K, C> | undefined = undefined;
  #newest: PriorityLevel<K, C> | undefined = undefined;
  /** Takes from the top in a row while lower levels had entries. */
  #passedOver = 0;

  constructor(rule: LaneRule<K>, ageingTurns: number) {
    this.#rule = rule;
    this.#ageingTurns = ageingTurns;
  }

  append(entry: Entry<K, C>): void {
    const top = this.#top;
    const level = top !== undefined && top.priority === entry.priority ? top : this.#level(entry.priority);
    // First, because this calls the user's laneOf, which may throw.
    level.append(entry);
    this.size++;
    if (level.size > 1) return;
    this.#link(level);
    if (top === undefined || level.priority > top.priority) this.#top = level;
  }

  /** Takes out the entry that is next. */
  shift(): Entry<K, C> | undefined {
    const top = this.#top;
    if (top === undefined) return undefined;
    const level = top.size === this.size ? top : this.#nextAmongSeveral(top);
    const entry = level.shift();
    if (entry === undefined) return undefined;
    this.size--;
    if (level.size === 0) this.#emptied(level);
    else if (level !== this.#newest) this.#served(level);
    return entry;
  }

  /** Takes out a certain entry. */
  remove(entry: Entry<K, C>, lane: Lane<K, C>): void {
    const level = this.#level(entry.priority);
    level.remove(entry, lane);
    this.size--;
    if (level.size === 0) this.#emptied(level);
  }

  /** All entries, highest priority first. */
  *entries(): Generator<Entry<K, C>> {
    for (let at = this.#levels.length - 1; at >= 0; at--) yield* this.#levels[at]?.entries() ?? [];
  }

  #nextAmongSeveral(top: PriorityLevel<K, C>): PriorityLevel<K, C> {
    if (this.#passedOver < this.#ageingTurns) {
      this.#passedOver++;
      return top;
    }
    this.#passedOver = 0;
    const oldest = this.#oldest;
    return (oldest === top ? top.newer : oldest) ?? top;
  }

  #level(priority: number): PriorityLevel<K, C> {
    let level = this.#byPriority.get(priority);
    if (level === undefined) {
      level = new PriorityLevel(priority, this.#rule);
      this.#byPriority.set(priority, level);
      this.#levels.splice(this.#position(priority), 0, level);
    }
    return level;
  }

  /** The index that `priority` has, or would have, among the levels. */
  #position(priority: number): number {
    let low = 0, high = this.#levels.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#levels[middle]?.priority ?? Infinity) < priority) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #emptied(level: PriorityLevel<K, C>): void {
    this.#unlink(level);
    if (this.#levels.length > maxEmptyLevels) {
      this.#levels.splice(this.#position(level.priority), 1);
      this.#byPriority.delete(level.priority);
    }
    if (level === this.#top) this.#top = this.#highest();
  }

  #highest(): PriorityLevel<K, C> | undefined {
    if (this.size === 0) return undefined;
    for (let at = this.#levels.length - 1; at >= 0; at--) {
      const level = this.#levels[at];
      if (level !== undefined && level.size > 0) return level;
    }
    return undefined;
  }

  #served(level: PriorityLevel<K, C>): void {
    this.#unlink(level);
    this.#link(level);
  }

  #link(level: PriorityLevel<K, C>): void {
    level.older = this.#newest;
    if (this.#newest === undefined) this.#oldest = level;
    else this.#newest.newer = level;
    this.#newest = level;
  }

  #unlink(level: PriorityLevel<K, C>): void {
    const { older, newer } = level;
    if (older === undefined) this.#oldest = newer;
    else older.newer = newer;
    if (newer === undefined) this.#newest = older;
    else newer.older = older;
    level.older = undefined;
    level.newer = undefined;
  }
}

/**
 * The ready entries of one priority, shared fairly between lanes (namespaces, say).
 *
 * Weighted round robin: a lane gives up to `weight` entries per turn, then the next lane has its turn. So a lane with
 * 10,000 entries delays a lane with one entry by a single turn. Within a lane entries keep their order. A lane exists
 * only while it has entries, so that deleted namespaces leave no memory behind.
 */
class PriorityLevel<K, C> {
  readonly priority: number;
  size = 0;
  /** Neighbours in the list of levels by last service. */
  older: PriorityLevel<K, C> | undefined = undefined;
  newer: PriorityLevel<K, C> | undefined = undefined;
  readonly #rule: LaneRule<K>;
  /** The only lane when there is no rule. */
  readonly #single: Lane<K, C>;
  readonly #byName = new Map<string, Lane<K, C>>();
  /** The lane that has its turn. */
  #turn: Lane<K, C> | undefined = undefined;

  constructor(priority: number, rule: LaneRule<K>) {
    this.priority = priority;
    this.#rule = rule;
    this.#single = new Lane("");
  }

  append(entry: Entry<K, C>): void {
    const lane = this.#rule.laneOf === undefined ? this.#single : this.#lane(this.#rule.laneOf(entry.key));
    if (lane.first === undefined) this.#enter(lane);
    lane.append(entry);
    entry.lane = lane;
    this.size++;
  }

  /** Takes out the entry that is next. */
  shift(): Entry<K, C> | undefined {
    const lane = this.#turn;
    const entry = lane?.first;
    if (lane === undefined || entry === undefined) return undefined;
    this.remove(entry, lane);
    // A lane that became empty has passed on the turn already.
    if (lane === this.#turn && --lane.credit <= 0) {
      lane.credit = this.#weight(lane);
      this.#turn = lane.following;
    }
    return entry;
  }

  /** Takes out a certain entry. */
  remove(entry: Entry<K, C>, lane: Lane<K, C>): void {
    lane.remove(entry);
    entry.lane = undefined;
    this.size--;
    if (lane.first === undefined) this.#leave(lane);
  }

  /** Entries lane by lane, beginning with the lane that has its turn. */
  *entries(): Generator<Entry<K, C>> {
    const start = this.#turn;
    for (let lane = start; lane !== undefined; lane = lane.following === start ? undefined : lane.following) {
      yield* lane;
    }
  }

  #lane(name: string): Lane<K, C> {
    let lane = this.#byName.get(name);
    if (lane === undefined) this.#byName.set(name, lane = new Lane(name));
    return lane;
  }

  /** Adds a lane to the end of the round. */
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
