/**
 * TestEnvironment: an informer of a FakeApi under a virtual clock, with a handler that records its notifications.
 */
import { FakeApi, type FakeApiOptions, type Thing } from "../../../tests/fakes/list_watch.ts";
import { keyOf, type ObjectKey } from "../../api/mod.ts";
import { drain, seededRandom, VirtualClock } from "../../async/mod.ts";
import type { CacheCounter, CacheMetrics, InformerHandler, ReflectorStatus } from "../mod.ts";
import { Informer, type InformerOptions } from "../mod.ts";

/** Options of {@link startEnvironment}. */
export interface TestEnvironmentOptions extends Partial<InformerOptions<Thing>> {
  readonly api?: FakeApiOptions;
  /** Called with the API before the informer starts. */
  readonly prepare?: (api: FakeApi) => void;
  readonly seed?: number;
}

/** An informer and its server. */
export class TestEnvironment implements AsyncDisposable {
  readonly clock = new VirtualClock();
  readonly api: FakeApi;
  readonly informer: Informer<Thing>;
  /** Notifications: `+ key value`, `~ key old>new`, `- key value`, and `-? key value` for an unobserved deletion. */
  readonly received: string[] = [];
  readonly counts = new Map<CacheCounter, number>();
  readonly #stop = new AbortController();
  #running: Promise<void> = Promise.resolve();

  constructor(options: TestEnvironmentOptions = {}) {
    this.api = new FakeApi({ clock: this.clock, ...options.api });
    options.prepare?.(this.api);
    const metrics: CacheMetrics = {
      count: (name) => void this.counts.set(name, (this.counts.get(name) ?? 0) + 1),
      observe: () => {},
      set: () => {},
      forget: () => {},
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
    this.informer.addHandler(recorder(this.received), { name: "recorder" });
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  get status(): ReflectorStatus {
    return this.informer.status().reflector;
  }

  /** Reason and attempts of a waiting reflector. */
  get waiting(): string {
    const { status } = this;
    return status.kind === "waiting" ? `${status.reason} ${status.attempts}` : status.kind;
  }

  /** The cached objects, as `key value`. */
  get cached(): string[] {
    return [...this.informer.store.values()].map((thing) => `${keyOf(thing)} ${thing.spec?.value}`).sort();
  }

  /** The objects of the server, in the same form. */
  get served(): string[] {
    return [...this.api.objects().values()].map((thing) => `${keyOf(thing)} ${thing.spec?.value}`).sort();
  }

  async start(): Promise<void> {
    this.#running = this.informer.run(this.#stop.signal);
    await drain();
  }

  /** Advances the clock until the backoff of the reflector has passed. */
  async waitOutBackoff(): Promise<void> {
    const { status } = this;
    if (status.kind === "waiting") await this.clock.advance(status.nextAttemptAt - this.clock.now());
    await drain();
  }

  /** Advances the clock until a watch counts as open, and its end does not count as a short watch. */
  async becomeHealthy(): Promise<void> {
    await this.clock.advance(5_000);
  }

  /** Notifications since the last call. */
  takeReceived(): string[] {
    return this.received.splice(0);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

/** Starts an informer of a fake API. */
export async function startEnvironment(options: TestEnvironmentOptions = {}): Promise<TestEnvironment> {
  const environment = new TestEnvironment(options);
  await environment.start();
  return environment;
}

/** A handler that records its notifications. */
export function recorder(received: string[]): InformerHandler<Thing> {
  return {
    onAdd: (thing) => void received.push(`+ ${keyOf(thing)} ${thing.spec?.value}`),
    onUpdate: (old, current) => void received.push(`~ ${keyOf(current)} ${old.spec?.value}>${current.spec?.value}`),
    onDelete: ({ key, lastKnown, isFinalStateKnown }) =>
      void received.push(`-${isFinalStateKnown ? "" : "?"} ${key} ${lastKnown.spec?.value}`),
  };
}

/** `default/name`, as a key. */
export function key(name: string, namespace = "default"): ObjectKey {
  return keyOf({ metadata: { name, namespace } });
}
