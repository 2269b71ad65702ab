/**
 * Random operations on a WorkQueue, compared with a model after each of them.
 *
 * The model implements the contract of the queue in the simplest way: arrays, searched from end to end. Invariants,
 * beside equal results: no two workers have one key, the counts equal the listing, and no timer remains at the end.
 * A failure names its seed; MODEL_RUNS=50000 makes it the nightly run.
 */
import { assert, assertEquals, test } from "../../tests/testing.ts";
import { type Random, seededRandom, VirtualClock } from "../async/mod.ts";
import { environment } from "../runtime/mod.ts";
import { ExponentialRateLimiter, type QueueCounts, type QueueItem, WorkQueue } from "./mod.ts";

const maxCauses = 3;

interface Run {
  readonly key: string;
  readonly priority: number;
  readonly causes: readonly number[];
}

interface ModelLane {
  readonly name: string;
  runs: Run[];
  given: number;
}

interface ModelLevel {
  readonly priority: number;
  lanes: ModelLane[];
  servedAt: number;
}

interface ModelDelay extends Run {
  readonly dueAt: number;
  readonly sequence: number;
}

interface Shape {
  readonly lanes: boolean;
  readonly weight: number;
  readonly ageingTurns: number;
}

class Model {
  now = 0;
  levels: ModelLevel[] = [];
  readonly running = new Map<string, { dirty: Run | undefined }>();
  delays: ModelDelay[] = [];
  readonly parked = new Map<string, Run | undefined>();
  readonly shape: Shape;
  shuttingDown = false;
  #ticks = 0;
  #passedOver = 0;

  constructor(shape: Shape) {
    this.shape = shape;
  }

  laneOf(key: string): string {
    return this.shape.lanes ? key.slice(0, 1) : "";
  }

  queued(): Run[] {
    const levels = this.levels.toSorted((a, b) => b.priority - a.priority);
    return levels.flatMap((level) => level.lanes.flatMap((lane) => lane.runs));
  }

  add(run: Run): void {
    if (this.shuttingDown) return;
    const { key } = run;
    if (this.parked.has(key)) return void this.parked.set(key, merged(this.parked.get(key), run));
    const running = this.running.get(key);
    if (running !== undefined) return void (running.dirty = merged(running.dirty, run));
    const queued = this.queued().find((other) => other.key === key);
    if (queued === undefined) return this.#push(run);
    const both = merged(queued, run);
    if (both.priority > queued.priority) {
      this.#remove(key);
      this.#push(both);
    } else this.#replace(both);
  }

  addAfter(run: Run, ms: number): void {
    if (this.shuttingDown) return;
    if (ms <= 0) return this.add(run);
    const old = this.delays.find((delay) => delay.key === run.key);
    const dueAt = this.now + ms;
    const isEarlier = old === undefined || dueAt < old.dueAt;
    const time = isEarlier ? { dueAt, sequence: this.#ticks++ } : { dueAt: old.dueAt, sequence: old.sequence };
    this.delays = this.delays.filter((delay) => delay !== old).concat({ ...merged(old, run), ...time });
  }

  advance(ms: number, hand: () => void): void {
    const until = this.now + ms;
    while (this.delays.some((delay) => delay.dueAt <= until)) {
      this.now = Math.min(...this.delays.map((delay) => delay.dueAt));
      const due = this.delays.filter((delay) => delay.dueAt <= this.now).sort((a, b) => a.sequence - b.sequence);
      this.delays = this.delays.filter((delay) => delay.dueAt > this.now);
      for (const { key, priority, causes } of due) this.add({ key, priority, causes });
      hand();
    }
    this.now = until;
  }

  take(): Run | undefined {
    const [top, ...below] = this.levels.toSorted((a, b) => b.priority - a.priority);
    if (top === undefined) return undefined;
    let level = top;
    if (below.length > 0 && this.#passedOver++ >= this.shape.ageingTurns) {
      this.#passedOver = 0;
      level = below.reduce((oldest, other) => other.servedAt < oldest.servedAt ? other : oldest);
    }
    const lane = level.lanes[0];
    const run = lane?.runs.shift();
    assert(lane !== undefined && run !== undefined);
    level.servedAt = this.#ticks++;
    if (++lane.given >= this.shape.weight) {
      lane.given = 0;
      level.lanes.push(...level.lanes.splice(0, 1));
    }
    this.#sweep();
    this.running.set(run.key, { dirty: undefined });
    return run;
  }

  finish(key: string): void {
    const dirty = this.running.get(key)?.dirty;
    this.running.delete(key);
    if (dirty !== undefined) this.#push(dirty);
  }

  park(key: string): void {
    let held = this.parked.get(key);
    const running = this.running.get(key);
    const due = running === undefined ? this.queued().find((run) => run.key === key) : running.dirty;
    if (due !== undefined) held = merged(held, due);
    if (running === undefined) this.#remove(key);
    else running.dirty = undefined;
    this.parked.set(key, held);
  }

  unpark(key: string): boolean {
    const held = this.parked.get(key);
    const wasParked = this.parked.delete(key);
    if (held !== undefined) this.add(held);
    return wasParked;
  }

  counts(): QueueCounts {
    return {
      queued: this.queued().length,
      running: this.running.size,
      runningDirty: [...this.running.values()].filter((running) => running.dirty !== undefined).length,
      waiting: this.delays.length,
      parked: this.parked.size,
    };
  }

  #push(run: Run): void {
    let level = this.levels.find((other) => other.priority === run.priority);
    if (level === undefined) {
      this.levels.push(level = { priority: run.priority, lanes: [], servedAt: this.#ticks++ });
    }
    const name = this.laneOf(run.key);
    let lane = level.lanes.find((other) => other.name === name);
    if (lane === undefined) level.lanes.push(lane = { name, runs: [], given: 0 });
    lane.runs.push(run);
  }

  #remove(key: string): void {
    for (const lane of this.levels.flatMap((level) => level.lanes)) {
      lane.runs = lane.runs.filter((run) => run.key !== key);
    }
    this.#sweep();
  }

  #replace(run: Run): void {
    for (const lane of this.levels.flatMap((level) => level.lanes)) {
      lane.runs = lane.runs.map((other) => other.key === run.key ? run : other);
    }
  }

  #sweep(): void {
    for (const level of this.levels) level.lanes = level.lanes.filter((lane) => lane.runs.length > 0);
    this.levels = this.levels.filter((level) => level.lanes.length > 0);
  }
}

/** One run for two requests: the higher priority, and the first cause with the latest ones. */
function merged(old: Run | undefined, run: Run): Run {
  if (old === undefined) return run;
  const all = [...old.causes, ...run.causes];
  const causes = all.length <= maxCauses ? all : [...all.slice(0, 1), ...all.slice(1 - maxCauses)];
  return { key: run.key, priority: Math.max(old.priority, run.priority), causes };
}

/** One random run: a queue and its model, driven alike. */
class Trial {
  readonly #random: Random;
  readonly #clock = new VirtualClock();
  readonly #model: Model;
  readonly #queue: WorkQueue<string, number>;
  readonly #held: QueueItem<string, number>[] = [];
  readonly #abort = new AbortController();
  /** What blocked takes got, and what they should have got. */
  readonly #got: (Run | undefined)[] = [];
  readonly #wanted: (Run | undefined)[] = [];
  #blocked = 0;
  #cause = 0;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
    const shape = { lanes: this.#draw(2) === 0, weight: 1 + this.#draw(3), ageingTurns: this.#draw(5) };
    this.#model = new Model(shape);
    this.#queue = new WorkQueue({
      name: "model",
      clock: this.#clock,
      rateLimiter: new ExponentialRateLimiter<string>({ initialMs: 8, maxMs: 100 }),
      ageingTurns: shape.ageingTurns,
      maxCauses,
      ...(shape.lanes ? { laneOf: (key: string) => this.#model.laneOf(key), laneWeight: () => shape.weight } : {}),
    });
  }

  async run(steps: number): Promise<void> {
    for (let step = 0; step < steps; step++) {
      await this.#step(this.#draw(100));
      await this.#compare();
    }
    this.#shutDown();
    while (this.#held.length > 0) this.#finish();
    for (let item = this.#take(); item !== undefined; item = this.#take()) this.#finish();
    await this.#compare();
    assertEquals(this.#clock.pendingTimers, 0);
  }

  async #step(choice: number): Promise<void> {
    if (choice < 30) this.#add(this.#run());
    else if (choice < 45) this.#addAfter(this.#run(), this.#draw(60) - 5);
    else if (choice < 50) this.#addRateLimited(this.#run());
    else if (choice < 65) this.#blocked === 0 && this.#take();
    else if (choice < 70) this.#takeBlocking();
    else if (choice < 88) this.#finish();
    else if (choice < 93) await this.#advance(this.#draw(40));
    else if (choice < 96) this.#park(this.#key());
    else if (choice < 99) this.#unpark(this.#key());
    else if (this.#draw(4) === 0) this.#shutDown();
  }

  #add(run: Run): void {
    this.#queue.add(run.key, { priority: run.priority, cause: run.causes[0] });
    this.#model.add(run);
    this.#hand();
  }

  #addAfter(run: Run, ms: number): void {
    this.#queue.addAfter(run.key, ms, { priority: run.priority, cause: run.causes[0] });
    this.#model.addAfter(run, ms);
    this.#hand();
  }

  #addRateLimited(run: Run): void {
    const ms = Math.min(100, 8 * 2 ** this.#queue.retries(run.key));
    this.#queue.addRateLimited(run.key, { priority: run.priority, cause: run.causes[0] });
    this.#model.addAfter(run, ms);
    if (this.#draw(3) === 0) this.#queue.forget(run.key);
  }

  #take(): QueueItem<string, number> | undefined {
    const item = this.#queue.tryTake();
    assertEquals(shown(item), this.#model.take());
    if (item !== undefined) this.#held.push(item);
    return item;
  }

  #takeBlocking(): void {
    this.#blocked++;
    this.#queue.take(this.#abort.signal).then((item) => {
      this.#got.push(shown(item));
      if (item !== undefined) this.#held.push(item);
    });
    if (this.#model.shuttingDown && this.#model.queued().length === 0) this.#release();
    this.#hand();
  }

  #finish(): void {
    const [item] = this.#held.splice(this.#draw(this.#held.length), 1);
    if (item === undefined) return;
    item[Symbol.dispose]();
    this.#model.finish(item.key);
    if (this.#draw(10) === 0) item[Symbol.dispose]();
    this.#hand();
  }

  async #advance(ms: number): Promise<void> {
    this.#model.advance(ms, () => this.#hand());
    await this.#clock.advance(ms);
  }

  #park(key: string): void {
    this.#queue.park(key, "oscillates");
    this.#model.park(key);
  }

  #unpark(key: string): void {
    assertEquals(this.#queue.unpark(key), this.#model.unpark(key));
    this.#hand();
  }

  #shutDown(): void {
    this.#queue.shutDown();
    this.#model.shuttingDown = true;
    this.#model.delays = [];
    this.#release();
  }

  /** The model's side of blocked takes: first come, first served. */
  #hand(): void {
    while (this.#blocked > 0 && this.#model.queued().length > 0) {
      this.#blocked--;
      this.#wanted.push(this.#model.take());
    }
  }

  #release(): void {
    for (; this.#blocked > 0; this.#blocked--) this.#wanted.push(undefined);
  }

  async #compare(): Promise<void> {
    for (let hop = 0; hop < 3; hop++) await undefined;
    assertEquals(this.#got, this.#wanted);
    assertEquals(this.#queue.counts, this.#model.counts());
    assertEquals(new Set(this.#held.map((item) => item.key)).size, this.#held.length, "a key is with two workers");
    const listed = this.#queue.snapshot();
    const queued = listed.filter((entry) => entry.state.kind === "queued");
    assertEquals(
      queued.map(({ key, priority, causes }) => ({ key, priority, causes })),
      this.#model.queued().map(({ key, priority, causes }) => ({ key, priority, causes })),
    );
    const running = listed.filter((entry) => entry.state.kind === "running" || entry.state.kind === "runningDirty");
    assertEquals(running.map((entry) => entry.key).sort(), [...this.#model.running.keys()].sort());
    assertEquals(this.#clock.pendingTimers, this.#model.delays.length > 0 ? 1 : 0);
  }

  #run(): Run {
    return { key: this.#key(), priority: [0, 0, 5, -100][this.#draw(4)] ?? 0, causes: [this.#cause++] };
  }

  #key(): string {
    return (["a", "b", "c"][this.#draw(3)] ?? "") + this.#draw(4);
  }

  #draw(below: number): number {
    return Math.floor(this.#random.next() * below);
  }
}

function shown(item: QueueItem<string, number> | undefined): Run | undefined {
  return item === undefined ? undefined : { key: item.key, priority: item.priority, causes: item.causes };
}

test("[38, 39, 40, 42, 45] 2,000 random runs of the queue agree with its model", async () => {
  const runs = Number(environment()["MODEL_RUNS"] ?? 2_000);
  for (let seed = 1; seed <= runs; seed++) {
    try {
      await new Trial(seed).run(60);
    } catch (error) {
      throw new Error(`Cannot match the model: seed ${seed}`, { cause: error });
    }
  }
});
