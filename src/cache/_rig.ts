/**
 * Test rig: an informer on a FakeApi under a virtual clock, and a record of what one handler heard. Used by the tests
 * of this folder only.
 */
import { FakeApi, type FakeApiOptions, type Thing } from "../../tests/fakes/list_watch.ts";
import { keyOf, type ObjectKey } from "../api/mod.ts";
import { drain, seededRandom, VirtualClock } from "../async/mod.ts";
import type { CacheCounter, CacheMetrics, InformerHandler, ReflectorStatus } from "./mod.ts";
import { Informer, type InformerOptions } from "./mod.ts";

/** Options of {@link startRig}. */
export interface RigOptions extends Partial<InformerOptions<Thing>> {
  readonly api?: FakeApiOptions;
  /** Called with the API before the informer starts. */
  readonly prepare?: (api: FakeApi) => void;
  readonly seed?: number;
}

/** A running informer. */
export class Rig implements AsyncDisposable {
  readonly clock = new VirtualClock();
  readonly api: FakeApi;
  readonly informer: Informer<Thing>;
  /** What the handler heard: `+ key value`, `~ key old>new`, `- key value` and `-? key value` for an unseen deletion. */
  readonly heard: string[] = [];
  readonly counts = new Map<CacheCounter, number>();
  readonly #stop = new AbortController();
  #running: Promise<void> = Promise.resolve();

  constructor(options: RigOptions = {}) {
    this.api = new FakeApi({ clock: this.clock, ...options.api });
    options.prepare?.(this.api);
    const metrics: CacheMetrics = {
      count: (name) => void this.counts.set(name, (this.counts.get(name) ?? 0) + 1),
      observe: () => {},
      set: () => {},
    };
    this.informer = new Informer<Thing>({
      name: "things.example.dev",
      listWatch: this.api,
      clock: this.clock,
      random: seededRandom(options.seed ?? 1),
      freeze: true,
      metrics,
      ...options,
    });
    this.informer.addHandler(recorder(this.heard), { name: "recorder" });
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  get status(): ReflectorStatus {
    return this.informer.status().reflector;
  }

  /** Reason and attempts of a reflector that waits. */
  get waits(): string {
    const { status } = this;
    return status.kind === "waiting" ? `${status.reason} ${status.attempts}` : status.kind;
  }

  /** What is cached, as `key value`. */
  get cached(): string[] {
    return [...this.informer.store.values()].map((thing) => `${keyOf(thing)} ${thing.spec?.value}`).sort();
  }

  /** What the server has, in the same form. */
  get served(): string[] {
    return [...this.api.objects().values()].map((thing) => `${keyOf(thing)} ${thing.spec?.value}`).sort();
  }

  async start(): Promise<void> {
    this.#running = this.informer.run(this.#stop.signal);
    await drain();
  }

  /** Advances until the reflector has waited out its backoff, however long that is. */
  async waitOut(): Promise<void> {
    const { status } = this;
    if (status.kind === "waiting") await this.clock.advance(status.nextAttemptAt - this.clock.now());
    await drain();
  }

  /** Lets so much time pass that an open watch counts as open, and its end as no short one. */
  async healthy(): Promise<void> {
    await this.clock.advance(5_000);
  }

  /** What was heard since the last call. */
  news(): string[] {
    return this.heard.splice(0);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

/** Starts an informer on a fake API. */
export async function startRig(options: RigOptions = {}): Promise<Rig> {
  const rig = new Rig(options);
  await rig.start();
  return rig;
}

/** A handler that writes down what it hears. */
export function recorder(heard: string[]): InformerHandler<Thing> {
  return {
    added: (thing) => void heard.push(`+ ${keyOf(thing)} ${thing.spec?.value}`),
    updated: (old, current) => void heard.push(`~ ${keyOf(current)} ${old.spec?.value}>${current.spec?.value}`),
    deleted: ({ key, lastKnown, seen }) => void heard.push(`-${seen ? "" : "?"} ${key} ${lastKnown.spec?.value}`),
  };
}

/** `default/name`, as a key. */
export function key(name: string, namespace = "default"): ObjectKey {
  return keyOf({ metadata: { name, namespace } });
}
