/**
 * ApiServer: a Kubernetes API in this process. It connects storage, registry and HTTP, and responds to requests like a
 * kube-apiserver 1.36. Its `fetch` is a Transport of src/client; a listener can serve it over a socket.
 *
 * Guarantees: time and randomness come only from the Clock and the Random. Two servers with the same seed that get the same
 * requests send the same responses, byte for byte. Disposing it ends all watches and timers.
 *
 * Caveats: it is for development and tests. Its objects exist only in memory, unless a Durability keeps them.
 */
import { type Clock, type Random, systemClock, systemRandom } from "../async/mod.ts";
import { LineWriter, MetricsRegistry, redactText } from "../observe/mod.ts";
import { type ReceivedHead, standardError } from "../runtime/mod.ts";
import {
  type BodyDecoder,
  type FeatureGate,
  type HealthCheck,
  HealthChecks,
  HttpHandler,
  type PathHandler,
  type RequestForwarder,
  requestMetrics,
  Watches,
} from "./http/mod.ts";
import type { AdmissionPlugin, Authenticator, Authorizer, Connection, FlowControl, User } from "./model/mod.ts";
import {
  type ComputedObjects,
  type KindFamily,
  KindRegistry,
  loopbackCall,
  namespaceLifecycle,
  Registry,
  type ReviewHandler,
  type SubresourceHandler,
} from "./registry/mod.ts";
import { type Durability, ObjectStorage } from "./storage/mod.ts";

/** Options of {@link ApiServer}. */
export interface ApiServerOptions {
  /** The initial kinds; more can be added to `server.kinds` at any time. @default none */
  readonly families?: Iterable<KindFamily>;
  /** For parts that need the kinds before the server exists. @default an empty registry */
  readonly kinds?: KindRegistry;
  /** @default an empty storage */
  readonly storage?: ObjectStorage;
  /** What keeps the changes of the storage; responses and watches wait for it. @default nothing: they are in memory only */
  readonly durability?: Durability;
  /** @default systemClock */
  readonly clock?: Clock;
  /** The source of UIDs and generated names. @default systemRandom */
  readonly random?: Random;
  /** @default every user is `system:admin` in `system:masters` */
  readonly authenticator?: Authenticator;
  /** @default everything is allowed */
  readonly authorizer?: Authorizer;
  /** Plugins after NamespaceLifecycle, in the order of their calls. @default none */
  readonly admission?: readonly AdmissionPlugin[];
  /** @default none */
  readonly subresources?: readonly SubresourceHandler[];
  /** @default none */
  readonly reviews?: readonly ReviewHandler[];
  /** Kinds whose objects are computed when they are read. @default none */
  readonly computed?: readonly ComputedObjects[];
  /** Handlers of paths that are not about objects, in the order of their calls. @default none */
  readonly paths?: readonly PathHandler[];
  /** Passes requests on to other API servers. @default this server answers all requests itself */
  readonly forwarder?: RequestForwarder;
  /** Decoders of bodies that are neither JSON nor YAML, for built-in kinds. @default none */
  readonly decoders?: readonly BodyDecoder[];
  /** Feature gates that are on beside those of the default. @default none */
  readonly features?: readonly FeatureGate[];
  /** @default only `ping` */
  readonly checks?: readonly HealthCheck[];
  /** The metrics of /metrics. @default a new registry */
  readonly metrics?: MetricsRegistry;
  /** Lets requests of known senders wait for a seat, or refuses them. @default all are served at once */
  readonly flowControl?: FlowControl;
  /** Milliseconds between two bookmarks of a watch. @default 60000 */
  readonly bookmarkMs?: number;
  /** Namespaces that exist from the start, if the server serves namespaces. @default the system namespaces */
  readonly namespaces?: readonly string[];
  /** What ends with the server: clients of other programs. @default nothing */
  readonly resources?: readonly Disposable[];
  /** Called before each request, for work that depends on the time. @default nothing */
  readonly beforeRequest?: () => void;
  /** Called with each unexpected error; the client gets a 500. @default writes it to stderr, without secrets */
  readonly onError?: (error: unknown) => void;
}

/** The user of requests to a server without users. */
export const admin: User = {
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
  /** The verbs, for code inside the server. */
  readonly registry: Registry;
  readonly #watches: Watches;
  readonly #handler: HttpHandler;
  readonly #beforeRequest: () => void;
  readonly #resources: readonly Disposable[];
  /** Pending until the first namespaces exist. */
  #start: Promise<void> | undefined;

  constructor(options: ApiServerOptions = {}) {
    const { clock = systemClock, random = systemRandom, kinds = new KindRegistry() } = options;
    const storage = options.storage ?? new ObjectStorage();
    this.kinds = kinds;
    this.storage = storage;
    this.#beforeRequest = options.beforeRequest ?? (() => {});
    this.#resources = options.resources ?? [];
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
      computed: options.computed ?? [],
    });
    const bookmarks = options.bookmarkMs === undefined ? {} : { bookmarkMs: options.bookmarkMs };
    const { durability } = options;
    this.#watches = new Watches({ registry: this.registry, clock, random, durability, ...bookmarks });
    this.#handler = new HttpHandler({
      registry: this.registry,
      watches: this.#watches,
      clock,
      random,
      durability,
      authenticator: options.authenticator ?? { authenticate: () => admin },
      authorizer: options.authorizer ?? { authorize: () => ({ isAllowed: true, reason: "" }) },
      paths: options.paths ?? [],
      forwarder: options.forwarder,
      decoders: options.decoders ?? [],
      features: options.features ?? [],
      health: new HealthChecks(options.checks ?? [{ name: "ping", check: () => undefined }]),
      metrics: requestMetrics(options.metrics ?? new MetricsRegistry(), () => storage.collections()),
      ...(options.flowControl === undefined ? {} : { flowControl: options.flowControl }),
      onError: options.onError ?? reportError,
    });
    const namespaces = this.#missing(options.namespaces ?? systemNamespaces);
    if (namespaces.length > 0) this.#start = this.#createNamespaces(namespaces);
  }

  /** Handles one request; never rejects. It is a Transport of src/client. */
  readonly fetch = (request: Request, connection?: Connection): Promise<Response> => {
    this.#beforeRequest();
    return this.#start === undefined
      ? this.#handler.handle(request, connection)
      : this.#start.then(() => this.#handler.handle(request, connection));
  };

  /** True if the sender of a request is known. A listener reads no body of an unknown one. */
  authenticates(request: ReceivedHead, connection: Connection = {}): boolean {
    return this.#handler.authenticates(request, connection);
  }

  /** The number of open watches. */
  get watches(): number {
    return this.#watches.size;
  }

  /** Ends all watches and timers. */
  [Symbol.dispose](): void {
    this.#watches[Symbol.dispose]();
    for (const resource of this.#resources) resource[Symbol.dispose]();
  }

  /** The namespaces that are not in the storage yet. */
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

/** The default of `onError`. */
export function reportError(error: unknown): void {
  const text = error instanceof Error ? error.stack ?? String(error) : String(error);
  new LineWriter(standardError).writeLines(...redactText(text).split("\n"));
}
