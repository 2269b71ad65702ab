/** What a ReadPacer promises: quiet streams are read at once, busy ones in pieces, and none faster than its reader. */
import { assertEquals, test } from "../../tests/testing.ts";
import { type PacerClock, ReadPacer } from "./_read_pacer.ts";

/** Time that stands still until it is told to go on. */
class StillTime {
  #now = 0;
  readonly #timers = new Map<object, { readonly dueAt: number; readonly fire: () => void }>();

  readonly clock: PacerClock = {
    now: () => this.#now,
    timer: (ms, fire) => {
      const timer = { [Symbol.dispose]: () => void this.#timers.delete(timer) };
      this.#timers.set(timer, { dueAt: this.#now + ms, fire });
      return timer;
    },
  };

  get pending(): number {
    return this.#timers.size;
  }

  advance(ms: number): void {
    this.#now += ms;
    for (const [timer, { dueAt, fire }] of this.#timers) {
      if (dueAt > this.#now) continue;
      this.#timers.delete(timer);
      fire();
    }
  }
}

/** A pacer on still time, and whether its socket is paused. */
function paced(gathers = true) {
  const time = new StillTime();
  const socket = {
    isPaused: false,
    pause: () => void (socket.isPaused = true),
    resume: () => void (socket.isPaused = false),
  };
  return { time, socket, pacer: new ReadPacer(socket, { gathers, clock: time.clock }) };
}

test("reads that follow each other without a gap make the socket rest for 10 ms, again and again", () => {
  const { time, socket, pacer } = paced();
  time.advance(100);
  for (let read = 0; read <= 8; read++) {
    assertEquals(socket.isPaused, false, `before read ${read}`);
    pacer.received(false);
  }
  for (let round = 0; round < 3; round++) {
    assertEquals(socket.isPaused, true);
    time.advance(9);
    assertEquals(socket.isPaused, true);
    time.advance(1);
    assertEquals(socket.isPaused, false);
    pacer.received(false);
  }
});

test("events that come now and then are never held up, however many there are", () => {
  const { time, socket, pacer } = paced();
  for (let read = 0; read < 100; read++) {
    time.advance(1);
    pacer.received(false);
    assertEquals(socket.isPaused, false);
  }
});

test("a stream that was busy is read at once again after its first gap", () => {
  const { time, socket, pacer } = paced();
  for (let read = 0; read <= 9; read++) pacer.received(false);
  time.advance(10); // the rest is over
  time.advance(1); // and nothing was waiting
  pacer.received(false);
  assertEquals(socket.isPaused, false);
});

test("an answer that somebody waits for never rests", () => {
  const { socket, pacer } = paced(false);
  for (let read = 0; read < 100; read++) pacer.received(false);
  assertEquals(socket.isPaused, false);
});

test("a reader that is behind holds the peer up until it has room, also through a rest", () => {
  const { time, socket, pacer } = paced();
  pacer.received(true);
  assertEquals(socket.isPaused, true);
  pacer.drained();
  assertEquals(socket.isPaused, false);
  for (let read = 0; read < 20; read++) pacer.received(true);
  time.advance(10);
  assertEquals(socket.isPaused, true);
  pacer.drained();
  assertEquals(socket.isPaused, false);
});

test("a pacer that is disposed lets go of the socket and of its timer", () => {
  const { time, socket, pacer } = paced();
  for (let read = 0; read < 20; read++) pacer.received(true);
  pacer[Symbol.dispose]();
  assertEquals([socket.isPaused, time.pending], [false, 0]);
  socket.pause();
  time.advance(100);
  assertEquals(socket.isPaused, true);
});
