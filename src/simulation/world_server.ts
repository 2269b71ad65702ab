/**
 * WorldServer: an API server in memory, as a test sees it: its stored objects, and the changes that users make. World is one,
 * with controllers that run on it; each server of a FleetWorld is one.
 *
 * Guarantees: writes are decoded, defaulted, validated and admitted as kube-apiserver does; only an owner reference that the
 * garbage collector could not follow is refused (`owner_references.ts`). Nothing here is affected by faults.
 */
import type { Infer, ObjectMeta, Resource } from "../api/mod.ts";
import { type KubernetesApi, kubernetesApi, type KubernetesApiOptions } from "../apiserver/mod.ts";
import type { VirtualClock } from "../async/mod.ts";
import { Client, type DeepPartial, type DeleteOptions, type NewObject, type Patch } from "../client/mod.ts";
import {
  conversionsOf,
  findStoredObject,
  type InMemoryApi,
  RequestTracker,
  storedObject,
  storedObjects,
} from "../cluster/mod.ts";
import type { OperatorController } from "../manager/mod.ts";
import { refuseUnreachableOwners } from "./owner_references.ts";

/** An object for {@link WorldServer.create}: its name and other metadata, and the fields of its kind at the same level. */
export type WorldObject<R extends Resource> =
  & Pick<ObjectMeta, "labels" | "annotations" | "finalizers" | "ownerReferences">
  & {
    /** The name of the object. */
    readonly name: string;
    /** The namespace of the object. @default "default", for namespaced kinds */
    readonly namespace?: string;
  }
  & DeepPartial<Omit<Infer<R>, "apiVersion" | "kind" | "metadata" | "status">>;

/** What a {@link WorldServer} consists of. */
export interface WorldServerParts {
  readonly api: KubernetesApi;
  readonly requests: RequestTracker;
  readonly controllers: readonly OperatorController[];
  readonly clock: VirtualClock;
}

/** Creates the parts of a server. */
export function worldServerParts(
  controllers: readonly OperatorController[],
  options: KubernetesApiOptions & { readonly clock: VirtualClock },
): WorldServerParts {
  const api = kubernetesApi(options);
  return { api, requests: new RequestTracker(refuseUnreachableOwners(api)), controllers, clock: options.clock };
}

/** An API server in memory, as a test sees it. {@link World} and the servers of a {@link FleetWorld} are such servers. */
export abstract class WorldServer {
  /** A client of the server with all rights, which no fault affects. */
  readonly client: Client;
  readonly #api: KubernetesApi;
  readonly #stored: InMemoryApi;

  /** Used by the subclasses. */
  constructor({ api, requests, controllers, clock }: WorldServerParts) {
    this.#api = api;
    this.#stored = { server: api.server, conversions: conversionsOf(controllers) };
    this.client = new Client(requests.fetch, { clock });
  }

  /** The revision of the server, which grows with every write. */
  get revision(): number {
    return this.#api.server.storage.revision;
  }

  /**
   * Creates an object, as a user with kubectl would.
   *
   * @returns The stored object, with the defaults of the server.
   * @throws ApiError when the server rejects it
   */
  async create<R extends Resource>(resource: R, object: WorldObject<R>): Promise<Infer<R>> {
    const { name, namespace = "default", labels, annotations, finalizers, ownerReferences, ...rest } = object;
    const namespaced = resource.scope === "Namespaced" ? { namespace } : {};
    const metadata = { name, ...namespaced, labels, annotations, finalizers, ownerReferences };
    // WorldObject checks the fields of the kind; the client's type differs only in the place of the metadata.
    return await this.client.create(resource, { metadata, ...rest } as unknown as NewObject<R>);
  }

  /**
   * The stored object, in the version of the Resource. It is converted if it is stored in another one.
   *
   * @param key "namespace/name", or "name" if the kind is cluster-scoped.
   * @throws Error when it does not exist
   */
  get<R extends Resource>(resource: R, key: string): Infer<R> {
    return storedObject(this.#stored, resource, key);
  }

  /**
   * The stored object, in the version of the Resource; undefined when it does not exist.
   *
   * @param key "namespace/name", or "name" if the kind is cluster-scoped.
   */
  find<R extends Resource>(resource: R, key: string): Infer<R> | undefined {
    return findStoredObject(this.#stored, resource, key);
  }

  /** All stored objects of a kind, in the version of the Resource, sorted by name. @param namespace @default all namespaces */
  list<R extends Resource>(resource: R, namespace?: string): readonly Infer<R>[] {
    return storedObjects(this.#stored, resource, namespace);
  }

  /**
   * Changes fields of an object, as a user with kubectl would.
   *
   * @param subresource For example "status". @default the object itself
   * @returns The stored object.
   * @throws ApiError when the server rejects it
   */
  async patch<R extends Resource>(resource: R, key: string, patch: Patch<R>, subresource?: string): Promise<Infer<R>> {
    return await this.client.patch(resource, key, patch, { subresource, fieldManager: "user" });
  }

  /**
   * Deletes an object. It does not wait for finalizers; `settled()` of the world does.
   *
   * @throws ApiError when the server rejects it
   */
  async delete<R extends Resource>(resource: R, key: string, options: DeleteOptions = {}): Promise<void> {
    await this.client.delete(resource, key, options);
  }
}
