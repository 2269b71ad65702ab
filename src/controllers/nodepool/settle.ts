/**
 * settle(): who may set what, for labels and taints alike. A pure function over names and values.
 *
 * Guarantees: a name is set only where nobody has it, or where the pool itself gave the value that is there; it is taken
 * away only while it still has the value that the pool gave, and only if no other pool and no other writer claims it.
 * Everything else belongs to others and stays.
 */

/** What is there, what is wanted, and whose it is. */
export interface Situation {
  /** On the Node now. */
  readonly live: ReadonlyMap<string, string>;
  /** To be on the Node. */
  readonly wanted: ReadonlyMap<string, string>;
  /** What the pool gave before. */
  readonly mine: ReadonlyMap<string, string>;
  /** True when another pool gave the same. */
  readonly isShared: (name: string, value: string) => boolean;
  /** True when a writer that is no pool owns the name, too. */
  readonly isOwned: (name: string) => boolean;
}

/** Something that is wanted and stays away, since somebody else has another value there. */
export interface Conflict {
  readonly name: string;
  readonly wanted: string;
  readonly live: string;
}

/** What is to be done. */
export interface Settlement {
  readonly set: ReadonlyMap<string, string>;
  readonly remove: ReadonlySet<string>;
  /** What the pool has given, when that is done. */
  readonly claims: ReadonlyMap<string, string>;
  readonly conflicts: readonly Conflict[];
}

/** Decides. */
export function settle(situation: Situation): Settlement {
  const { live, wanted, mine, isShared, isOwned } = situation;
  const set = new Map<string, string>();
  const claims = new Map<string, string>();
  const conflicts: Conflict[] = [];
  const isOurs = (name: string, value: string) => mine.get(name) === value && !isShared(name, value) && !isOwned(name);
  for (const [name, value] of wanted) {
    const held = live.get(name);
    if (held === value) {
      // The same value of somebody else is as good, and not ours to take away later.
      if (mine.get(name) === value || isShared(name, value)) claims.set(name, value);
    } else if (held === undefined || isOurs(name, held)) {
      set.set(name, value);
      claims.set(name, value);
    } else {
      conflicts.push({ name, wanted: value, live: held });
    }
  }
  const dropped = [...mine].filter(([name, value]) => !wanted.has(name) && live.get(name) === value);
  const remove = new Set(dropped.filter(([name, value]) => isOurs(name, value)).map(([name]) => name));
  return { set, remove, claims, conflicts };
}
