/**
 * Aggregator: acts on APIServices. Requests for a version of a group that an APIService gives to a Service are passed on to the
 * API server behind it, with the name of the user; its condition `Available` and its discovery are kept up to date.
 *
 * Guarantees: a version is passed on only while its APIService is available, otherwise its requests get 503; only loopback is
 * reached. Without APIServices that name a Service nothing runs, and no timer is set.
 */
import type { Clock, Random } from "../../async/mod.ts";
import { scope } from "../../async/mod.ts";
import { dialError, isUpgrade, joinHostPort, passOn } from "../forward/mod.ts";
import { plainText, type RequestForwarder, type RequestSender } from "../http/mod.ts";
import type { AggregatedVersion, AggregatedVersions } from "../discovery/mod.ts";
import { nameOf, objectAt, textAt } from "../kinds/mod.ts";
import { type JsonObject, StatusError } from "../model/mod.ts";
import type { Registry } from "../registry/mod.ts";
import { type Change, Follower, type ObjectStorage } from "../storage/mod.ts";
import { apiServiceOf, apiServices, isAvailable, localAvailability, writeAvailability } from "./api_service.ts";
import { backendOf, type FrontProxy } from "./backends.ts";
import { RemoteApi } from "./remote_api.ts";
import { isUserHeader, userHeaders } from "./user_headers.ts";

/** Options of an {@link Aggregator}. */
export interface AggregatorOptions {
  readonly storage: ObjectStorage;
  /** Writes conditions. A function, because the registry is created later. */
  readonly registry: () => Registry;
  readonly clock: Clock;
  readonly random: Random;
  /** @default other API servers get no certificate */
  readonly frontProxy?: FrontProxy;
  /** Called with each unexpected error. */
  readonly onError: (error: unknown) => void;
}

/** Other API servers have as long for their discovery, as in kube-aggregator. */
const discoveryMs = 5_000;

/** Acts on the APIServices of a storage, until it is disposed. */
export class Aggregator implements RequestForwarder, AggregatedVersions, Disposable {
  readonly #options: AggregatorOptions;
  /** Those with a Service, by name. */
  readonly #remotes = new Map<string, RemoteApi>();
  readonly #followers: Follower[] = [];
  #generation = 0;

  constructor(options: AggregatorOptions) {
    this.#options = options;
  }

  /** Begins to act; the registry must exist. */
  start(): void {
    this.#followers.push(new Follower(this.#options.storage, apiServices, () => this.#readApiServices()));
  }

  /** Grows when {@link versions} change. */
  get generation(): number {
    return this.#generation;
  }

  versions(): readonly AggregatedVersion[] {
    return [...this.#options.storage.list(apiServices)].map((object) => {
      const { name, group, version, groupPriority, versionPriority } = apiServiceOf(object);
      const remote = this.#remotes.get(name);
      return { group, version, groupPriority, versionPriority, isRemote: remote !== undefined, entry: remote?.entry };
    });
  }

  forward(request: Request, path: string, sender: RequestSender): Promise<Response> | undefined {
    if (this.#remotes.size === 0) return undefined;
    const [root, group, version, ...rest] = path.split("/").filter((part) => part !== "");
    if (root !== "apis" || group === undefined || version === undefined) return undefined;
    const remote = this.#remotes.get(`${version}.${group}`);
    return remote === undefined ? undefined : this.#passOn(request, remote, { sender, isDiscovery: rest.length === 0 });
  }

  [Symbol.dispose](): void {
    for (const follower of this.#followers) follower[Symbol.dispose]();
    for (const remote of this.#remotes.values()) remote[Symbol.dispose]();
    this.#remotes.clear();
  }

  /** APIServices are few, and all of them are read at a change. */
  #readApiServices(): void {
    this.#generation++;
    const present = new Set<string>();
    for (const object of this.#options.storage.list(apiServices)) {
      const apiService = apiServiceOf(object);
      if (apiService.service === undefined) this.#markLocal(apiService.name);
      if (apiService.service === undefined || apiService.group === "") continue;
      const { name } = apiService;
      present.add(name);
      const spec = JSON.stringify(objectAt(object, "spec"));
      if (this.#remotes.get(name)?.spec === spec) continue;
      this.#remotes.get(name)?.[Symbol.dispose]();
      this.#remotes.set(name, this.#open(object, spec));
    }
    for (const [name, remote] of this.#remotes) {
      if (present.has(name)) continue;
      remote[Symbol.dispose]();
      this.#remotes.delete(name);
    }
    if (this.#remotes.size > 0) this.#followServices();
  }

  /** Also one that had a Service before. */
  #markLocal(name: string): void {
    writeAvailability(name, localAvailability, this.#options).catch(this.#options.onError);
  }

  #open(object: JsonObject, spec: string): RemoteApi {
    const onDiscovery = () => void this.#generation++;
    const remote = new RemoteApi(apiServiceOf(object), { ...this.#options, spec, onDiscovery });
    remote.check();
    return remote;
  }

  /** Only a server with other API servers watches what leads to them. */
  #followServices(): void {
    if (this.#followers.length > 1) return;
    const { storage } = this.#options;
    const serviceOf = (object: JsonObject) => nameOf(object);
    const ownerOf = (slice: JsonObject) =>
      textAt(objectAt(objectAt(slice, "metadata"), "labels"), "kubernetes.io/service-name");
    this.#followers.push(
      new Follower(storage, "services", (changes) => this.#checkThose(changes, serviceOf)),
      new Follower(storage, "endpointslices.discovery.k8s.io", (changes) => this.#checkThose(changes, ownerOf)),
    );
  }

  #checkThose(changes: readonly Change[] | "all", nameIn: (object: JsonObject) => string): void {
    for (const remote of this.#remotes.values()) {
      const { namespace, name } = remote.service;
      const isConcerned = changes === "all" ||
        changes.some(({ current: { object } }) =>
          nameIn(object) === name && textAt(objectAt(object, "metadata"), "namespace") === namespace
        );
      if (isConcerned) remote.check();
    }
  }

  async #passOn(
    request: Request,
    remote: RemoteApi,
    { sender, isDiscovery }: { readonly sender: RequestSender; readonly isDiscovery: boolean },
  ): Promise<Response> {
    const { storage, random, clock } = this.#options;
    const live = storage.get(apiServices, "", remote.name);
    if (live === undefined || !isAvailable(live)) return unavailable("service unavailable");
    let backend;
    try {
      backend = backendOf(storage, remote.service, random);
    } catch {
      return unavailable("service unavailable");
    }
    const { pathname, search } = new URL(request.url);
    using time = scope(request.signal, isDiscovery ? { timeoutMs: discoveryMs, clock } : {});
    let address;
    try {
      address = backend.address();
      return withoutRedirect(
        await passOn(request, {
          client: remote.client,
          url: `https://${joinHostPort(address.hostname, address.port)}${pathname}${encodedQuery(search)}`,
          host: backend.host,
          remoteAddress: sender.remoteAddress,
          headers: {
            "x-forwarded-uri": [pathname],
            "x-forwarded-host": [backend.host],
            "x-forwarded-proto": ["https"],
            ...userHeaders(sender.user),
          },
          isDropped: isUserHeader,
          // A body streams on after this function.
          ...(isDiscovery ? { signal: time.signal } : {}),
        }),
      );
    } catch (error) {
      if (request.signal.aborted || error instanceof StatusError) throw error;
      const why = time.signal.aborted ? "context deadline exceeded" : dialError(error, address);
      return unavailable(`error ${isUpgrade(request) ? "dialing backend" : "trying to reach service"}: ${why}`);
    }
  }
}

/** The query as Go encodes it again: sorted by name. */
function encodedQuery(search: string): string {
  if (search === "") return "";
  const query = new URLSearchParams(search);
  query.sort();
  return `?${query.toString().replaceAll("*", "%2A").replaceAll("%7E", "~")}`;
}

function unavailable(text: string): Response {
  return plainText(`${text}\n`, 503);
}

/** A redirect would make this server send the user's name elsewhere. */
async function withoutRedirect(response: Response): Promise<Response> {
  if (response.status < 300 || response.status > 399 || !response.headers.has("location")) return response;
  await response.body?.cancel();
  return plainText("the backend attempted to redirect this request, which is not permitted", 502);
}
