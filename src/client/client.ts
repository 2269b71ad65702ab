/**
 * Client: the verbs of the Kubernetes API over a Transport, typed by Resource values.
 *
 * Guarantees: names are checked before a URL is made; no request is sent twice; answers are bounded; a full update of an
 * object with integers that JavaScript cannot hold is refused rather than damaging (behaviours.md 82). Errors are
 * ApiError for an answer, UnreachableError for none.
 *
 * Caveats: reads go to the API server. A reconciler reads from the cache instead, and uses this for its writes and for
 * the one live read before something destructive.
 */
import {
  type ApiStatus,
  apiVersionOf,
  builtin,
  type Infer,
  type KubeObject,
  type ListOptions,
  type ListPage,
  type ListWatch,
  type Resource,
  splitKey,
  type WatchEvent,
  type WatchOptions,
} from "../api/mod.ts";
import { scope } from "../async/mod.ts";
import { decodeList, decodeObject, isObject } from "./_decode.ts";
import { collectionText, objectPath, objectText, resourcePath } from "./_path.ts";
import { selectionQuery, withQuery } from "./_query.ts";
import { type Outgoing, Requester, type RequesterOptions } from "./_requester.ts";
import { encodeWhole, keyForWrite, patchBody, withIdentity, writeQuery } from "./_write.ts";
import { isNotFound } from "./api_error.ts";
import type {
  ApplyOptions,
  CollectionOptions,
  DeleteOptions,
  DeleteResult,
  Draft,
  GetOptions,
  NewObject,
  Patch,
  RawRequest,
  TokenRequest,
  TokenRequestOptions,
  WriteOptions,
} from "./client_options.ts";
import type { Transport } from "./transport.ts";
import { watchLines } from "./watch_lines.ts";

/** Options of a {@link Client}. */
export interface ClientOptions extends RequesterOptions {
  /** Asks the server to validate every write and store none. @default false */
  readonly dryRun?: boolean;
  /** Who the fields this client writes belong to, where a call does not say. @default the User-Agent, as the server has it */
  readonly fieldManager?: string;
}

const metadataObject = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";
const metadataList = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";

/**
 * Talks to an API server.
 *
 * @example
 * ```ts
 * import { builtin } from "../api/mod.ts";
 * import { Client } from "./mod.ts";
 *
 * const answer = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", namespace: "b" }, data: { key: "value" } };
 * const client = new Client(() => Promise.resolve(Response.json(answer)));
 * const found = await client.get(builtin.ConfigMap, "b/a");
 * console.assert(found.data?.key === "value");
 * ```
 */
export class Client {
  readonly #transport: Transport;
  readonly #options: ClientOptions;
  readonly #requester: Requester;

  constructor(transport: Transport, options: ClientOptions = {}) {
    this.#transport = transport;
    this.#options = options;
    this.#requester = new Requester(transport, options);
  }

  /** A client of the same server whose writes are validated and not stored. */
  dryRunClient(): Client {
    return new Client(this.#transport, { ...this.#options, dryRun: true });
  }

  /** A client of the same options whose requests go through what `wrap` makes of this one's transport. */
  over(wrap: (transport: Transport) => Transport): Client {
    return new Client(wrap(this.#transport), this.#options);
  }

  /** Reads one object. @param key `namespace/name`, or `name`. @throws ApiError, `isNotFound` when there is none. */
  async get<R extends Resource>(resource: R, key: string, options: GetOptions = {}): Promise<Infer<R>> {
    const { subresource, resourceVersion, metadataOnly = false, signal } = options;
    const path = withQuery(objectPath(resource, key, subresource), { resourceVersion });
    const accept = metadataOnly ? metadataObject : undefined;
    return await this.#object(resource, {
      action: `get ${objectText(resource, key)}`,
      method: "GET",
      path,
      accept,
      signal,
    });
  }

  /** Reads one object; undefined when there is none. */
  async find<R extends Resource>(resource: R, key: string, options: GetOptions = {}): Promise<Infer<R> | undefined> {
    try {
      return await this.get(resource, key, options);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  /** Reads one page of a collection, all of it unless `limit` says otherwise. */
  async list<R extends Resource>(
    resource: R,
    options: CollectionOptions & ListOptions = {},
  ): Promise<ListPage<Infer<R>>> {
    const { namespace, metadataOnly = false, keepManagedFields = false, signal } = options;
    const { limit, continue: next, resourceVersion, resourceVersionMatch } = options;
    const path = withQuery(resourcePath(resource, { namespace }), {
      ...selectionQuery(options),
      limit,
      continue: next,
      resourceVersion,
      resourceVersionMatch,
    });
    const action = `list ${collectionText(resource, namespace)}`;
    const accept = metadataOnly ? metadataList : undefined;
    const text = await this.#requester.text({ action, method: "GET", path, accept, signal });
    return this.#decoded(action, () => decodeList<Infer<R>>(text, { dropManagedFields: !keepManagedFields }));
  }

  /** Reads a collection page by page. @throws ApiError, `isGone` when the pages took so long that the snapshot is gone. */
  async *pages<R extends Resource>(
    resource: R,
    options: CollectionOptions & ListOptions = {},
  ): AsyncGenerator<ListPage<Infer<R>>, void, void> {
    let page = await this.list(resource, { limit: 500, ...options });
    yield page;
    while (page.continue !== undefined) {
      // A continue token carries the version of its snapshot; the server refuses both together.
      const { resourceVersion: _, resourceVersionMatch: __, ...rest } = options;
      page = await this.list(resource, { limit: 500, ...rest, continue: page.continue });
      yield page;
    }
  }

  /** Reads a whole collection in pages of 500. The version is that of the snapshot all pages are from. */
  async listAll<R extends Resource>(
    resource: R,
    options: CollectionOptions & ListOptions = {},
  ): Promise<ListPage<Infer<R>>> {
    const items: Infer<R>[] = [];
    for await (const page of this.pages(resource, options)) {
      for (const item of page.items) items.push(item);
      if (page.continue === undefined) return { items, resourceVersion: page.resourceVersion };
    }
    throw new TypeError("Cannot list: the last page did not come");
  }

  /**
   * Streams the changes of a collection, as many at a time as one read of the connection brought. Ends when the server
   * ends it, which it does every few minutes; a cache (`cache/`) goes on from there.
   *
   * @throws ApiError when refused, UnreachableError when the stream breaks, the signal's reason when aborted.
   */
  async *watch<R extends Resource>(
    resource: R,
    options: CollectionOptions & WatchOptions & { readonly signal: AbortSignal },
  ): AsyncGenerator<readonly WatchEvent<Infer<R>>[], void, void> {
    const { namespace, metadataOnly = false, keepManagedFields = false } = options;
    const { resourceVersion, timeoutSeconds, allowWatchBookmarks, sendInitialEvents } = options;
    // Of this generator alone: what hangs on it, in the runtime too, is let go with it.
    using child = scope(options.signal, { clock: this.#options.clock });
    const { signal } = child;
    const path = withQuery(resourcePath(resource, { namespace }), {
      watch: true,
      ...selectionQuery(options),
      resourceVersion,
      resourceVersionMatch: options.resourceVersionMatch ?? (sendInitialEvents ? "NotOlderThan" : undefined),
      timeoutSeconds,
      allowWatchBookmarks,
      sendInitialEvents,
    });
    const action = `watch ${collectionText(resource, namespace)}`;
    const accept = metadataOnly ? metadataObject : undefined;
    try {
      const { body } = await this.#requester.stream({ action, method: "GET", path, accept, signal });
      if (body !== null) yield* watchLines<Infer<R>>(body, signal, { action, dropManagedFields: !keepManagedFields });
    } finally {
      child.abort(); // tells the transport that the stream is over
    }
  }

  /** Resource, namespace and selectors bound together: what a cache takes. */
  listWatch<R extends Resource>(
    resource: R,
    selection: Omit<CollectionOptions, "signal"> = {},
  ): ListWatch<Infer<R>> {
    return {
      list: (options, signal) => this.list(resource, { ...selection, ...options, signal }),
      watch: (options, signal) => this.watch(resource, { ...selection, ...options, signal }),
    };
  }

  /** Creates an object; `metadata.generateName` lets the server choose the name. @throws ApiError, `isAlreadyExists`. */
  async create<R extends Resource>(
    resource: R,
    object: NewObject<R>,
    options: WriteOptions = {},
  ): Promise<Infer<R>> {
    const whole = withIdentity(resource, object);
    const { namespace, name, generateName = "" } = whole.metadata;
    const action = `create ${
      objectText(resource, `${namespace === undefined ? "" : `${namespace}/`}${name ?? generateName}`)
    }`;
    if (resource.scope === "Namespaced" && namespace === undefined) {
      throw new TypeError(`Cannot ${action}: metadata.namespace is missing`);
    }
    const path = withQuery(resourcePath(resource, { namespace }), writeQuery(options, this.#options));
    return await this.#object(resource, {
      action,
      method: "POST",
      path,
      body: JSON.stringify(whole),
      signal: options.signal,
    });
  }

  /**
   * Replaces an object with `object`, which must carry the resourceVersion it was read with.
   *
   * @throws ApiError, `isConflict` when it changed since; TypeError when it has integers that were rounded on reading, for
   * those fields would be damaged: use `apply` or `patch`, which send only the fields of one's own.
   */
  async update<R extends Resource>(resource: R, object: Infer<R>, options: WriteOptions = {}): Promise<Infer<R>> {
    const whole = withIdentity(resource, object, options.subresource);
    const key = keyForWrite("update", resource, whole);
    const action = `update ${objectText(resource, key)}`;
    const path = withQuery(objectPath(resource, key, options.subresource), writeQuery(options, this.#options));
    const body = encodeWhole(whole, action);
    return await this.#object(resource, { action, method: "PUT", path, body, signal: options.signal });
  }

  /** Changes some fields of an object. */
  async patch<R extends Resource>(
    resource: R,
    key: string,
    patch: Patch<R>,
    options: WriteOptions = {},
  ): Promise<Infer<R>> {
    const path = withQuery(objectPath(resource, key, options.subresource), writeQuery(options, this.#options));
    const action = `patch ${objectText(resource, key)}`;
    return await this.#object(resource, { action, method: "PATCH", path, ...patchBody(patch), signal: options.signal });
  }

  /**
   * Server-side apply: makes the fields in `object` be as they are there and this field manager's own; creates the object
   * if there is none. Fields this manager applied before and leaves out now are removed.
   *
   * @throws ApiError, `isConflict` when another manager owns a field with another value and `force` is false.
   */
  async apply<R extends Resource>(resource: R, object: Draft<R>, options: ApplyOptions): Promise<Infer<R>> {
    const whole = withIdentity(resource, object, options.subresource);
    const key = keyForWrite("apply", resource, whole);
    const { fieldManager, force = false, subresource, signal } = options;
    const query = { ...writeQuery({ ...options, fieldManager }, this.#options), force };
    return await this.#object(resource, {
      action: `apply ${objectText(resource, key)}`,
      method: "PATCH",
      path: withQuery(objectPath(resource, key, subresource), query),
      // The server parses it as YAML, of which JSON is a part.
      contentType: "application/apply-patch+yaml",
      body: JSON.stringify(whole),
      signal,
    });
  }

  /** Deletes an object. @throws ApiError, `isNotFound`, `isConflict` when a precondition does not hold. */
  async delete<R extends Resource>(
    resource: R,
    key: string,
    options: DeleteOptions = {},
  ): Promise<DeleteResult<Infer<R>>> {
    const action = `delete ${objectText(resource, key)}`;
    const text = await this.#requester.text({
      action,
      method: "DELETE",
      path: objectPath(resource, key),
      body: this.#deleteBody(options),
      signal: options.signal,
    });
    const answer = this.#decoded(action, () => decodeObject<ApiStatus | Infer<R>>(text));
    return isStatus(answer) ? { kind: "deleted" } : { kind: "object", object: answer };
  }

  /** Deletes all objects of a collection that are selected. The server answers before they are gone. */
  async deleteCollection<R extends Resource>(
    resource: R,
    options: CollectionOptions & Omit<DeleteOptions, "preconditions"> = {},
  ): Promise<void> {
    const { namespace, signal } = options;
    if (resource.scope === "Namespaced" && namespace === undefined) {
      throw new TypeError(`Cannot delete ${collectionText(resource, namespace)}: a namespace is needed`);
    }
    const path = withQuery(resourcePath(resource, { namespace }), selectionQuery(options));
    const action = `delete all ${collectionText(resource, namespace)}`;
    await this.#requester.text({ action, method: "DELETE", path, body: this.#deleteBody(options), signal });
  }

  /** Evicts a Pod, which a disruption budget may forbid. @throws ApiError, `isTooManyRequests` when it does for now. */
  async evict(podKey: string, options: DeleteOptions = {}): Promise<void> {
    const path = objectPath(builtin.Pod, podKey, "eviction");
    const deleteOptions: unknown = JSON.parse(this.#deleteBody(options));
    const body = JSON.stringify({
      apiVersion: "policy/v1",
      kind: "Eviction",
      metadata: splitKey(podKey),
      deleteOptions,
    });
    await this.#requester.text({
      action: `evict ${objectText(builtin.Pod, podKey)}`,
      method: "POST",
      path,
      body,
      signal: options.signal,
    });
  }

  /** Asks for a token of a ServiceAccount. */
  async createToken(serviceAccountKey: string, options: TokenRequestOptions = {}): Promise<TokenRequest> {
    const { audiences, expirationSeconds, signal } = options;
    const path = objectPath(builtin.ServiceAccount, serviceAccountKey, "token");
    const spec = { audiences, expirationSeconds };
    const body = JSON.stringify({ apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec });
    const action = `create a token of ${objectText(builtin.ServiceAccount, serviceAccountKey)}`;
    const text = await this.#requester.text({ action, method: "POST", path, body, signal });
    return this.#decoded(action, () => decodeObject<{ readonly status: TokenRequest }>(text)).status;
  }

  /** Sends what no other method says: `/version`, `/readyz`, discovery. @param path From the server's root, with query. */
  async raw(path: string, request: RawRequest = {}): Promise<string> {
    if (!path.startsWith("/")) throw new TypeError(`Cannot send raw request: path "${path}" does not start with "/"`);
    const { method = "GET", ...rest } = request;
    return await this.#requester.text({ ...rest, action: `${method.toLowerCase()} "${path}"`, method, path });
  }

  async #object<R extends Resource>(resource: R, outgoing: Outgoing): Promise<Infer<R>> {
    const text = await this.#requester.text(outgoing);
    return this.#decoded(outgoing.action, () => {
      const object = decodeObject<Infer<R> & Partial<KubeObject>>(text);
      if (object.kind === undefined) {
        throw new SyntaxError(`the answer is no ${apiVersionOf(resource)} ${resource.kind}`);
      }
      return object;
    });
  }

  /** Names what was asked for in the error of an answer that cannot be read. */
  #decoded<T>(action: string, decode: () => T): T {
    try {
      return decode();
    } catch (cause) {
      const state = cause instanceof SyntaxError ? cause.message : String(cause);
      throw new SyntaxError(`Cannot ${action}: its answer cannot be read: ${state}`, { cause });
    }
  }

  #deleteBody(options: DeleteOptions): string {
    const { preconditions, propagationPolicy, gracePeriodSeconds, dryRun = this.#options.dryRun ?? false } = options;
    return JSON.stringify({
      apiVersion: "v1",
      kind: "DeleteOptions",
      preconditions,
      propagationPolicy,
      gracePeriodSeconds,
      dryRun: dryRun ? ["All"] : undefined,
    });
  }
}

function isStatus(value: unknown): value is ApiStatus {
  return isObject(value) && value.kind === "Status";
}
