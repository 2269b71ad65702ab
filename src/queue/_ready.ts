/**
 * Ready: the queued entries of all priorities, and the rule which of them is next.
 *
 * The highest priority is served first, except that lower ones age: counted in takes that passed them over. After
 * `ageingTurns` such takes the next one goes to the priority that was served longest ago, so with P priorities the
 * n-th entry of any of them is taken after at most n·P·(ageingTurns + 1) takes, whatever keeps arriving above it
 * (controller-runtime#3496 is the starvation this rules out). Turns and not seconds: entries that age by time
 * overtake live events all at once as soon as the backlog is older than the head start, and a slow worker would
 * feel priorities not at all.
 */
import type { Entry } from "./_entry.ts";
import { type Lane, type LaneRule, Lanes } from "./_lanes.ts";

/** Priorities kept while nothing is queued in them; more than that come from computed priorities. */
const emptiesKept = 32;

/** Everything that is queued. */
export class Ready<K, C> {
  size = 0;
  readonly #rule: LaneRule<K>;
  readonly #ageingTurns: number;
  /** By rising priority. */
  readonly #levels: Lanes<K, C>[] = [];
  readonly #byPriority = new Map<number, Lanes<K, C>>();
  /** The highest one that is not empty. */
  #top: Lanes<K, C> | undefined = undefined;
  /** Ends of the list of priorities that are not empty, by last service. */
  #oldest: Lanes<K, C> | undefined = undefined;
  #newest: Lanes<K, C> | undefined = undefined;
  /** Takes from the top in a row while something waited below. */
  #passedOver = 0;

  constructor(rule: LaneRule<K>, ageingTurns: number) {
    this.#rule = rule;
    this.#ageingTurns = ageingTurns;
  }

  append(entry: Entry<K, C>): void {
    const top = this.#top;
    const level = top !== undefined && top.priority === entry.priority ? top : this.#level(entry.priority);
    // First, because sorting a key into its lane is the user's code and may throw.
    level.append(entry);
    this.size++;
    if (level.size > 1) return;
    this.#link(level);
    if (top === undefined || level.priority > top.priority) this.#top = level;
  }

  /** Takes out the entry whose turn it is. */
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

  /** Takes a certain entry out of line. */
  remove(entry: Entry<K, C>, lane: Lane<K, C>): void {
    const level = lane.owner;
    level.remove(entry, lane);
    this.size--;
    if (level.size === 0) this.#emptied(level);
  }

  /** All entries, highest priority first. */
  *entries(): Generator<Entry<K, C>> {
    for (let at = this.#levels.length - 1; at >= 0; at--) yield* this.#levels[at]?.entries() ?? [];
  }

  #nextAmongSeveral(top: Lanes<K, C>): Lanes<K, C> {
    if (this.#passedOver < this.#ageingTurns) {
      this.#passedOver++;
      return top;
    }
    this.#passedOver = 0;
    const oldest = this.#oldest;
    return (oldest === top ? top.newer : oldest) ?? top;
  }

  #level(priority: number): Lanes<K, C> {
    let level = this.#byPriority.get(priority);
    if (level === undefined) {
      level = new Lanes(priority, this.#rule);
      this.#byPriority.set(priority, level);
      this.#levels.splice(this.#position(priority), 0, level);
    }
    return level;
  }

  /** Where `priority` stands, or would stand, among the levels. */
  #position(priority: number): number {
    let low = 0, high = this.#levels.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#levels[middle]?.priority ?? Infinity) < priority) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #emptied(level: Lanes<K, C>): void {
    this.#unlink(level);
    if (this.#levels.length > emptiesKept) {
      this.#levels.splice(this.#position(level.priority), 1);
      this.#byPriority.delete(level.priority);
    }
    if (level === this.#top) this.#top = this.#highest();
  }

  #highest(): Lanes<K, C> | undefined {
    if (this.size === 0) return undefined;
    for (let at = this.#levels.length - 1; at >= 0; at--) {
      const level = this.#levels[at];
      if (level !== undefined && level.size > 0) return level;
    }
    return undefined;
  }

  #served(level: Lanes<K, C>): void {
    this.#unlink(level);
    this.#link(level);
  }

  #link(level: Lanes<K, C>): void {
    level.older = this.#newest;
    if (this.#newest === undefined) this.#oldest = level;
    else this.#newest.newer = level;
    this.#newest = level;
  }

  #unlink(level: Lanes<K, C>): void {
    const { older, newer } = level;
    if (older === undefined) this.#oldest = newer;
    else older.newer = newer;
    if (newer === undefined) this.#newest = older;
    else newer.older = older;
    level.older = undefined;
    level.newer = undefined;
  }
}
