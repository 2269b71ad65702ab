/**
 * Access to an API server in this process without HTTP and without the clock, for tests and the simulation: the stored
 * objects, in the version that the Resource names, and whether requests are still in progress.
 */
import { type Infer, type Resource, resourceName, splitKey } from "../api/mod.ts";
import type { KubernetesApi } from "../apiserver/mod.ts";
import { drain } from "../async/mod.ts";
import type { Transport } from "../client/mod.ts";

/** A stored object. @throws Error when it does not exist */
export function storedObject<R extends Resource>(api: KubernetesApi, resource: R, key: string): Infer<R> {
  const found = findStoredObject(api, resource, key);
  if (found === undefined) throw new Error(`Cannot get ${resource.kind} "${key}": it does not exist`);
  return found;
}

/** A stored object; undefined when it does not exist. */
export function findStoredObject<R extends Resource>(
  { server }: KubernetesApi,
  resource: R,
  key: string,
): Infer<R> | undefined {
  const { namespace = "", name } = splitKey(key);
  return server.storage.get(resourceName(resource), namespace, name) as Infer<R> | undefined;
}

/** All stored objects of a kind, sorted by name. @param namespace limits them to one namespace */
export function storedObjects<R extends Resource>(
  { server }: KubernetesApi,
  resource: R,
  namespace?: string,
): readonly Infer<R>[] {
  return [...server.storage.list(resourceName(resource), namespace)] as unknown as readonly Infer<R>[];
}

/** Drains without a new request after which the clients are idle; a dynamic import may need more than one. */
const idleDrains = 3;

/** The same while a request has no response: then it waits for the clock. */
const idleDrainsPending = 25;

/** A transport that counts requests, to find out when the clients that use it are idle. */
export class RequestTracker {
  readonly #transport: Transport;
  #sent = 0;
  #pending = 0;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Requests so far. */
  get sent(): number {
    return this.#sent;
  }

  readonly fetch: Transport = async (request) => {
    this.#sent++;
    this.#pending++;
    try {
      return await this.#transport(request);
    } finally {
      this.#pending--;
    }
  };

  /** Resolves when the clients send no more requests unless the clock advances. */
  async idle(): Promise<void> {
    for (
      let [seen, drains] = [this.#sent, 0];
      drains < (this.#pending > 0 ? idleDrainsPending : idleDrains);
      drains++
    ) {
      await drain();
      if (seen === this.#sent) continue;
      [seen, drains] = [this.#sent, -1];
    }
  }
}
