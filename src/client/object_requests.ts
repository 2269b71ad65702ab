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
import type { ClientOptions, DeleteOptions, DeleteResult, WriteOptions } from "./client_options.ts";
import { decodeList, decodeObject, type DecodeOptions, type ExpectedObject, isObject, parseJson } from "./decoder.ts";
import { deleteBody, objectPath, objectText } from "./encoder.ts";
import { ListReader } from "./list_reader.ts";
import type { OutgoingRequest, Requester } from "./requester.ts";
import { unusable } from "./response_shape.ts";
import { deleteResult, isOutcomeUnknown, isRemoved, removedUid, type WriteObserver } from "./write_observer.ts";

/** The object of a request. */
interface ObjectTarget<R extends Resource> {
  readonly resource: R;
  /** As in {@link WriteTarget}. */
  readonly key: string | undefined;
  readonly subresource?: string;
}

/** What a write is about. */
export interface WriteTarget<R extends Resource> {
  readonly resource: R;
  /** `namespace/name`, or `name`; undefined while the server has not chosen the name. */
  readonly key: string | undefined;
  readonly options: Pick<WriteOptions, "dryRun" | "subresource" | "signal">;
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
    if (observer === undefined) return await this.object(expected, outgoing);
    const response = await observed(() => this.object(expected, outgoing), observer, target);
    const object = response as KubeObject;
    if (options.subresource !== undefined && options.subresource !== "status") {
      if (key !== undefined) await observer.onUnknown(resource, key);
    } else if (isRemoved(object) && object.metadata.uid !== undefined) {
      observer.onRemoved(resource, keyOf(object), object.metadata.uid);
    } else {
      observer.onStored(resource, object, sent?.());
    }
    return response;
  }

  /** Sends a deletion, and reports what became of it. */
  async delete<R extends Resource>(resource: R, key: string, options: DeleteOptions): Promise<DeleteResult<Infer<R>>> {
    const action = `delete ${objectText(resource, key)}`;
    const outgoing = { action, method: "DELETE", path: objectPath(resource, key), signal: options.signal } as const;
    const send = async () => {
      const text = await this.#requester.text({
        maxBytes: maxObjectBytes,
        ...outgoing,
        body: deleteBody(options, this.#options),
      });
      return decoded(action, () => decodeDeletion<Infer<R>>(text, { resource, key }));
    };
    const observer = this.#observerOf(options);
    if (observer === undefined) return deleteResult(await send());
    const result = await observed(send, observer, { resource, key, options });
    // Objects of any Resource are KubeObjects; TypeScript cannot see that through a type parameter.
    const uid = removedUid(result as ApiStatus | KubeObject, options.preconditions?.uid);
    const deleted = deleteResult(result);
    if (uid !== undefined) observer.onRemoved(resource, key, uid);
    else if (deleted.kind === "object") observer.onStored(resource, deleted.object as KubeObject);
    return deleted;
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
