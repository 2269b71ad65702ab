/**
 * TestCluster: a cluster for the tests of this folder: an API server in memory, simulated nodes and controllers, and a virtual
 * clock. World in src/simulation is the same for tests of operators; it belongs to a higher layer.
 */
import type { builtin, Infer, KubeObject, Resource } from "../../api/mod.ts";
import { kubernetesApi } from "../../apiserver/mod.ts";
import { seededRandom, VirtualClock } from "../../async/mod.ts";
import { Client, type DeleteOptions, type NewObject } from "../../client/mod.ts";
import type { Logger } from "../../observe/mod.ts";
import { findStoredObject, RequestTracker, storedObject, storedObjects } from "../in_memory_api.ts";
import type { KubeletPace } from "../kubelet.ts";
import { SimulatedCluster } from "../simulated_cluster.ts";

/** Options of {@link TestCluster.start}. */
export interface TestClusterOptions {
  readonly nodes?: number;
  readonly pace?: KubeletPace;
  /** The kinds that are garbage collected. @default all kinds of the server */
  readonly collected?: readonly Resource[];
  /** Gets the warnings of the server. @default logger("client") */
  readonly logger?: Logger;
}

/** Virtual milliseconds without a write after which the cluster has settled. */
const quietMs = 3_000;

/** A running cluster. */
export class TestCluster implements AsyncDisposable {
  readonly clock = new VirtualClock();
  readonly client: Client;
  readonly #api: ReturnType<typeof kubernetesApi>;
  readonly #requests: RequestTracker;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  /** All writes of the cluster and of the test: `DELETE /api/v1/...`. */
  readonly writes: string[] = [];
  /** The paths that the cluster and the test have read. */
  readonly reads: Set<string> = new Set();

  private constructor({ nodes, pace, collected, logger }: TestClusterOptions) {
    const [clock, random] = [this.clock, seededRandom(1)];
    this.#api = kubernetesApi({ clock, random, components: ["controller-manager", "scheduler"] });
    this.#requests = new RequestTracker(this.#api.server.fetch);
    this.client = new Client((request) => {
      const { pathname } = new URL(request.url);
      if (request.method === "GET") this.reads.add(pathname);
      else this.writes.push(`${request.method} ${pathname}`);
      return this.#requests.fetch(request);
    }, { clock, logger });
    const { storage } = this.#api.server;
    const cluster = new SimulatedCluster({ client: this.client, storage, collected, nodes, pace, clock, random });
    this.#running = cluster.run({ stop: this.#stop.signal, kill: this.#stop.signal });
  }

  /** Starts a cluster and waits until it has settled. */
  static async start(options: TestClusterOptions = {}): Promise<TestCluster> {
    const cluster = new TestCluster(options);
    await cluster.settled();
    return cluster;
  }

  /** The revision of the server, which grows with every write. */
  get revision(): number {
    return this.#api.server.storage.revision;
  }

  /** Creates an object. @param metadata overrides the name and the namespace `default` */
  async create<R extends Resource>(resource: R, name: string, rest: object, metadata: object = {}): Promise<Infer<R>> {
    const namespaced = resource.scope === "Namespaced" ? { namespace: "default" } : {};
    // Not typed by the kind, so that a test can send an invalid object.
    const object = { metadata: { ...namespaced, name, ...metadata }, ...rest };
    return await this.client.create(resource, object as NewObject<R>);
  }

  /** Sends a merge patch. */
  async patch<R extends Resource>(resource: R, key: string, value: object, subresource?: string): Promise<Infer<R>> {
    return await this.client.patch(resource, key, { kind: "merge", value: value as never }, { subresource });
  }

  async delete(resource: Resource, key: string, options: DeleteOptions = {}): Promise<void> {
    await this.client.delete(resource, key, options);
  }

  /** A stored object. @throws Error when it does not exist */
  get<R extends Resource>(resource: R, key: string): Infer<R> {
    return storedObject(this.#api, resource, key);
  }

  /** A stored object; undefined when it does not exist. */
  find<R extends Resource>(resource: R, key: string): Infer<R> | undefined {
    return findStoredObject(this.#api, resource, key);
  }

  /** All objects of a kind, sorted by name. */
  list<R extends Resource>(resource: R, namespace = "default"): readonly Infer<R>[] {
    return storedObjects(this.#api, resource, namespace);
  }

  /** The names of all objects of a kind. */
  names(resource: Resource<KubeObject>, namespace?: string): readonly string[] {
    return this.list(resource, namespace).map(({ metadata }) => metadata.name ?? "");
  }

  /** The names of the objects of a kind that were deleted since the last call, in that order, each once. */
  deleted({ plural }: Resource): readonly string[] {
    const pattern = new RegExp(`^DELETE .*/${plural}/([^/]+)$`);
    return [...new Set(this.writes.splice(0).flatMap((write) => pattern.exec(write)?.[1] ?? []))];
  }

  /** Advances the clock by `ms` in steps. @param check called after each step */
  async pass(ms: number, check: () => void = () => {}, stepMs = 100): Promise<void> {
    for (let passed = 0; passed < ms; passed += stepMs) {
      await this.#requests.idle();
      check();
      await this.clock.advance(stepMs);
    }
    await this.#requests.idle();
    check();
  }

  /** Advances the clock until there was no write for a while. @param check called after each write */
  async settled(check: () => void = () => {}): Promise<void> {
    for (let [revision, quietSince, steps] = [-1, 0, 0]; steps < 20_000; steps++) {
      await this.#requests.idle();
      const now = this.clock.monotonic();
      if (revision !== this.revision) {
        [revision, quietSince] = [this.revision, now];
        check();
      }
      if (now - quietSince >= quietMs) return;
      await this.clock.advance(Math.min(this.clock.nextTimerInMs ?? quietMs, 500));
    }
    throw new Error("Cannot settle: the cluster does not stop writing");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    let isOver = false;
    const over = () => void (isOver = true);
    this.#running.then(over, over);
    while (!isOver) await this.clock.advance(this.clock.nextTimerInMs ?? 0);
    this.#api.server[Symbol.dispose]();
  }
}

/** A Pod template with the label `app: NAME`. */
export function templateOf(name: string, image = "app:1", spec: object = {}) {
  return { metadata: { labels: { app: name } }, spec: { containers: [{ name: "main", image }], ...spec } };
}

/** The selector of that label. */
export function selectorFor(name: string) {
  return { matchLabels: { app: name } };
}

/** The number of ready Pods. */
export function readyOf(pods: readonly Infer<typeof builtin.Pod>[]): number {
  const isReady = ({ status }: Infer<typeof builtin.Pod>) =>
    status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True");
  return pods.filter(isReady).length;
}
