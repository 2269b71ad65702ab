/** Client: the verbs of the Kubernetes API over a Transport. `encoder.ts` writes requests, `requester.ts` sends them. */
import {
  type Infer,
  keyOf,
  type KubeObject,
  type ListOptions,
  type ListPage,
  type ListWatch,
  PageTokens,
  printLosslessJson,
  type Resource,
  type WatchEvent,
  type WatchOptions,
} from "../api/mod.ts";
import { scope } from "../async/mod.ts";
import { logger } from "../observe/mod.ts";
import { isNotFound } from "./api_error.ts";
import {
  type ApplyConfiguration,
  type ApplyOptions,
  type ClientOptions,
  type CollectionOptions,
  type DeleteOptions,
  type DeleteResult,
  type GetOptions,
  type NewObject,
  type Patch,
  patchKinds,
  type WriteOptions,
} from "./client_options.ts";
import {
  collectionText,
  deleteBody,
  encodeWhole,
  keyForWrite,
  objectPath,
  objectText,
  patchBody,
  resourcePath,
  selectionQuery,
  withIdentity,
  withQuery,
  writeQuery,
} from "./encoder.ts";
import { type ImpersonatedUser, impersonatingTransport, impersonationOf } from "./impersonation.ts";
import { ObjectRequests } from "./object_requests.ts";
import { Requester } from "./requester.ts";
import { changes, type ChangesOptions, type ChangesSource, type ObjectChange } from "./changes.ts";
import { disposeOwned, type FromKubeconfigOptions, kubeconfigTransport } from "./kubeconfig_client.ts";
import { ServerClient } from "./server_client.ts";
import type { Transport } from "./transport.ts";
import { type WaitCondition, waitFor, type WaitForOptions } from "./wait_for.ts";
import { watchLines } from "./watch_lines.ts";
import { fieldsOf, type WriteObserver } from "./write_observer.ts";

const metadataObject = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";
const metadataList = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";

/**
 * Reads, watches and writes the objects of one API server, with the types of their kinds.
 *
 * Guarantees: the client sends each request once; names are checked before a request is made; responses are bounded. A
 * full update with integers that JavaScript cannot represent is refused (behaviour 82). An error response rejects with an
 * ApiError, a missing response with an UnreachableError, an abort with the reason of the signal.
 *
 * Caveats: reads go to the API server. A reconciler reads from its cache instead (`ctx.find`).
 *
 * @example
 * ```ts
 * import { ConfigMap, isConflict } from "@pintle/controller";
 * import { World } from "@pintle/controller/testing";
 *
 * await using world = await World.start({ controllers: [], cluster: false });
 * const { client } = world; // in a program: new Client(clusterTransport(await loadClusterAccess({ ... })))
 * const settings = { metadata: { namespace: "default", name: "settings" }, data: { color: "red" } };
 * const created = await client.create(ConfigMap, settings);
 * await client.patch(ConfigMap, "default/settings", { kind: "merge", value: { data: { color: "blue" } } });
 * console.assert((await client.get(ConfigMap, "default/settings")).data?.color === "blue");
 *
 * const error = await client.update(ConfigMap, created).catch((error) => error);
 * console.assert(isConflict(error)); // `created` is older than the patch
 * ```
 */
export class Client extends ServerClient implements Disposable {
  readonly #transport: Transport;
  readonly #options: ClientOptions;
  readonly #requests: ObjectRequests;

  /**
   * Creates a client. It sends nothing until its first call.
   *
   * @param transport Where the requests go: `clusterTransport()` for a cluster, or any function from Request to Response.
   * @throws {RangeError} when a limit is not above 0
   */
  constructor(transport: Transport, options: ClientOptions = {}) {
    // The logger is looked up once, also for the clients of all attempts that are made from this one.
    const ownOptions = { ...options, logger: options.logger ?? logger("client") };
    const requests = new ObjectRequests(new Requester(transport, ownOptions), ownOptions);
    super(requests, ownOptions);
    this.#transport = transport;
    this.#options = ownOptions;
    this.#requests = requests;
  }

  /**
   * Creates a client for the cluster and the user of kubectl: flags (`overrides`), else KUBECONFIG, else `~/.kube/config`,
   * else the service account of the Pod. The client closes its connections when it is disposed, or ends with the program.
   *
   * @param options What is overridden, and the options of the client and of its transport.
   * @throws {KubeconfigError} when there is no configuration, or it contradicts itself
   */
  static async fromKubeconfig(options: FromKubeconfigOptions = {}): Promise<Client> {
    const { transport, clientOptions } = await kubeconfigTransport(options);
    return new Client(transport, clientOptions);
  }

  /** Closes the idle connections of a client from {@link Client.fromKubeconfig}; others are left to their transport. */
  [Symbol.dispose](): void {
    disposeOwned(this.#transport);
  }

  /** Returns a client of the same server whose writes are validated and not stored. */
  dryRunClient(): Client {
    return new Client(this.#transport, { ...this.#options, dryRun: true });
  }

  /**
   * Returns a client whose requests the server handles as those of another user: with the permissions of that user, and not
   * with those of this client, which needs the permission to impersonate it. The last `as` counts.
   *
   * @param user The user with groups, or a ServiceAccount as `namespace/name`.
   * @throws {TypeError} when a part of the user cannot be sent in a header, such as a group with a comma
   */
  as(user: ImpersonatedUser): Client {
    const impersonation = impersonationOf(user);
    return this.withTransport((transport) => impersonatingTransport(transport, impersonation));
  }

  /**
   * Returns a client with the same options whose requests go through a wrapper of the transport.
   *
   * @param wrap Gets this client's transport and returns the one to use.
   */
  withTransport(wrap: (transport: Transport) => Transport): Client {
    const client = new Client(wrap(this.#transport), this.#options);
    client.#requests.observeBy(this.#requests.observer);
    return client;
  }

  /**
   * Returns a client that reports what became of each of its writes.
   *
   * @param observer Is called before the promise of a write settles.
   */
  withWriteObserver(observer: WriteObserver): Client {
    const client = new Client(this.#transport, this.#options);
    client.#requests.observeBy(observer);
    return client;
  }

  /**
   * Reads one object.
   *
   * @param resource The kind.
   * @param key `namespace/name`, or `name` for a cluster-scoped kind.
   * @throws {ApiError} `isNotFound` when the object does not exist
   */
  async get<R extends Resource>(resource: R, key: string, options: GetOptions = {}): Promise<Infer<R>> {
    const { subresource, resourceVersion, metadataOnly = false, signal } = options;
    const path = withQuery(objectPath(resource, key, subresource), { resourceVersion });
    const accept = metadataOnly ? metadataObject : undefined;
    return await this.#requests.get({ resource, key, subresource }, {
      action: `get ${objectText(resource, key)}`,
      method: "GET",
      path,
      accept,
      signal,
    });
  }

  /**
   * Reads one object that may not exist.
   *
   * @param resource The kind.
   * @param key `namespace/name`, or `name` for a cluster-scoped kind.
   * @returns The object; undefined when it, or its kind, does not exist.
   */
  async find<R extends Resource>(resource: R, key: string, options: GetOptions = {}): Promise<Infer<R> | undefined> {
    try {
      return await this.get(resource, key, options);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  /**
   * Reads one page of a collection: the whole collection without a `limit`.
   *
   * @param resource The kind.
   * @param options The Namespace and the selectors, the size of the page and its continue token.
   * @throws {ApiError} `isGone` when the continue token or the version has expired
   */
  async list<R extends Resource>(
    resource: R,
    options: CollectionOptions & ListOptions = {},
  ): Promise<ListPage<Infer<R>>> {
    const { namespace, metadataOnly = false, keepManagedFields = false, signal } = options;
    const { limit, continue: next, resourceVersion, resourceVersionMatch, shardSelector } = options;
    const path = withQuery(resourcePath(resource, { namespace }), {
      ...selectionQuery(options),
      limit,
      continue: next,
      resourceVersion,
      resourceVersionMatch,
      shardSelector,
    });
    const action = `list ${collectionText(resource, namespace)}`;
    const accept = metadataOnly ? metadataList : undefined;
    const outgoing = { action, method: "GET", path, accept, signal } as const;
    return await this.#requests.page<R>(resource, outgoing, { dropManagedFields: !keepManagedFields });
  }

  /**
   * Reads a collection page by page, in pages of 500 without a `limit`. All pages are from one snapshot.
   *
   * @param resource The kind.
   * @param options The Namespace, the selectors and the size of a page.
   * @throws {ApiError} `isGone` when the snapshot expired between two pages
   */
  async *pages<R extends Resource>(
    resource: R,
    options: CollectionOptions & ListOptions = {},
  ): AsyncGenerator<ListPage<Infer<R>>, void, void> {
    const tokens = new PageTokens();
    let page = await this.list(resource, { limit: 500, ...options });
    yield page;
    for (let next = tokens.after(page); next !== undefined; next = tokens.after(page)) {
      // A continue token contains the version of its snapshot; the server rejects a version beside it.
      const { resourceVersion: _, resourceVersionMatch: __, ...rest } = options;
      page = await this.list(resource, { limit: 500, ...rest, continue: next });
      yield page;
    }
  }

  /**
   * Reads a whole collection in pages of 500. All pages are from the snapshot with the returned version.
   *
   * @param resource The kind.
   * @param options The Namespace and the selectors.
   * @throws {ApiError} `isGone` when the snapshot expired between two pages
   */
  async listAll<R extends Resource>(
    resource: R,
    options: CollectionOptions & ListOptions = {},
  ): Promise<ListPage<Infer<R>>> {
    const items: Infer<R>[] = [];
    for await (const page of this.pages(resource, options)) {
      for (const item of page.items) items.push(item);
      if (page.continue === undefined) return { items, resourceVersion: page.resourceVersion };
    }
    throw new TypeError("Cannot list: the last page is missing");
  }

  /**
   * Streams the changes of a collection. Each batch contains the events of one read of the connection; the first one is
   * empty and says that the server has accepted the watch. The server ends a watch every few minutes; the informers of
   * `/cache` then start the next one.
   *
   * @param resource The kind.
   * @param options The Namespace, the selectors, the version to start from, and the signal that ends the watch.
   * @throws {ApiError} when the server rejects the watch
   * @throws {UnreachableError} when the stream breaks
   */
  async *watch<R extends Resource>(
    resource: R,
    options: CollectionOptions & WatchOptions & { readonly signal: AbortSignal },
  ): AsyncGenerator<readonly WatchEvent<Infer<R>>[], void, void> {
    const { namespace, metadataOnly = false, keepManagedFields = false, reportManagers = false } = options;
    const { resourceVersion, timeoutSeconds, allowWatchBookmarks, sendInitialEvents, shardSelector } = options;
    // A signal of this watch only, so that its listeners, in the runtime too, are freed with it.
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
      shardSelector,
    });
    const action = `watch ${collectionText(resource, namespace)}`;
    const accept = metadataOnly ? metadataObject : undefined;
    try {
      const { body } = await this.#requests.requester.stream({ action, method: "GET", path, accept, signal });
      yield []; // The server has accepted the watch.
      const lines = { action, dropManagedFields: !keepManagedFields, reportManagers };
      if (body !== null) yield* watchLines<Infer<R>>(body, signal, lines);
    } finally {
      child.abort(); // Ends the request in the transport.
    }
  }

  /**
   * Yields what happens to the objects of a collection, without end: first one ADDED for each object, then their changes.
   * It resumes when a watch ends or breaks, and lists again when the version has expired.
   *
   * @param resource The kind.
   * @param options The Namespace, the selectors, and the signal that ends it.
   * @throws {ApiError} for what does not heal: 401, 403, an unknown kind
   */
  changes<R extends Resource>(resource: R, options: ChangesOptions = {}): AsyncGenerator<ObjectChange<Infer<R>>> {
    return changes(this.#source, resource, { clock: this.#options.clock, ...options }) as AsyncGenerator<
      ObjectChange<Infer<R>>
    >;
  }

  /**
   * Waits until an object is in a state. It need not exist yet.
   *
   * @param condition A condition that is to be True (`"Ready"`), `"deleted"`, or a function.
   * @returns The object in that state; the last known one when it was deleted, undefined if there was none.
   * @throws {WaitError} at the deadline, with the last state
   */
  async waitFor<R extends Resource>(
    resource: R,
    key: string,
    condition: WaitCondition<Infer<R>>,
    options: WaitForOptions = {},
  ): Promise<Infer<R> | undefined> {
    const wanted = condition as WaitCondition<KubeObject>;
    const settings = { clock: this.#options.clock, ...options };
    return await waitFor(this.#source, { resource, key }, wanted, settings) as Infer<R> | undefined;
  }

  /** Objects of any Resource are KubeObjects; TypeScript cannot see that through a type parameter. */
  get #source(): ChangesSource {
    return this as unknown as ChangesSource;
  }

  /**
   * Returns the ListWatch of a kind, as an `Informer` needs it.
   *
   * @param resource The kind.
   * @param selection The Namespace and the selectors of every list and watch.
   */
  listWatch<R extends Resource>(
    resource: R,
    selection: Omit<CollectionOptions, "signal"> = {},
  ): ListWatch<Infer<R>> {
    return {
      announcesOpen: true,
      list: (options, signal) => this.list(resource, { ...selection, ...options, signal }),
      watch: (options, signal) => this.watch(resource, { ...selection, ...options, signal }),
    };
  }

  /**
   * Creates an object. With `metadata.generateName` the server chooses the name.
   *
   * @param resource The kind.
   * @param object The object; apiVersion and kind may be absent.
   * @returns The object as the server stored it.
   * @throws {ApiError} `isAlreadyExists` when there is an object with this name
   * @throws {TypeError} when a namespaced object has no namespace
   */
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
    const key = name === undefined ? undefined : keyOf({ metadata: { namespace, name } });
    const body = printLosslessJson(whole, action);
    const outgoing = { action, method: "POST", path, body, signal: options.signal } as const;
    return await this.#requests.write({ verb: "create", resource, key, options }, outgoing);
  }

  /**
   * Replaces an object.
   *
   * @param resource The kind.
   * @param object The whole object, with the resourceVersion with which it was read.
   * @returns The object as the server stored it.
   * @throws {ApiError} `isConflict` when the object has changed since it was read
   * @throws {TypeError} when the object has integers that were rounded when it was read, because the update would change
   * them. Use `apply` or `patch`, which send only the fields that you own.
   */
  async update<R extends Resource>(resource: R, object: Infer<R>, options: WriteOptions = {}): Promise<Infer<R>> {
    const whole = withIdentity(resource, object, options.subresource);
    const key = keyForWrite("update", resource, whole);
    const action = `update ${objectText(resource, key)}`;
    const path = withQuery(objectPath(resource, key, options.subresource), writeQuery(options, this.#options));
    const body = encodeWhole(whole, action);
    return await this.#requests.write({ verb: "update", resource, key, options }, {
      action,
      method: "PUT",
      path,
      body,
      signal: options.signal,
    });
  }

  /**
   * Changes some fields of an object.
   *
   * @param resource The kind.
   * @param key `namespace/name`, or `name` for a cluster-scoped kind.
   * @param patch The change, as a merge patch, a strategic merge patch or a JSON patch.
   * @returns The object as the server stored it.
   * @throws {ApiError} `isNotFound` when the object does not exist
   */
  async patch<R extends Resource>(
    resource: R,
    key: string,
    patch: Patch<R>,
    options: WriteOptions = {},
  ): Promise<Infer<R>> {
    const path = withQuery(objectPath(resource, key, options.subresource), writeQuery(options, this.#options));
    const action = `patch ${objectText(resource, key)}`;
    const outgoing = { action, method: "PATCH", path, ...patchBody(patch, action), signal: options.signal } as const;
    return await this.#requests.write({ verb: "patch", resource, key, options, sent: () => fieldsOf(patch) }, outgoing);
  }

  /**
   * Server-side apply: sets the fields of `object` and makes the field manager their owner; creates the object if it does
   * not exist. Fields that this manager applied before, and that `object` does not have, are removed.
   *
   * @param resource The kind.
   * @param object The name and the fields that the manager wants to own.
   * @returns The object as the server stored it.
   * @throws {ApiError} `isConflict` when another manager owns a field with another value and `force` is false
   */
  async apply<R extends Resource>(
    resource: R,
    object: ApplyConfiguration<R>,
    options: ApplyOptions,
  ): Promise<Infer<R>> {
    const whole = withIdentity(resource, object, options.subresource);
    const key = keyForWrite("apply", resource, whole);
    const { fieldManager, force = false, subresource, signal } = options;
    const query = { ...writeQuery({ ...options, fieldManager }, this.#options), force };
    const action = `apply ${objectText(resource, key)}`;
    return await this.#requests.write({ verb: "apply", resource, key, options, sent: () => object }, {
      action,
      method: "PATCH",
      path: withQuery(objectPath(resource, key, subresource), query),
      contentType: patchKinds.apply.contentType,
      body: printLosslessJson(whole, action),
      signal,
    });
  }

  /**
   * Deletes an object.
   *
   * @param resource The kind.
   * @param key `namespace/name`, or `name` for a cluster-scoped kind.
   * @returns Whether the object is removed, or stays until its finalizers and its grace period are over.
   * @throws {ApiError} `isNotFound` when it does not exist, `isConflict` when a precondition fails
   */
  async delete<R extends Resource>(
    resource: R,
    key: string,
    options: DeleteOptions = {},
  ): Promise<DeleteResult<Infer<R>>> {
    return await this.#requests.delete(resource, key, options);
  }

  /**
   * Deletes the selected objects of a collection. It resolves before they are removed.
   *
   * @param resource The kind.
   * @param options The Namespace and the selectors.
   * @throws {TypeError} when the kind is namespaced and `options` has no namespace
   */
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
    const outgoing = { action, method: "DELETE", path, body: deleteBody(options, this.#options), signal } as const;
    await this.#requests.act({ verb: "deletecollection", resource, key: undefined, options }, outgoing);
  }
}
