/**
 * ApiServer: the Kubernetes API as a fetch handler (architecture.md D2). It answers as a kube-apiserver 1.36 does; a
 * listener may stand in front of it, and in memory its `fetch` is a Transport.
 *
 * Guarantees: time and chance come from the Clock and Random alone; two servers with the same seed that get the same
 * requests give the same answers, byte for byte; nothing of it outlives its disposal.
 * It is for development and tests: what it stores is gone with it.
 */
import { type Clock, type Random, systemClock, systemRandom } from "../async/mod.ts";
import { MetricsRegistry } from "../observe/mod.ts";
import {
  type BodyDecoder,
  type Connection,
  type HealthCheck,
  HttpHandler,
  type PathHandler,
  requestMetrics,
  Watches,
} from "./http/mod.ts";
import { loopbackCall } from "./loopback_call.ts";
import type { AdmissionPlugin, Authenticator, Authorizer, User } from "./model/mod.ts";
import {
  type KindFamily,
  KindRegistry,
  namespaceLifecycle,
  Registry,
  type ReviewHandler,
  type SubresourceHandler,
} from "./registry/mod.ts";
import { ObjectStorage } from "./storage/mod.ts";

/** Options of {@link ApiServer}. */
export interface ApiServerOptions {
  /** Families of kinds to begin with; more may be added to `server.kinds` at any time. @default none */
  readonly families?: Iterable<KindFamily>;
  /** @default an empty one; made outside when something else needs it before the server is there */
  readonly kinds?: KindRegistry;
  /** @default an empty one */
  readonly storage?: ObjectStorage;
  /** @default systemClock */
  readonly clock?: Clock;
  /** UIDs and generated names are drawn from it. @default systemRandom */
  readonly random?: Random;
  /** @default everybody is `system:admin` in `system:masters` */
  readonly authenticator?: Authenticator;
  /** @default everything is allowed */
  readonly authorizer?: Authorizer;
  /** Asked after the life of namespaces, in this order. @default none */
  readonly admission?: readonly AdmissionPlugin[];
  /** @default none */
  readonly subresources?: readonly SubresourceHandler[];
  /** @default none */
  readonly reviews?: readonly ReviewHandler[];
  /** Paths that are about no object, asked in this order. @default none */
  readonly paths?: readonly PathHandler[];
  /** Of bodies that are neither JSON nor YAML, for built-in kinds. @default none */
  readonly decoders?: readonly BodyDecoder[];
  /** @default `ping` alone */
  readonly checks?: readonly HealthCheck[];
  /** Where /metrics comes from. @default one of its own */
  readonly metrics?: MetricsRegistry;
  /** Milliseconds between two bookmarks of a watch. @default 60000 */
  readonly bookmarkMs?: number;
  /** Namespaces that are there from the start, if the server knows namespaces. @default those of every cluster */
  readonly namespaces?: readonly string[];
  /** Told of what should not have happened; the client gets a 500. @default console.error */
  readonly onError?: (error: unknown) => void;
}

const admin: User = {
  name: "system:admin",
  uid: "",
  groups: ["system:masters", "system:authenticated"],
  extra: new Map(),
};

const systemNamespaces: readonly string[] = ["default", "kube-node-lease", "kube-public", "kube-system"];

/**
 * A Kubernetes API in this process.
 *
 * @example
 * ```ts
 * import { ApiServer } from "./mod.ts";
 *
 * using server = new ApiServer();
 * const response = await server.fetch(new Request("http://in.memory/readyz"));
 * console.assert(await response.text() === "ok");
 * ```
 */
export class ApiServer implements Disposable {
  readonly kinds: KindRegistry;
  readonly storage: ObjectStorage;
  /** The verbs, for what runs inside the server. */
  readonly registry: Registry;
  readonly #watches: Watches;
  readonly #handler: HttpHandler;
  /** Pending until the first namespaces are there. */
  #start: Promise<void> | undefined;

  constructor(options: ApiServerOptions = {}) {
    const { clock = systemClock, random = systemRandom, kinds = new KindRegistry() } = options;
    const storage = options.storage ?? new ObjectStorage();
    this.kinds = kinds;
    this.storage = storage;
    for (const family of options.families ?? []) kinds.set(family);
    const lifecycle = namespaceLifecycle({
      objects: storage,
      hasNamespaces: () => kinds.family("namespaces") !== undefined,
    });
    this.registry = new Registry({
      storage,
      kinds,
      clock,
      random,
      admission: [lifecycle, ...options.admission ?? []],
      subresources: options.subresources ?? [],
      reviews: options.reviews ?? [],
    });
    const bookmarks = options.bookmarkMs === undefined ? {} : { bookmarkMs: options.bookmarkMs };
    this.#watches = new Watches({ registry: this.registry, clock, random, ...bookmarks });
    this.#handler = new HttpHandler({
      registry: this.registry,
      watches: this.#watches,
      clock,
      random,
      authenticator: options.authenticator ?? { authenticate: () => admin },
      authorizer: options.authorizer ?? { authorize: () => ({ isAllowed: true, reason: "" }) },
      paths: options.paths ?? [],
      decoders: options.decoders ?? [],
      checks: options.checks ?? [{ name: "ping", check: () => undefined }],
      metrics: requestMetrics(options.metrics ?? new MetricsRegistry(), () => storage.collections()),
      onError: options.onError ?? ((error) => console.error(error)),
    });
    const namespaces = this.#missing(options.namespaces ?? systemNamespaces);
    if (namespaces.length > 0) this.#start = this.#createNamespaces(namespaces);
  }

  /** Answers one request; never rejects. A Transport of `src/client`. */
  readonly fetch = (request: Request, connection?: Connection): Promise<Response> => {
    return this.#start === undefined
      ? this.#handler.handle(request, connection)
      : this.#start.then(() => this.#handler.handle(request, connection));
  };

  /** Open watches. */
  get watches(): number {
    return this.#watches.size;
  }

  /** Ends all watches and timers. */
  [Symbol.dispose](): void {
    this.#watches[Symbol.dispose]();
  }

  /** Those of the namespaces that a storage from before does not have. */
  #missing(names: readonly string[]): readonly string[] {
    return names.filter((name) => this.storage.find("namespaces", "", name) === undefined);
  }

  async #createNamespaces(names: readonly string[]): Promise<void> {
    const family = this.kinds.family("namespaces");
    const [kind] = family?.served ?? [];
    if (family !== undefined && kind !== undefined) {
      for (const name of names) {
        const call = loopbackCall({ kind, family });
        await this.registry.create(call, () => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } }));
      }
    }
    this.#start = undefined;
  }
}
