/** Tests of ReadPacer: quiet streams are read at once, busy ones in larger pieces, none faster than its reader. */
import { assertEquals, test } from "../../../tests/testing.ts";
import { type PacerClock, ReadPacer } from "./read_pacer.ts";

/** A clock that moves only by advance(). */
class ManualClock {
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

/** A pacer on a manual clock, and a socket that records whether it is paused. */
function paced(isPaced = true) {
  const time = new ManualClock();
  const socket = {
    isPaused: false,
    pause: () => void (socket.isPaused = true),
    resume: () => void (socket.isPaused = false),
  };
  return { time, socket, pacer: new ReadPacer(socket, { isPaced, clock: time.clock }) };
}

test("after several reads without a gap, the socket is paused for 10 ms after each read", () => {
  const { time, socket, pacer } = paced();
  time.advance(100);
  for (let read = 0; read <= 8; read++) {
    assertEquals(socket.isPaused, false, `before read ${read}`);
    pacer.onRead(false);
  }
  for (let round = 0; round < 3; round++) {
    assertEquals(socket.isPaused, true);
    time.advance(9);
    assertEquals(socket.isPaused, true);
    time.advance(1);
    assertEquals(socket.isPaused, false);
    pacer.onRead(false);
  }
});

test("reads with gaps never pause the socket", () => {
  const { time, socket, pacer } = paced();
  for (let read = 0; read < 100; read++) {
    time.advance(1);
    pacer.onRead(false);
    assertEquals(socket.isPaused, false);
  }
});

test("after its first gap a busy stream is read at once again", () => {
  const { time, socket, pacer } = paced();
  for (let read = 0; read <= 9; read++) pacer.onRead(false);
  time.advance(10); // the pause is over
  time.advance(1); // and no bytes were waiting
  pacer.onRead(false);
  assertEquals(socket.isPaused, false);
});

test("without pacing, reads never pause the socket", () => {
  const { socket, pacer } = paced(false);
  for (let read = 0; read < 100; read++) pacer.onRead(false);
  assertEquals(socket.isPaused, false);
});

test("the socket is paused while the reader is behind, also after a pause of the pacer has ended", () => {
  const { time, socket, pacer } = paced();
  pacer.onRead(true);
  assertEquals(socket.isPaused, true);
  pacer.onRoom();
  assertEquals(socket.isPaused, false);
  for (let read = 0; read < 20; read++) pacer.onRead(true);
  time.advance(10);
  assertEquals(socket.isPaused, true);
  pacer.onRoom();
  assertEquals(socket.isPaused, false);
});

test("a disposed pacer resumes the socket and removes its timer", () => {
  const { time, socket, pacer } = paced();
  for (let read = 0; read < 20; read++) pacer.onRead(true);
  pacer[Symbol.dispose]();
  assertEquals([socket.isPaused, time.pending], [false, 0]);
  socket.pause();
  time.advance(100);
  assertEquals(socket.isPaused, true);
});
