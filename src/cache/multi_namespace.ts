/**
 * MultiNamespaceInformer: one view of several namespaces, for operators that may not see all of a cluster. One
 * informer per namespace, so each needs no more than a Role there and each fails alone; namespaces come and go while
 * it runs.
 *
 * Guarantees: a handler has one backlog and one call at a time over all namespaces; a namespace that is added brings
 * its present objects as `initial`.
 * Caveats: a namespace that is removed leaves the view without a word to the handlers. Its objects still exist, they
 * are only no longer ours, and to be told of deletions would make a controller clean up what is not its own.
 */
import type { KubeObject, ResourceVersion } from "../api/mod.ts";
import { type Clock, type Scope, scope, systemClock } from "../async/mod.ts";
import { type Logger, logger } from "../observe/mod.ts";
import { Registration } from "./_registration.ts";
import { UnionReader } from "./_union_reader.ts";
import type { HandlerOptions, HandlerRegistration, InformerHandler } from "./handler.ts";
import type { Indexers } from "./indexer.ts";
import { type Informer, type InformerDefaults, newListener } from "./informer.ts";
import { Lister } from "./lister.ts";
import { noCacheMetrics } from "./metrics.ts";
import type { SharedInformer, WaitForOptions } from "./shared_informer.ts";
import type { InformerStatus } from "./status.ts";
import type { StoreReader } from "./store.ts";

/** Options of a {@link MultiNamespaceInformer}. */
export interface MultiNamespaceOptions<T extends KubeObject>
  extends Pick<InformerDefaults, "resyncMs" | "clock" | "log" | "metrics" | "onError"> {
  /** For logs, metrics and errors: the resource. */
  readonly name: string;
  /** The namespaces to begin with. */
  readonly namespaces: readonly string[];
  /** Makes the informer of one namespace; called each time one is added. */
  readonly informerFor: (namespace: string) => Informer<T>;
}

interface Member<T extends KubeObject> {
  readonly informer: Informer<T>;
  running: { readonly scope: Scope; readonly done: Promise<void> } | undefined;
}

/** A cache of several namespaces. */
export class MultiNamespaceInformer<T extends KubeObject> implements SharedInformer<T> {
  readonly name: string;
  readonly lister: Lister<T>;
  readonly #options: MultiNamespaceOptions<T>;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #members = new Map<string, Member<T>>();
  readonly #stores = new Map<string, StoreReader<T>>();
  readonly #registrations = new Set<Registration<T>>();
  readonly #indexers: Indexers<T>[] = [];
  #life: { readonly kind: "new" | "stopped" } | { readonly kind: "running"; readonly signal: AbortSignal } = {
    kind: "new",
  };
  #handlers = 0;

  constructor(options: MultiNamespaceOptions<T>) {
    this.name = options.name;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#log = options.log ?? logger("cache");
    this.lister = new Lister({ resource: options.name, store: new UnionReader(() => this.#stores) });
    for (const namespace of options.namespaces) this.add(namespace);
  }

  /** The namespaces in view. */
  get namespaces(): readonly string[] {
    return [...this.#members.keys()];
  }

  get hasSynced(): boolean {
    return [...this.#members.values()].every((member) => member.informer.hasSynced);
  }

  /** Takes a namespace into view; does nothing when it is there. */
  add(namespace: string): void {
    if (this.#members.has(namespace) || this.#life.kind === "stopped") return;
    const member: Member<T> = { informer: this.#options.informerFor(namespace), running: undefined };
    for (const indexers of this.#indexers) member.informer.addIndexers(indexers);
    this.#members.set(namespace, member);
    this.#stores.set(namespace, member.informer.store);
    for (const registration of this.#registrations) registration.follow(member.informer);
    if (this.#life.kind === "running") this.#start(member, this.#life.signal);
  }

  /** Takes a namespace out of view, and resolves when its watch has ended; does nothing when it is not there. */
  async remove(namespace: string): Promise<void> {
    const member = this.#members.get(namespace);
    if (member === undefined) return;
    this.#members.delete(namespace);
    this.#stores.delete(namespace);
    for (const registration of this.#registrations) registration.unfollow(member.informer);
    member.running?.scope.abort();
    await member.running?.done;
  }

  async synced(signal: AbortSignal): Promise<void> {
    // Again until none is left, as namespaces may come while others are waited for.
    while (!this.hasSynced) {
      const waits = [...this.#members].map(([namespace, member]) => this.#memberSynced(namespace, member, signal));
      await Promise.all(waits);
    }
  }

  addHandler(handler: InformerHandler<T>, options: HandlerOptions = {}): HandlerRegistration {
    const { name = `handler-${++this.#handlers}`, resyncMs = this.#options.resyncMs ?? 0 } = options;
    if (this.#life.kind === "stopped") {
      throw new Error(`Cannot add handler ${name} to informer ${this.name}: it has stopped`);
    }
    const listener = newListener(name, handler, {
      informer: this.name,
      log: this.#log,
      metrics: this.#options.metrics ?? noCacheMetrics,
      onError: (error, failed) => this.#options.onError?.(error, { informer: this.name, handler: failed }),
    });
    const registration = new Registration({
      listener,
      sources: [...this.#members.values()].map((member) => member.informer),
      resyncMs,
      clock: this.#clock,
      onRemoved: (removed) => this.#registrations.delete(removed),
    });
    this.#registrations.add(registration);
    return registration;
  }

  addIndexers(indexers: Indexers<T>): void {
    for (const member of this.#members.values()) member.informer.addIndexers(indexers);
    this.#indexers.push(indexers);
  }

  isAtLeast(version: ResourceVersion, namespace?: string): boolean {
    if (namespace === undefined) {
      return [...this.#members.values()].every((member) => member.informer.isAtLeast(version));
    }
    return this.#members.get(namespace)?.informer.isAtLeast(version) ?? true;
  }

  async waitFor(version: ResourceVersion, signal: AbortSignal, options: WaitForOptions = {}): Promise<boolean> {
    const { namespace } = options;
    const members = namespace === undefined ? [...this.#members.values()] : [this.#members.get(namespace)];
    const reached = await Promise.all(
      members.map((member) => member?.informer.waitFor(version, signal, options) ?? true),
    );
    return reached.every((one) => one);
  }

  statuses(): readonly InformerStatus[] {
    return [...this.#members.values()].map((member) => member.informer.status());
  }

  async run(signal: AbortSignal): Promise<void> {
    if (this.#life.kind !== "new") throw new Error(`Cannot run informer ${this.name}: it was started before`);
    this.#life = { kind: "running", signal };
    for (const member of this.#members.values()) this.#start(member, signal);
    await aborted(signal);
    this.#life = { kind: "stopped" };
    await Promise.all([...this.#members.values()].map((member) => member.running?.done));
    for (const registration of this.#registrations) registration.stop();
    this.#registrations.clear();
  }

  #start(member: Member<T>, signal: AbortSignal): void {
    const child = scope(signal);
    const done = member.informer.run(child.signal).finally(() => child[Symbol.dispose]());
    member.running = { scope: child, done };
  }

  /** A namespace that leaves while it is waited for is no longer waited for. */
  async #memberSynced(namespace: string, member: Member<T>, signal: AbortSignal): Promise<void> {
    try {
      await member.informer.synced(signal);
    } catch (error) {
      if (this.#members.get(namespace) === member) throw error;
    }
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
