/**
 * Access to an API server in this process without HTTP and without the clock, for tests and the simulation: the stored
 * objects, in the version that the Resource names, and whether requests are still in progress.
 */
import { apiVersionOf, type Infer, type Resource, resourceName, splitKey } from "../api/mod.ts";
import type { KubernetesApi } from "../apiserver/mod.ts";
import { drain } from "../async/mod.ts";
import type { Transport } from "../client/mod.ts";
import type { OperatorController } from "../manager/mod.ts";
import type { ConversionWebhook } from "../webhook/mod.ts";

/** An API server in this process, and the conversions that it calls. */
export interface InMemoryApi extends Pick<KubernetesApi, "server"> {
  /** The conversion webhooks of the controllers. @default none */
  readonly conversions?: readonly ConversionWebhook[];
}

/** A stored object. @throws Error when it does not exist */
export function storedObject<R extends Resource>(api: InMemoryApi, resource: R, key: string): Infer<R> {
  const found = findStoredObject(api, resource, key);
  if (found === undefined) throw new Error(`Cannot get ${resource.kind} "${key}": it does not exist`);
  return found;
}

/** A stored object; undefined when it does not exist. */
export function findStoredObject<R extends Resource>(api: InMemoryApi, resource: R, key: string): Infer<R> | undefined {
  const { namespace = "", name } = splitKey(key);
  const stored = api.server.storage.get(collectionOf(api, resource), namespace, name);
  return stored === undefined ? undefined : inVersion(api, resource, [stored])[0];
}

/** All stored objects of a kind, sorted by name. @param namespace limits them to one namespace */
export function storedObjects<R extends Resource>(
  api: InMemoryApi,
  resource: R,
  namespace?: string,
): readonly Infer<R>[] {
  return inVersion(api, resource, [...api.server.storage.list(collectionOf(api, resource), namespace)]);
}

/** Where the objects are stored: Events of both groups, for example, in the same place. */
function collectionOf({ server }: InMemoryApi, resource: Resource): string {
  const { group, version, plural } = resource;
  return server.kinds.find(group, version, plural)?.kind.collection ?? resourceName(resource);
}

type StoredJson = NonNullable<ReturnType<KubernetesApi["server"]["storage"]["get"]>>;

/** Converts as the server does, but at once: the conversions of the controllers are functions. */
function inVersion<R extends Resource>(
  { server, conversions = [] }: InMemoryApi,
  resource: R,
  objects: readonly StoredJson[],
): readonly Infer<R>[] {
  const apiVersion = apiVersionOf(resource);
  if (objects.every((object) => object["apiVersion"] === apiVersion)) return objects as unknown as readonly Infer<R>[];
  const { group, version, plural, kind: name } = resource;
  const kind = server.kinds.find(group, version, plural)?.kind;
  if (kind === undefined) throw new Error(`Cannot get ${name} objects: the server does not serve ${apiVersion}`);
  const webhook = conversions.find((one) => resourceName(one.resource) === resourceName(resource));
  const converted = webhook === undefined
    ? objects
    : objects.map((object) =>
      object["apiVersion"] === apiVersion ? object : webhook.convert(structuredClone(object), apiVersion) as StoredJson
    );
  const shown = kind.convert(converted);
  if (!(shown instanceof Promise)) return shown as unknown as readonly Infer<R>[];
  shown.catch(() => {}); // the error below says why its result is of no use
  throw new Error(
    `Cannot get ${name} objects in ${apiVersion}: their conversion webhook is not one of the controllers'. Use the client`,
  );
}

/** The conversion webhooks of controllers. */
export function conversionsOf(controllers: readonly OperatorController[]): readonly ConversionWebhook[] {
  return controllers.flatMap(({ webhooks = [] }) => webhooks.filter((webhook) => webhook.kind === "converting"));
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
