/**
 * ObjectDaemons: the daemons of one controller (`daemon.ts`), from their start in a reconcile to their end.
 *
 *   ensure -> running -> (throws) -> waiting -> running -> ... -> stopping -> gone
 *                     `-> (returns) -> ended
 *
 * A daemon holds the slot of its key like a reconcile, so that the slot is given away only after it has ended. It is gone
 * when its function has returned, or at the end of its grace period.
 */
import { keyOf, type KubeObject, type ObjectKey } from "../api/mod.ts";
import { Backoff, type Clock, Latch, onAbort, type Random, type Scope, scope, untilAborted } from "../async/mod.ts";
import type { Client } from "../client/mod.ts";
import type { Logger } from "../observe/mod.ts";
import type { DaemonDefinition, Daemons } from "./daemon.ts";
import type { KeyHold } from "./shards.ts";
import type { Toolbox } from "./toolbox.ts";

/** How many daemons are in which state. */
export interface DaemonCounts {
  /** Their function runs. */
  readonly running: number;
  /** They have failed, and wait for their restart. */
  readonly waiting: number;
  /** They have been told to end. */
  readonly stopping: number;
}

/** What ObjectDaemons need of their controller. */
export interface ObjectDaemonsOptions {
  readonly definition: DaemonDefinition;
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly findPrimary: (key: ObjectKey) => KubeObject | undefined;
  /** Reads an object live. */
  readonly readLive: (key: ObjectKey, client: Client, signal: AbortSignal) => Promise<KubeObject | undefined>;
  /** Begins work on a key, as a reconcile does; undefined when another replica has it. @default every key is here */
  readonly begin?: (key: ObjectKey) => KeyHold | undefined;
  readonly toolboxFor: (key: ObjectKey, client: Client, signal: AbortSignal) => Toolbox;
  readonly enqueue: (key: ObjectKey) => void;
  readonly onFailure: (key: ObjectKey, error: unknown) => void;
  /** Counts restarts, and daemons that did not end within their grace period. */
  readonly onEvent: (event: "restarted" | "abandoned") => void;
}

/** The daemon of one object. */
interface Daemon {
  readonly key: ObjectKey;
  readonly uid: string | undefined;
  last: KubeObject;
  readonly life: Scope;
  /** Opens when it has ended, or counts as ended. */
  readonly gone: Latch;
  state: "running" | "waiting" | "stopping" | "ended" | "gone";
  /** By the monotonic clock, while it is stopping. */
  endsBy: number;
  /** What it holds until it is gone. */
  readonly held: Disposable[];
}

const defaultGraceMs = 30_000;

export class ObjectDaemons implements Daemons {
  readonly #options: ObjectDaemonsOptions;
  readonly #daemons = new Map<ObjectKey, Daemon>();
  readonly #life: Scope;
  #isStopping = false;

  /** @param kill aborts all daemons */
  constructor(options: ObjectDaemonsOptions, kill: AbortSignal) {
    this.#options = options;
    this.#life = scope(kill);
  }

  get counts(): DaemonCounts {
    const count = (state: Daemon["state"]) => [...this.#daemons.values()].filter((one) => one.state === state).length;
    return { running: count("running"), waiting: count("waiting"), stopping: count("stopping") };
  }

  ensure(object: KubeObject): void {
    const key = keyOf(object);
    const known = this.#daemons.get(key);
    // The daemon of an earlier object of that name ends first; its end brings the key back.
    if (known !== undefined && known.uid !== object.metadata.uid) return this.#stop(known);
    if (known !== undefined || this.#isStopping || this.#life.signal.aborted) return;
    const hold = this.#options.begin?.(key);
    if (hold === undefined && this.#options.begin !== undefined) return;
    this.#start(key, object, hold);
  }

  stop(key: ObjectKey): number {
    const daemon = this.#daemons.get(key);
    if (daemon === undefined) return 0;
    this.#stop(daemon);
    return daemon.state === "gone" ? 0 : Math.max(daemon.endsBy - this.#options.clock.monotonic(), 1);
  }

  /** Stops the daemons of keys that are not of this process any more. */
  removeWhere(isGone: (key: ObjectKey) => boolean): void {
    for (const daemon of [...this.#daemons.values()]) if (isGone(daemon.key)) this.#stop(daemon);
  }

  /** Waits for `stop`, then until all daemons have ended, or for `kill`. */
  async run(stop: AbortSignal, kill: AbortSignal): Promise<void> {
    await untilAborted(new Promise<never>(() => {}), stop).catch(() => undefined);
    this.#isStopping = true;
    const daemons = [...this.#daemons.values()];
    for (const daemon of daemons) this.#stop(daemon);
    await Promise.all(daemons.map(({ gone }) => gone.wait(kill))).catch(() => undefined);
    this.#life.abort();
    this.#life[Symbol.dispose]();
    for (const daemon of daemons) this.#end(daemon);
  }

  #start(key: ObjectKey, object: KubeObject, hold: KeyHold | undefined): void {
    const life = scope(this.#life.signal);
    const { uid } = object.metadata;
    const daemon: Daemon = {
      key,
      uid,
      last: object,
      life,
      gone: new Latch(),
      state: "running",
      endsBy: 0,
      held: [life],
    };
    this.#daemons.set(key, daemon);
    if (hold !== undefined) daemon.held.push(hold, onAbort(hold.draining, () => this.#stop(daemon)));
    void this.#work(daemon, hold?.fence(this.#options.client) ?? this.#options.client);
  }

  /** Runs the function again and again. Never throws. */
  async #work(daemon: Daemon, client: Client): Promise<void> {
    const { definition: { run, options }, clock, random, log, toolboxFor, findPrimary, enqueue } = this.#options;
    const { backoffMs: initialMs = 1_000, maxBackoffMs: maxMs = Math.max(initialMs, 60_000), restartPolicy } = options;
    const backoff = new Backoff({ initialMs, maxMs, jitter: 0.1, resetAfterMs: 2 * maxMs, clock, random });
    const { key, life: { signal } } = daemon;
    const toolbox = toolboxFor(key, this.#guarded(client, daemon), signal);
    const object = {
      current: () => {
        const found = findPrimary(key);
        if (found !== undefined && found.metadata.uid === daemon.uid) daemon.last = found;
        return daemon.last;
      },
      reconcile: () => enqueue(key),
    };
    while (!signal.aborted) {
      daemon.state = "running";
      try {
        // An old cache has objects that are gone.
        if (!isSame(await this.#options.readLive(key, client, signal), daemon.uid)) return this.#end(daemon, false);
        await run(toolbox, object);
        if (signal.aborted) break;
        if (restartPolicy !== "Always") return this.#finish(daemon);
        log.info("daemon returned, restarting it", { key });
      } catch (error) {
        if (signal.aborted) break;
        log.warn("daemon failed, restarting it", { key, error });
        this.#options.onFailure(key, error);
      }
      daemon.state = "waiting";
      await clock.sleep(backoff.next(), signal).catch(() => undefined);
      if (!signal.aborted) this.#options.onEvent("restarted");
    }
    this.#end(daemon);
  }

  /** It has nothing more to do. The slot may move: there it runs again, as after a restart of the process. */
  #finish(daemon: Daemon): void {
    daemon.state = "ended";
    this.#options.log.info("daemon returned", { key: daemon.key });
  }

  /** Tells a daemon to end. */
  #stop(daemon: Daemon): void {
    if (daemon.state === "ended") return this.#end(daemon);
    if (daemon.state === "stopping" || daemon.state === "gone") return;
    const { clock, definition: { options: { graceMs = defaultGraceMs } } } = this.#options;
    daemon.state = "stopping";
    daemon.endsBy = clock.monotonic() + graceMs;
    daemon.held.push(clock.timer(graceMs, () => this.#abandon(daemon)));
    daemon.life.abort(new DOMException(`The daemon of "${daemon.key}" has to stop`, "AbortError"));
  }

  #abandon(daemon: Daemon): void {
    if (daemon.state === "gone") return;
    this.#options.log.warn("daemon did not return within its grace period, leaving it", { key: daemon.key });
    this.#options.onEvent("abandoned");
    this.#end(daemon);
  }

  /**
   * From here on nothing of the daemon counts.
   *
   * @param comesBack the key is reconciled, because a finalizer or a new object may wait for the end of the daemon
   */
  #end(daemon: Daemon, comesBack = !this.#isStopping): void {
    if (daemon.state === "gone") return;
    daemon.state = "gone";
    daemon.gone.open();
    if (this.#daemons.get(daemon.key) === daemon) this.#daemons.delete(daemon.key);
    daemon.life.abort();
    for (const one of daemon.held.splice(0)) one[Symbol.dispose]();
    if (comesBack) this.#options.enqueue(daemon.key);
  }

  /** Refuses requests of a daemon that counts as ended. */
  #guarded(client: Client, daemon: Daemon): Client {
    return client.withTransport((transport) => async (request) => {
      if (daemon.state !== "gone") return await transport(request);
      throw new Error(`Cannot send a request for the daemon of "${daemon.key}": its grace period is over`);
    });
  }
}

function isSame(live: KubeObject | undefined, uid: string | undefined): boolean {
  return live !== undefined && live.metadata.uid === uid && live.metadata.deletionTimestamp === undefined;
}
