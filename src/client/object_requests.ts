/**
 * ObjectRequests: sends the requests of a Client, decodes the objects in their responses, and reports what became of each
 * to the observer (`write_observer.ts`).
 */
import {
  type ApiStatus,
  type Infer,
  InvalidResponseError,
  keyOf,
  type KubeObject,
  type ListPage,
  type Resource,
  toStatus,
} from "../api/mod.ts";
import { systemClock } from "../async/mod.ts";
import type { ClientOptions, DeleteOptions, DeleteResult, WriteOptions } from "./client_options.ts";
import { decodeList, decodeObject, type DecodeOptions, type ExpectedObject, isObject, parseJson } from "./decoder.ts";
import { deleteBody, objectPath, objectText } from "./encoder.ts";
import { ListReader } from "./list_reader.ts";
import type { OutgoingRequest, Requester } from "./requester.ts";
import { unusable } from "./response_shape.ts";
import {
  deleteResult,
  isOutcomeUnknown,
  isRemoved,
  type ReadReport,
  removedUid,
  type WriteObserver,
  type WriteReport,
} from "./write_observer.ts";

/** The object of a request. */
interface ObjectTarget<R extends Resource> {
  readonly resource: R;
  /** As in {@link WriteTarget}. */
  readonly key: string | undefined;
  readonly subresource?: string;
}

/** What a write is about. */
export interface WriteTarget<R extends Resource> {
  readonly verb: WriteReport["verb"];
  readonly resource: R;
  /** `namespace/name`, or `name`; undefined while the server has not chosen the name. */
  readonly key: string | undefined;
  readonly options: Pick<WriteOptions, "dryRun" | "subresource" | "fieldManager" | "signal">;
  /** The fields that are written. @default the whole object */
  readonly sent?: () => unknown;
}

/** The most bytes of one object: five times what kube-apiserver accepts as a request (3 MiB). */
const maxObjectBytes = 16 * 1024 * 1024;

/** The requests of one client. */
export class ObjectRequests {
  readonly #requester: Requester;
  readonly #options: ClientOptions;
  #observer: WriteObserver | undefined;

  constructor(requester: Requester, options: ClientOptions) {
    this.#requester = requester;
    this.#options = options;
  }

  get requester(): Requester {
    return this.#requester;
  }

  /** Reports all requests to `observer`. Called before the first one. */
  observeBy(observer: WriteObserver | undefined): void {
    this.#observer = observer;
  }

  /** The observer that further requests would have, for a client of another transport. */
  get observer(): WriteObserver | undefined {
    return this.#observer;
  }

  /** Sends a request that no other method sends. */
  async raw(outgoing: OutgoingRequest): Promise<string> {
    const send = () => this.#requester.text(outgoing);
    const observer = this.#observer;
    if (observer?.onRaw === undefined) return await send();
    const { method, path, contentType, body } = outgoing;
    return await this.#timed(send, ({ response: text, error, durationMs }) => {
      observer.onRaw?.({ method, path, contentType, body, text, error, durationMs });
    });
  }

  /** Sends a write whose response shows no object that the caches could have. */
  async act(target: WriteTarget<Resource>, outgoing: OutgoingRequest): Promise<string> {
    return (await this.#reported(target, outgoing, () => this.#requester.text(outgoing))).response;
  }

  /** Reads one object. */
  async get<R extends Resource>(target: ObjectTarget<R>, outgoing: OutgoingRequest): Promise<Infer<R>> {
    return await this.#read(target, outgoing.path, () => this.#object(target, outgoing), (object) => object);
  }

  /** Sends a request, and decodes the object in its response. */
  async #object<R extends Resource>(target: ObjectTarget<R>, outgoing: OutgoingRequest): Promise<Infer<R>> {
    const text = await this.#requester.text(outgoing, maxObjectBytes);
    const { resource, key, subresource } = target;
    const isOtherKind = subresource !== undefined && subresource !== "status";
    return decoded(outgoing.action, () => decodeObject<Infer<R>>(text, { resource, key, isOtherKind }));
  }

  /** Sends a request, and decodes the page of a list in its response while it arrives. */
  async page<R extends Resource>(
    resource: R,
    outgoing: OutgoingRequest,
    options: DecodeOptions,
  ): Promise<ListPage<Infer<R>>> {
    const { action, path } = outgoing;
    const send = async () => {
      const reader = new ListReader({ action, ...options });
      await this.#requester.chunks(outgoing, (chunk) => decoded(action, () => reader.push(chunk)));
      return decoded(action, () => decodeList<Infer<R>>(reader.end(), resource, options));
    };
    return await this.#read({ resource, key: undefined }, path, send, ({ items }) => items);
  }

  /** Sends a write, and reports what became of it. */
  async write<R extends Resource>(target: WriteTarget<R>, outgoing: OutgoingRequest): Promise<Infer<R>> {
    const { resource, key, options, sent } = target;
    const observer = this.#observerOf(options);
    const expected = { resource, key, subresource: options.subresource };
    const send = () => this.#reported(target, outgoing, () => this.#object(expected, outgoing));
    if (observer === undefined) return (await send()).response;
    const { response, entry } = await observed(send, observer, target);
    const object = response as KubeObject;
    if (options.subresource !== undefined && options.subresource !== "status") {
      if (key !== undefined) await observer.onUnknown(resource, key);
    } else if (isRemoved(object) && object.metadata.uid !== undefined) {
      observer.onRemoved(resource, keyOf(object), object.metadata.uid, entry);
    } else {
      observer.onStored(resource, object, sent?.(), entry);
    }
    return response;
  }

  /** Sends a deletion, and reports what became of it. */
  async delete<R extends Resource>(resource: R, key: string, options: DeleteOptions): Promise<DeleteResult<Infer<R>>> {
    const action = `delete ${objectText(resource, key)}`;
    const body = deleteBody(options, this.#options);
    const outgoing = {
      action,
      method: "DELETE",
      path: objectPath(resource, key),
      body,
      signal: options.signal,
    } as const;
    const target: WriteTarget<R> = { verb: "delete", resource, key, options };
    const send = () =>
      this.#reported(target, outgoing, async () => {
        const text = await this.#requester.text(outgoing, maxObjectBytes);
        return decoded(action, () => decodeDeletion<Infer<R>>(text, { resource, key }));
      });
    const observer = this.#observerOf(options);
    if (observer === undefined) return deleteResult((await send()).response);
    const { response: result, entry } = await observed(send, observer, target);
    // Objects of any Resource are KubeObjects; TypeScript cannot see that through a type parameter.
    const uid = removedUid(result as ApiStatus | KubeObject, options.preconditions?.uid);
    const deleted = deleteResult(result);
    if (uid !== undefined) observer.onRemoved(resource, key, uid, entry);
    else if (deleted.kind === "object") observer.onStored(resource, deleted.object as KubeObject, undefined, entry);
    return deleted;
  }

  /** Sends a write, and reports its answer to an observer that wants all answers. */
  async #reported<T>(
    target: WriteTarget<Resource>,
    outgoing: OutgoingRequest,
    send: () => Promise<T>,
  ): Promise<{ readonly response: T; readonly entry?: number }> {
    const observer = this.#observer;
    if (observer?.onAnswer === undefined) return { response: await send() };
    const { verb, resource, key, options: { subresource, fieldManager, dryRun = this.#options.dryRun } } = target;
    const { path, contentType, body } = outgoing;
    const base = { verb, resource, key, subresource, fieldManager, path, contentType, body, isDryRun: dryRun === true };
    let entry: number | undefined;
    const response = await this.#timed(send, ({ response, error, durationMs }) => {
      // `act` has a text; every other answer to a write is a Status or an object.
      const hasObject = isObject(response) && response.kind !== "Status";
      const object = hasObject ? response as unknown as KubeObject : undefined;
      const shown = object === undefined ? {} : { key: keyOf(object), object };
      entry = observer.onAnswer?.({ ...base, ...shown, error, durationMs });
    });
    return { response, entry };
  }

  /** Sends a read, and reports its answer to an observer that wants all answers. */
  async #read<T>(
    { resource, key, subresource }: ObjectTarget<Resource>,
    path: string,
    send: () => Promise<T>,
    foundIn: (response: T) => unknown,
  ): Promise<T> {
    const observer = this.#observer;
    if (observer?.onRead === undefined) return await send();
    return await this.#timed(send, ({ response, error, durationMs }) => {
      // Objects of any Resource are KubeObjects; TypeScript cannot see that through a type parameter.
      const found = response === undefined ? undefined : foundIn(response) as ReadReport["found"];
      observer.onRead?.({ resource, key, subresource, path, found, error, durationMs });
    });
  }

  /** Sends a request, and reports its answer with how long it took. */
  async #timed<T>(send: () => Promise<T>, report: (ended: Ended<T>) => void): Promise<T> {
    const { clock = systemClock } = this.#options;
    const startedAt = clock.monotonic();
    let response: T;
    try {
      response = await send();
    } catch (error) {
      report({ error, durationMs: clock.monotonic() - startedAt });
      throw error;
    }
    report({ response, durationMs: clock.monotonic() - startedAt });
    return response;
  }

  #observerOf({ dryRun = this.#options.dryRun }: { readonly dryRun?: boolean }): WriteObserver | undefined {
    return dryRun === true ? undefined : this.#observer;
  }
}

/** How a request ended, and how long it took. */
interface Ended<T> {
  readonly response?: T;
  readonly error?: unknown;
  readonly durationMs: number;
}

/** The response to a deletion: a Status, or the object that is still there. */
function decodeDeletion<T>(text: string, expected: ExpectedObject): ApiStatus | T {
  const value = parseJson(text);
  if (isObject(value) && value.kind === "Status") return toStatus(value);
  return decodeObject<T>(text, expected);
}

/** Adds the action to the error of a response that cannot be decoded. */
export function decoded<T>(action: string, decode: () => T): T {
  try {
    return decode();
  } catch (cause) {
    if (cause instanceof InvalidResponseError) throw cause;
    throw unusable(action, cause instanceof Error ? cause.message : String(cause), cause);
  }
}

/** Sends a write, and reports a failure after which it may have taken effect. */
async function observed<T>(
  send: () => Promise<T>,
  observer: WriteObserver,
  { resource, key, options }: WriteTarget<Resource>,
): Promise<T> {
  try {
    return await send();
  } catch (error) {
    if (key !== undefined && isOutcomeUnknown(error, options.signal)) await observer.onUnknown(resource, key);
    throw error;
  }
}
