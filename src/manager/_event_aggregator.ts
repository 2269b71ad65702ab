/**
 * EventAggregator: many Events that differ in their note alone become one. A controller that says "cannot reach 10.0.0.1",
 * "cannot reach 10.0.0.2" and so on would otherwise fill the cluster with Events that say the same.
 *
 * Guarantees: the first nine different notes about one object, with the same type, reason and action, are told as they
 * are; from the tenth on, as long as none is more than 600 s after the one before, they are told as one Event that begins
 * with "(combined from similar events): " and counts. Figures and words as client-go's EventCorrelator (tools/record).
 */
import type { Clock } from "../async/mod.ts";
import type { EventNote } from "../controller/mod.ts";

/** A note as it is told, and the series that it counts for. */
export interface Correlated {
  readonly key: string;
  readonly note: EventNote;
}

/** Notes that differ in their text alone. */
interface Group {
  /** The different texts, at most {@link mostTexts}. */
  readonly texts: Set<string>;
  /** When the last one came, in milliseconds. */
  lastAt: number;
}

/** Different texts from which on they are combined. */
const mostTexts = 10;
/** Milliseconds of silence after which a group starts over. */
const groupLifeMs = 600_000;
/** Groups remembered at most; the one that was quiet longest goes first. */
const mostGroups = 4096;
const prefix = "(combined from similar events): ";

export class EventAggregator {
  readonly #clock: Clock;
  readonly #groups = new Map<string, Group>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Decides whether a note is told by itself or together with those like it. */
  correlate(note: EventNote): Correlated {
    const similar = similarityOf(note);
    const { texts } = this.#observed(similar);
    texts.add(note.note);
    if (texts.size < mostTexts) return { key: JSON.stringify([...similar, note.note]), note };
    // Which one goes does not matter: nine others keep the group at its limit.
    const [first = ""] = texts;
    texts.delete(first);
    return { key: JSON.stringify(similar), note: { ...note, note: `${prefix}${note.note}` } };
  }

  #observed(similar: readonly string[]): Group {
    const id = JSON.stringify(similar);
    const now = this.#clock.monotonic();
    const known = this.#groups.get(id);
    const isFresh = known !== undefined && now - known.lastAt <= groupLifeMs;
    const group: Group = isFresh ? known : { texts: new Set(), lastAt: now };
    group.lastAt = now;
    // Re-inserted, so that the group that was quiet longest is the first in the map.
    this.#groups.delete(id);
    this.#groups.set(id, group);
    if (this.#groups.size > mostGroups) this.#forgetQuietest();
    return group;
  }

  #forgetQuietest(): void {
    const quietest = this.#groups.keys().next().value;
    if (quietest !== undefined) this.#groups.delete(quietest);
  }
}

/** All that tells notes apart but their text. Who reports is the same for all notes of a recorder. */
function similarityOf({ regarding, type, reason, action = "" }: EventNote): readonly string[] {
  const { uid = "", namespace = "", name = "" } = regarding.metadata;
  return [uid, namespace, name, regarding.apiVersion, regarding.kind, type, reason, action];
}
