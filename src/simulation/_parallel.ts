/**
 * checkInParallel(): checks a list of schedules in several processes: worker processes, if there are any, and this one for the
 * schedules that they leave.
 *
 * Guarantees: the results come in the order of the list, so the number and speed of the workers changes nothing but the time.
 * A schedule whose worker fails is checked in this process.
 */
import type { CheckResult, CheckSchedule, PlannedSchedule } from "./schedule_checker.ts";

/** The result of a schedule. */
export interface CheckedSchedule<Planned extends PlannedSchedule> {
  readonly schedule: Planned;
  readonly result: CheckResult;
}

/** A worker gets its next schedule before it has finished the current one. */
const schedulesPerWorker = 2;

/** Checks all schedules, in order. @param check for this process @param workers may fail */
export async function* checkInParallel<Planned extends PlannedSchedule>(
  schedules: Iterable<Planned>,
  check: CheckSchedule,
  workers: readonly CheckSchedule[],
): AsyncGenerator<CheckedSchedule<Planned>, void> {
  const agenda = new Agenda(schedules);
  for (const worker of workers) {
    for (let slot = 0; slot < schedulesPerWorker; slot++) void work(agenda, worker);
  }
  try {
    for (let slot = agenda.shift(); slot !== undefined; slot = agenda.shift()) {
      if (slot.isTaken) await slot.ended.promise;
      slot.result ??= await check(slot.schedule);
      yield { schedule: slot.schedule, result: slot.result };
    }
  } finally {
    agenda.isClosed = true;
  }
}

/** Never rejects: a failed schedule is given back, and the worker gets no other one. */
async function work<Planned extends PlannedSchedule>(agenda: Agenda<Planned>, check: CheckSchedule): Promise<void> {
  for (let slot = agenda.take(); slot !== undefined; slot = agenda.take()) {
    try {
      slot.result = await check(slot.schedule);
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
  result: CheckResult | undefined;
}

/** The schedules that are left, and those that a worker has begun. */
class Agenda<Planned extends PlannedSchedule> {
  readonly #rest: Iterator<Planned>;
  readonly #begun: Slot<Planned>[] = [];
  isClosed = false;

  constructor(schedules: Iterable<Planned>) {
    this.#rest = schedules[Symbol.iterator]();
  }

  /** The first schedule without a reported result, begun or not. */
  shift(): Slot<Planned> | undefined {
    return this.#begun.shift() ?? this.#next();
  }

  /** The first schedule that is not begun. */
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
    return { schedule: value, ended: Promise.withResolvers<void>(), isTaken: false, result: undefined };
  }
}
