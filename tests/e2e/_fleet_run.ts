/**
 * FleetRun: one process of the binary that works in two real clusters, by the kubeconfigs of a folder, and how long the
 * clusters wait for it. Used by fleet_outage_test.ts and by bench/cases/fleet.ts.
 */
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { informersOf } from "../../src/cache.ts";
import { Client } from "../../src/client.ts";
import { Foo } from "../../src/controllers/foo/mod.ts";
import { Deployment } from "../../src/mod.ts";
import type { ControlPlane } from "../controlplane/mod.ts";
import { until } from "../controlplane/mod.ts";
import { Binary } from "./_binary.ts";
import { installFoo } from "./_cluster.ts";

/** Two clusters, and the operator of both. */
export class FleetRun implements AsyncDisposable {
  readonly operator: Binary;
  readonly #folder: string;

  private constructor(operator: Binary, folder: string) {
    this.operator = operator;
    this.#folder = folder;
  }

  /** Installs Foo in both clusters, and starts the operator. The first one is the hub. @param options `binary`: its path */
  static async start(
    east: ControlPlane,
    west: ControlPlane,
    { binary }: { readonly binary?: string } = {},
  ): Promise<FleetRun> {
    const folder = mkdtempSync(join(tmpdir(), "pintle-fleet-"));
    copyFileSync(east.kubeconfig, join(folder, "east.yaml"));
    copyFileSync(west.kubeconfig, join(folder, "west.yaml"));
    for (const controlPlane of [east, west]) await installFoo(controlPlane, binary);
    const args = ["run", "foo", "--clusters", `folder:${folder}`, "--leader-elect"];
    return new FleetRun(new Binary(args, { kubeconfig: east.kubeconfig, path: binary }), folder);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.operator[Symbol.asyncDispose]();
    rmSync(this.#folder, { recursive: true });
  }
}

/** One cluster, as a user of Foos sees it. */
export class FooUser implements AsyncDisposable {
  readonly #client: Client;
  readonly #namespace: string;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  /** When the Deployment of each name was seen. */
  readonly #seenAt = new Map<string, number>();

  private constructor(client: Client, namespace: string) {
    this.#client = client;
    this.#namespace = namespace;
    const informers = informersOf(client, { namespaces: [namespace] });
    informers.informer(Deployment).addHandler({
      onAdd: ({ metadata: { name = "" } }) => void this.#seenAt.set(name, performance.now()),
    });
    this.#running = informers.run(this.#stop.signal);
  }

  static async connect(controlPlane: ControlPlane, namespace: string): Promise<FooUser> {
    const overrides = { kubeconfig: controlPlane.kubeconfig };
    return new FooUser(await Client.fromKubeconfig({ overrides, environment: {} }), namespace);
  }

  async create(name: string): Promise<void> {
    const spec = { deploymentName: name, replicas: 0 };
    await this.#client.create(Foo, { metadata: { namespace: this.#namespace, name }, spec });
  }

  /** Waits until the Deployment of a Foo has been seen. */
  async see(name: string): Promise<number> {
    return await until(`see Deployment ${name}`, () => {
      const at = this.#seenAt.get(name);
      return at === undefined ? { kind: "pending", state: "it does not exist" } : { kind: "found", value: at };
    }, { everyMs: 5 });
  }

  /** Creates Foos one after the other. @returns milliseconds from each request to its Deployment in the watch, ascending */
  async latencies(prefix: string, count: number): Promise<readonly number[]> {
    const all: number[] = [];
    for (let index = 0; index < count; index++) {
      const name = `${prefix}-${index}`;
      const startedAt = performance.now();
      await this.create(name);
      all.push(await this.see(name) - startedAt);
    }
    return all.sort((left, right) => left - right);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running;
    this.#client[Symbol.dispose]();
  }
}
