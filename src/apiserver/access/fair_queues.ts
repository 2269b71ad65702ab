/**
 * FairQueues: the seats of one priority level, and the queues of the requests that wait for one. Each flow is dealt a hand of
 * queues and uses the shortest, so that a flow with many requests fills few queues of the others; seats go to the queue that
 * had the least service, in virtual time (KEP 1040, as apiserver `util/flowcontrol/fairqueuing/queueset`).
 *
 * Guarantees: while a seat is free and no request waits, taking one costs a comparison and an addition.
 *
 * Caveats: each request takes one seat, however many objects it lists. Requests that got a seat at once belong to no queue.
 */
import type { Clock } from "../../async/mod.ts";

/** How a level queues requests. */
export interface Queuing {
  readonly queues: number;
  readonly handSize: number;
  readonly queueLengthLimit: number;
}

/** The limits of a level. */
export interface LevelLimits {
  readonly seats: number;
  /** Absent: what finds no seat is refused. */
  readonly queuing?: Queuing;
}

/** A place for one request: it is given back once. */
export interface Seat {
  release(): void;
}

/** Milliseconds of service that a request is expected to need; what it needed is corrected afterwards. */
const expectedMs = 3;

interface Waiter {
  readonly queue: Queue;
  readonly arrivedAt: number;
  seated(): void;
}

interface Queue {
  readonly waiting: Waiter[];
  executing: number;
  /** The virtual time at which its next request would start. */
  nextStart: number;
}

/** The seats and queues of a level. */
export class FairQueues {
  readonly #clock: Clock;
  #limits: LevelLimits = { seats: 0 };
  #queues: Queue[] = [];
  #executing = 0;
  #waiting = 0;
  #requests = 0;
  /** The queue that was served last. */
  #last = -1;
  #virtualTime = 0;
  #updatedAt = 0;
  readonly #plain: Seat = { release: () => this.#finish() };

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The number of requests that wait. */
  get waiting(): number {
    return this.#waiting;
  }

  /** The number of requests that have a seat. */
  get executing(): number {
    return this.#executing;
  }

  /** Sets the limits; requests that have a seat or wait keep it. */
  configure(limits: LevelLimits): void {
    this.#limits = limits;
    const count = limits.queuing?.queues ?? 0;
    // Requests in surplus queues are still served.
    while (this.#queues.length < count) this.#queues.push({ waiting: [], executing: 0, nextStart: 0 });
    this.#dispatch();
  }

  /**
   * Takes a seat.
   *
   * @param flow names the flow of the request @param maxWaitMs it is refused after this time
   * @returns undefined when the request is refused
   */
  take(flow: string, maxWaitMs: number, signal: () => AbortSignal): Seat | undefined | Promise<Seat | undefined> {
    const { seats, queuing } = this.#limits;
    if (queuing === undefined) {
      // A level without seats still serves one request at a time.
      if (this.#executing >= Math.max(1, seats)) return undefined;
      this.#executing++;
      return this.#plain;
    }
    if (this.#waiting === 0 && this.#executing < seats) {
      this.#executing++;
      return this.#plain;
    }
    this.#advance();
    const queue = this.#queueOf(flow, queuing);
    if (this.#executing >= seats && queue.waiting.length >= queuing.queueLengthLimit) return undefined;
    const seat = this.#wait(queue, maxWaitMs, signal());
    this.#dispatch();
    return seat;
  }

  #wait(queue: Queue, maxWaitMs: number, signal: AbortSignal): Promise<Seat | undefined> {
    if (queue.waiting.length === 0 && queue.executing === 0) queue.nextStart = this.#virtualTime;
    return new Promise((resolve) => {
      const leave = () => {
        const at = queue.waiting.indexOf(waiter);
        if (at < 0) return;
        this.#advance();
        queue.waiting.splice(at, 1);
        this.#waiting--;
        done(undefined);
      };
      const timer = this.#clock.timer(maxWaitMs, leave);
      const done = (seat: Seat | undefined) => {
        timer[Symbol.dispose]();
        signal.removeEventListener("abort", leave);
        resolve(seat);
      };
      const waiter: Waiter = {
        queue,
        arrivedAt: this.#virtualTime,
        seated: () => {
          const startedAt = this.#clock.monotonic();
          done({ release: () => this.#finish(queue, this.#clock.monotonic() - startedAt) });
        },
      };
      queue.waiting.push(waiter);
      this.#waiting++;
      signal.addEventListener("abort", leave, { once: true });
      if (signal.aborted) leave();
    });
  }

  /** The queue of the flow's hand with the fewest waiting requests. */
  #queueOf(flow: string, { queues, handSize }: Queuing): Queue {
    const hand = dealHand(flow, queues, handSize);
    // Flows with overlapping hands do not all begin with the same queue.
    const offset = this.#requests++ % hand.length;
    let best: Queue | undefined;
    for (let index = 0; index < hand.length; index++) {
      const queue = this.#queues[hand[(offset + index) % hand.length] ?? 0];
      if (queue !== undefined && (best === undefined || queue.waiting.length < best.waiting.length)) best = queue;
    }
    if (best === undefined) throw new Error(`Cannot queue a request: the level has no queues`);
    return best;
  }

  #dispatch(): void {
    while (this.#waiting > 0 && this.#executing < this.#limits.seats) {
      const queue = this.#nextQueue();
      const waiter = queue?.waiting.shift();
      if (queue === undefined || waiter === undefined) return;
      this.#waiting--;
      this.#executing++;
      queue.executing++;
      queue.nextStart += expectedMs;
      bound(queue);
      waiter.seated();
    }
  }

  /** The queue whose oldest request would end first; among equals, the one that was served the longest time ago. */
  #nextQueue(): Queue | undefined {
    let best: Queue | undefined;
    let bestAt = this.#last;
    for (let step = 1; step <= this.#queues.length; step++) {
      const at = (this.#last + step) % this.#queues.length;
      const queue = this.#queues[at];
      if (queue === undefined || queue.waiting.length === 0) continue;
      if (best === undefined || queue.nextStart < best.nextStart) [best, bestAt] = [queue, at];
    }
    this.#last = bestAt;
    return best;
  }

  #finish(queue?: Queue, servedMs = 0): void {
    this.#executing--;
    if (this.#waiting === 0 && queue === undefined) return;
    this.#advance();
    if (queue !== undefined) {
      queue.executing--;
      queue.nextStart += servedMs - expectedMs;
      bound(queue);
    }
    this.#dispatch();
  }

  /** Virtual time runs as fast as each active queue is served. */
  #advance(): void {
    const now = this.#clock.monotonic();
    const passedMs = now - this.#updatedAt;
    this.#updatedAt = now;
    let [active, requested] = [0, 0];
    for (const { waiting, executing } of this.#queues) {
      requested += waiting.length + executing;
      if (waiting.length > 0 || executing > 0) active++;
    }
    if (active > 0) this.#virtualTime += passedMs * Math.min(requested, this.#limits.seats) / active;
  }
}

/** No request starts before it has arrived: a queue that was served less than its share does not save that up. */
function bound(queue: Queue): void {
  const [oldest] = queue.waiting;
  if (oldest !== undefined) queue.nextStart = Math.max(queue.nextStart, oldest.arrivedAt);
}

/** Different queues for a flow, always the same ones. */
export function dealHand(flow: string, queues: number, handSize: number): readonly number[] {
  let entropy = hashOf(flow, 0x811c9dc5) * 2 ** 21 + (hashOf(flow, 0x01000193) & 0x1f_ffff);
  const hand: number[] = [];
  const size = Math.min(handSize, queues);
  for (let dealt = 0; dealt < size; dealt++) {
    const left = queues - dealt;
    let card = entropy % left;
    entropy = Math.floor(entropy / left);
    for (const other of [...hand].sort((one, next) => one - next)) if (card >= other) card++;
    hand.push(card);
  }
  return hand;
}

/** FNV-1a, 32 bits. */
function hashOf(text: string, seed: number): number {
  let hash = seed;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}
