/**
 * WriteThrough: what a controller writes is in the caches before the write returns, so that all reads of the process see
 * it: of the same attempt, of other keys, and of other controllers.
 *
 *   ctx.apply -> Client -> server
 *                 `-> response -> WriteThrough -> Caches -> Informer.writeThrough (`cache/written_objects.ts`)
 *
 * Guarantees: the key that wrote is not reconciled again because of its own write, unless another client has written the
 * same object in between, or the object is gone. A write whose outcome is unknown is settled by a live read of that
 * object before the key reads the caches again; after 10 s it counts as settled in any case, because a server that cannot
 * answer must not stop the controller for longer. An object that was created and deleted before the watch showed it is
 * reported as missing: no event will come for it.
 */
import {
  compareResourceVersions,
  keyOf,
  type KubeObject,
  type ObjectKey,
  type Resource,
  resourceName,
  splitKey,
} from "../api/mod.ts";
import { type Clock, scope } from "../async/mod.ts";
import type { Writer } from "../cache/mod.ts";
import { type Client, isUnreachable, type Transport, type WriteObserver } from "../client/mod.ts";
import type { Logger } from "../observe/mod.ts";
import type { Caches } from "./caches.ts";
import type { AttemptRecord } from "./_recorded_controller.ts";
import type { Cause } from "./request.ts";

/** Receives what the writes of a controller lead to. */
export interface WriteThroughListener {
  /** An object that a reconcile of `key` wrote is deleted. No other event reports that. */
  onMissing(key: ObjectKey, resource: Resource, object: KubeObject, entry: number | undefined): void;
  /**
   * The server has just shown an object that the cache has passed without having it: it is deleted by now, or the cache
   * could not read it.
   */
  onUnseen(key: ObjectKey, resource: Resource, object: KubeObject): void;
  /** The watch has shown a write of `key` before its response came: the causes that match are the key's own. */
  onShownBefore(key: ObjectKey, isOwn: (cause: Cause) => boolean): void;
}

/** What a WriteThrough needs. */
export interface WriteThroughOptions {
  /** The name of the controller. */
  readonly controller: string;
  readonly client: Client;
  readonly caches: Caches;
  readonly clock: Clock;
  readonly log: Logger;
  readonly listener: WriteThroughListener;
}

/** How long a write may stay unsettled, in milliseconds. */
const maxUnknownMs = 10_000;

/** A write whose outcome is unknown. */
interface UnknownWrite {
  readonly resource: Resource;
  readonly objectKey: ObjectKey;
  /** Its entry in the recording. */
  readonly entry: number | undefined;
  /** When it ended, by the monotonic clock. */
  readonly endedAt: number;
}

/** The response to a write. */
interface StoredWrite {
  readonly resource: Resource;
  readonly object: KubeObject;
  /** The fields that it named. */
  readonly sent: unknown;
  /** Its entry in the recording. */
  readonly entry: number | undefined;
}

/** Names the trace of a reconcile in its requests, unless the reconciler does. */
function withTrace(send: Transport, traceparent: string): Transport {
  return (request) => {
    if (!request.headers.has("traceparent")) request.headers.set("traceparent", traceparent);
    return send(request);
  };
}

export class WriteThrough {
  readonly #options: WriteThroughOptions;
  /** The unsettled writes of each key, by resource and object. */
  readonly #unknown = new Map<ObjectKey, Map<string, UnknownWrite>>();

  constructor(options: WriteThroughOptions) {
    this.#options = options;
  }

  /** The client of one attempt: what it writes enters the caches. */
  clientFor(key: ObjectKey, client: Client, signal: AbortSignal, recorded?: AttemptRecord): Client {
    const observer: WriteObserver = {
      ...recorded?.requests(),
      onStored: (resource, object, sent, entry) => this.#stored(key, { resource, object, sent, entry }),
      onRemoved: (resource, objectKey, uid, entry) =>
        this.#removed(key, resource, objectKey as ObjectKey, { uid, entry }),
      onUnknown: (resource, objectKey) => {
        const entry = recorded?.writeOf(resource, objectKey);
        return this.#becameUnknown(key, { resource, objectKey: objectKey as ObjectKey, entry }, signal);
      },
    };
    const traceparent = recorded?.traceparent?.();
    const traced = traceparent === undefined ? client : client.withTransport((send) => withTrace(send, traceparent));
    return traced.withWriteObserver(observer);
  }

  /** Puts an object into the caches that a reconcile of `key` has read from the server. */
  observeLive(key: ObjectKey, resource: Resource, object: KubeObject): void {
    const isMissing = this.#options.caches.writeThrough(resource, object) === "missing";
    if (isMissing) this.#options.listener.onUnseen(key, resource, object);
  }

  /** True while an attempt of `key` must wait for {@link settle}. */
  isUnsettled(key: ObjectKey): boolean {
    return this.#unknown.size > 0 && this.#unknown.has(key);
  }

  /** Reads the objects live whose state is unknown after the writes of `key`. @throws what the client throws */
  async settle(key: ObjectKey, signal: AbortSignal): Promise<void> {
    for (const [id, write] of [...(this.#unknown.get(key) ?? [])]) {
      await this.#settle(key, write, signal);
      this.#forget(key, id);
    }
  }

  #stored(key: ObjectKey, { resource, object, sent, entry }: StoredWrite): void {
    const { caches, listener } = this.#options;
    const result = caches.writeThrough(resource, object, { writer: this.#writer(key, entry), sent });
    for (const other of caches.otherVersionsOf(resource)) {
      this.#record(key, { resource: other, objectKey: keyOf(object), entry });
    }
    if (result === "missing") return listener.onMissing(key, resource, object, entry);
    if (result !== "known") return;
    const [source, objectKey, { resourceVersion }] = [resourceName(resource), keyOf(object), object.metadata];
    listener.onShownBefore(
      key,
      (cause) => cause.source === source && cause.key === objectKey && cause.resourceVersion === resourceVersion,
    );
  }

  #removed(
    key: ObjectKey,
    resource: Resource,
    objectKey: ObjectKey,
    { uid, entry }: { readonly uid: string; readonly entry: number | undefined },
  ): void {
    const { caches } = this.#options;
    for (const one of [resource, ...caches.otherVersionsOf(resource)]) {
      caches.deleteThrough(one, objectKey, uid, this.#writer(key, entry));
    }
  }

  #writer(key: ObjectKey, entry: number | undefined): Writer {
    const { controller } = this.#options;
    return entry === undefined ? { controller, key } : { controller, key, entry };
  }

  /** Reads at once, so that the same attempt sees the outcome too. What cannot be read is left for the next attempt. */
  async #becameUnknown(key: ObjectKey, unknown: Omit<UnknownWrite, "endedAt">, signal: AbortSignal): Promise<void> {
    const { log } = this.#options;
    const { entry } = unknown;
    const id = this.#record(key, unknown);
    const write = id === undefined ? undefined : this.#unknown.get(key)?.get(id);
    if (id === undefined || write === undefined) return;
    try {
      await this.#settle(key, write, signal);
      this.#forget(key, id);
    } catch (error) {
      log.debug("outcome of a write is unknown, reading its object before the next attempt", { key, error, entry });
    }
  }

  #record(key: ObjectKey, unknown: Omit<UnknownWrite, "endedAt">): string | undefined {
    const { caches, clock } = this.#options;
    const { resource, objectKey } = unknown;
    if (caches.findInformer(resource) === undefined) return undefined;
    const id = `${resourceName(resource)}/${resource.version} ${objectKey}`;
    const writes = this.#unknown.get(key) ?? new Map<string, UnknownWrite>();
    writes.set(id, { ...unknown, endedAt: clock.monotonic() });
    this.#unknown.set(key, writes);
    return id;
  }

  #forget(key: ObjectKey, id: string): void {
    const writes = this.#unknown.get(key);
    writes?.delete(id);
    if (writes?.size === 0) this.#unknown.delete(key);
  }

  async #settle(key: ObjectKey, write: UnknownWrite, signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options;
    const { objectKey, endedAt, entry } = write;
    const timeoutMs = endedAt + maxUnknownMs - clock.monotonic();
    const giveUp = (error?: unknown) =>
      log.warn("outcome of a write is unknown, reconciling anyway", { key, object: objectKey, error, entry });
    if (timeoutMs <= 0) return giveUp();
    using limit = scope(signal, { timeoutMs, clock });
    try {
      await this.#readLive(key, write, limit.signal);
    } catch (error) {
      if (limit.signal.aborted || isUnreachable(error)) throw error;
      giveUp(error);
    }
  }

  /** A list of one object: a controller may list what it watches, and the version of a list also dates an absence. */
  async #readLive(key: ObjectKey, { resource, objectKey }: UnknownWrite, signal: AbortSignal): Promise<void> {
    const { client, caches } = this.#options;
    const { namespace, name } = splitKey(objectKey);
    const page = await client.list(resource, { namespace, fieldSelector: { "metadata.name": name }, signal });
    // Objects of any Resource are KubeObjects; TypeScript cannot see that through a type parameter.
    const live = page.items[0] as KubeObject | undefined;
    if (live !== undefined) return this.observeLive(key, resource, live);
    const { uid, resourceVersion } = caches.findInformer(resource)?.lister.find(objectKey)?.metadata ?? {};
    if (uid === undefined || resourceVersion === undefined) return;
    if ((compareResourceVersions(resourceVersion, page.resourceVersion) ?? 1) <= 0) {
      caches.deleteThrough(resource, objectKey, uid);
    }
  }
}
