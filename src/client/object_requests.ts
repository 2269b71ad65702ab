/**
 * ObjectRequests: sends the requests of a Client whose responses are objects, decodes the objects, and reports what became
 * of each write to the observer (`write_observer.ts`).
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
  readonly #observer: WriteObserver | undefined;

  constructor(requester: Requester, options: ClientOptions, observer?: WriteObserver) {
    this.#requester = requester;
    this.#options = options;
    this.#observer = observer;
  }

  get requester(): Requester {
    return this.#requester;
  }

  /** The same requests, with an observer. */
  observedBy(observer: WriteObserver | undefined): ObjectRequests {
    return new ObjectRequests(this.#requester, this.#options, observer);
  }

  /** The observer that further requests would have, for a client of another transport. */
  get observer(): WriteObserver | undefined {
    return this.#observer;
  }

  /** Sends a request, and decodes the object in its response. */
  async object<R extends Resource>(target: ObjectTarget<R>, outgoing: OutgoingRequest): Promise<Infer<R>> {
    const text = await this.#requester.text({ maxBytes: maxObjectBytes, ...outgoing });
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
    const { action } = outgoing;
    const reader = new ListReader({ action, ...options });
    await this.#requester.chunks(outgoing, (chunk) => decoded(action, () => reader.push(chunk)));
    return decoded(action, () => decodeList<Infer<R>>(reader.end(), resource, options));
  }

  /** Sends a write, and reports what became of it. */
  async write<R extends Resource>(target: WriteTarget<R>, outgoing: OutgoingRequest): Promise<Infer<R>> {
    const { resource, key, options, sent } = target;
    const observer = this.#observerOf(options);
    const expected = { resource, key, subresource: options.subresource };
    const send = () => this.#reported(target, outgoing, () => this.object(expected, outgoing));
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
        const text = await this.#requester.text({ maxBytes: maxObjectBytes, ...outgoing });
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
    const { clock = systemClock, dryRun: isDryRunClient } = this.#options;
    const { verb, resource, key, options: { subresource, fieldManager, dryRun = isDryRunClient } } = target;
    const startedAt = clock.monotonic();
    const report = (answer: Pick<WriteReport, "key" | "object" | "error">) =>
      observer.onAnswer?.({
        ...{ verb, resource, key, subresource, fieldManager },
        ...{ contentType: outgoing.contentType, body: outgoing.body },
        isDryRun: dryRun === true,
        durationMs: clock.monotonic() - startedAt,
        ...answer,
      });
    let response: T;
    try {
      response = await send();
    } catch (error) {
      report({ error });
      throw error;
    }
    if (isObject(response) && response.kind === "Status") return { response, entry: report({}) };
    // Every other answer to a write is an object.
    const object = response as unknown as KubeObject;
    return { response, entry: report({ key: keyOf(object), object }) };
  }

  #observerOf({ dryRun = this.#options.dryRun }: { readonly dryRun?: boolean }): WriteObserver | undefined {
    return dryRun === true ? undefined : this.#observer;
  }
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
