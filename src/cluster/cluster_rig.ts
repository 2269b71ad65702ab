/**
 * A cluster for tests of what is in this folder: an API server in memory, simulated nodes and controllers, and a clock that
 * moves only when a test says so. World of src/simulation is the same for tests of an operator; it stands above this layer.
 */
import { kubernetesApi } from "../apiserver/mod.ts";
import { builtin, type Infer, type KubeObject, type Resource } from "../api/mod.ts";
import { drain, seededRandom, VirtualClock } from "../async/mod.ts";
import { Client, type DeleteOptions, type NewObject } from "../client/mod.ts";
import type { KubeletPace } from "./kubelet.ts";
import { SimulatedCluster } from "./simulated_cluster.ts";
import { findStoredObject, storedObject, storedObjects } from "./stored_objects.ts";

/** Options of {@link ClusterRig.start}. */
export interface ClusterRigOptions {
  readonly nodes?: number;
  readonly pace?: KubeletPace;
}

/** Virtual milliseconds without a write that count as settled. */
const quietMs = 3_000;

/** Drains in which nothing is sent, until nobody is about to. */
const quietDrains = 4;

/** A running cluster. */
export class ClusterRig implements AsyncDisposable {
  readonly clock = new VirtualClock();
  readonly client: Client;
  readonly #api: ReturnType<typeof kubernetesApi>;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  /** What was written, by whomever: `DELETE /api/v1/...`. */
  readonly writes: string[] = [];
  #sent = 0;

  private constructor({ nodes, pace }: ClusterRigOptions) {
    const [clock, random] = [this.clock, seededRandom(1)];
    this.#api = kubernetesApi({ clock, random });
    this.client = new Client((request) => {
      this.#sent++;
      if (request.method !== "GET") this.writes.push(`${request.method} ${new URL(request.url).pathname}`);
      return this.#api.server.fetch(request);
    }, { clock });
    const cluster = new SimulatedCluster({ client: this.client, nodes, pace, clock, random });
    this.#running = cluster.run({ stop: this.#stop.signal, kill: this.#stop.signal });
  }

  /** Starts one, and waits until it has settled. */
  static async start(options: ClusterRigOptions = {}): Promise<ClusterRig> {
    const rig = new ClusterRig(options);
    await rig.settled();
    return rig;
  }

  /** Grows with every write. */
  get revision(): number {
    return this.#api.server.storage.revision;
  }

  /** Creates an object in `default`, unless it says otherwise. */
  async create<R extends Resource>(resource: R, name: string, rest: object, metadata: object = {}): Promise<Infer<R>> {
    const home = resource.scope === "Namespaced" ? { namespace: "default" } : {};
    // What a kind wants is checked by the server; a test may want what is wrong.
    return await this.client.create(resource, { metadata: { ...home, name, ...metadata }, ...rest } as NewObject<R>);
  }

  /** Changes some fields. @param subresource where they are */
  async patch<R extends Resource>(resource: R, key: string, value: object, subresource?: string): Promise<Infer<R>> {
    return await this.client.patch(resource, key, { kind: "merge", value: value as never }, { subresource });
  }

  async delete(resource: Resource, key: string, options: DeleteOptions = {}): Promise<void> {
    await this.client.delete(resource, key, options);
  }

  /** The object as the server has it. @throws Error when there is none */
  get<R extends Resource>(resource: R, key: string): Infer<R> {
    return storedObject(this.#api, resource, key);
  }

  /** The object as the server has it. */
  find<R extends Resource>(resource: R, key: string): Infer<R> | undefined {
    return findStoredObject(this.#api, resource, key);
  }

  /** All objects of a kind, by name. */
  list<R extends Resource>(resource: R, namespace = "default"): readonly Infer<R>[] {
    return storedObjects(this.#api, resource, namespace);
  }

  /** The names of all objects of a kind. */
  names(resource: Resource<KubeObject>, namespace?: string): readonly string[] {
    return this.list(resource, namespace).map(({ metadata }) => metadata.name ?? "");
  }

  /** The names of the objects of a kind that were deleted since the rig was last asked, in that order, each once. */
  deleted({ plural }: Resource): readonly string[] {
    const pattern = new RegExp(`^DELETE .*/${plural}/([^/]+)$`);
    return [...new Set(this.writes.splice(0).flatMap((write) => pattern.exec(write)?.[1] ?? []))];
  }

  /** Lets `ms` pass, in steps, and calls `look` after each. */
  async pass(ms: number, look: () => void = () => {}, stepMs = 100): Promise<void> {
    for (let passed = 0; passed < ms; passed += stepMs) {
      await this.#rest();
      look();
      await this.clock.advance(stepMs);
    }
    await this.#rest();
    look();
  }

  /** Lets time pass until nobody has written for a while. @param look is called whenever something was written */
  async settled(look: () => void = () => {}): Promise<void> {
    for (let [revision, quietSince, steps] = [-1, 0, 0]; steps < 20_000; steps++) {
      await this.#rest();
      const now = this.clock.monotonic();
      if (revision !== this.revision) {
        [revision, quietSince] = [this.revision, now];
        look();
      }
      if (now - quietSince >= quietMs) return;
      await this.clock.advance(Math.min(this.clock.nextTimerInMs ?? quietMs, 500));
    }
    throw new Error("Cannot settle: somebody still writes");
  }

  /** Resolves when nobody is about to send anything without time passing. */
  async #rest(): Promise<void> {
    for (let [sent, still] = [this.#sent, 0]; still < quietDrains; still++) {
      await drain();
      if (sent !== this.#sent) [sent, still] = [this.#sent, -1];
    }
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

/** A template of Pods that are labelled `app: NAME`. */
export function templateOf(name: string, image = "app:1", spec: object = {}) {
  return { metadata: { labels: { app: name } }, spec: { containers: [{ name: "main", image }], ...spec } };
}

/** What selects them. */
export function selectorFor(name: string) {
  return { matchLabels: { app: name } };
}

/** How many of these Pods are ready. */
export function readyOf(pods: readonly Infer<typeof builtin.Pod>[]): number {
  return pods.filter(({ status }) =>
    status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True")
  )
    .length;
}
