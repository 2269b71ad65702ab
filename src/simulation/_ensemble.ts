/**
 * Ensemble: several players of one list of schedules: helpers, where there are any, and this process for what they leave. What
 * comes out has the order of the list, whoever played what and however fast, so the number of players changes nothing but
 * the time.
 *
 * Guarantees: what a helper that fails was about to play is played here, one at a time.
 */
import type { PlannedSchedule, Play } from "./player.ts";
import type { Violation } from "./violation.ts";

/** A schedule that was played. */
export interface Played<Planned extends PlannedSchedule> {
  readonly schedule: Planned;
  readonly violations: readonly Violation[];
}

/** A helper has the next question before it has answered this one. */
const questionsPerHelper = 2;

/** Plays all of them, in order. @param play what helpers leave @param helpers players that may fail */
export async function* playTogether<Planned extends PlannedSchedule>(
  schedules: Iterable<Planned>,
  play: Play,
  helpers: readonly Play[],
): AsyncGenerator<Played<Planned>, void> {
  const list = new Agenda(schedules);
  for (const helper of helpers) {
    for (let question = 0; question < questionsPerHelper; question++) void helping(list, helper);
  }
  try {
    for (let slot = list.shift(); slot !== undefined; slot = list.shift()) {
      if (slot.isTaken) await slot.ended.promise;
      slot.violations ??= await play(slot.schedule);
      yield { schedule: slot.schedule, violations: slot.violations };
    }
  } finally {
    list.isClosed = true;
  }
}

/** Never rejects: what goes wrong is given back. */
async function helping<Planned extends PlannedSchedule>(list: Agenda<Planned>, play: Play): Promise<void> {
  for (let slot = list.take(); slot !== undefined; slot = list.take()) {
    try {
      slot.violations = await play(slot.schedule);
    } catch {
      slot.isTaken = false;
    }
    slot.ended.resolve();
    if (!slot.isTaken) return;
  }
}

interface Slot<Planned extends PlannedSchedule> {
  readonly schedule: Planned;
  readonly ended: PromiseWithResolvers<void>;
  isTaken: boolean;
  violations: readonly Violation[] | undefined;
}

/** What is to be played, and what of it was begun. */
class Agenda<Planned extends PlannedSchedule> {
  readonly #rest: Iterator<Planned>;
  readonly #begun: Slot<Planned>[] = [];
  isClosed = false;

  constructor(schedules: Iterable<Planned>) {
    this.#rest = schedules[Symbol.iterator]();
  }

  /** The first that was not told of yet, begun or not. */
  shift(): Slot<Planned> | undefined {
    return this.#begun.shift() ?? this.#next();
  }

  /** The first that nobody plays. */
  take(): Slot<Planned> | undefined {
    if (this.isClosed) return undefined;
    const slot = this.#next();
    if (slot === undefined) return undefined;
    slot.isTaken = true;
    this.#begun.push(slot);
    return slot;
  }

  #next(): Slot<Planned> | undefined {
    const { value, done } = this.#rest.next();
    if (done === true) return undefined;
    return { schedule: value, ended: Promise.withResolvers<void>(), isTaken: false, violations: undefined };
  }
}
