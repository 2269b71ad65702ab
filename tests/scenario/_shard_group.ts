/** A group of replicas that divide the ConfigMaps of a World by shards, in one process and with one clock. */
import { type ConfigMap as ConfigMapObject } from "../../src/mod.ts";
import { builtin, keyOf, type KubeObject } from "../../src/api/mod.ts";
import { runTurns, seededRandom } from "../../src/async/mod.ts";
import { Client, type Transport } from "../../src/client/mod.ts";
import {
  controller,
  type ControllerDefinition,
  type ControllerOptions,
  done,
  manifest,
} from "../../src/controller/mod.ts";
import { debugEndpoints, debugStateOf, Manager, shardsOf } from "../../src/manager/mod.ts";
import { Recording } from "../../src/observe/mod.ts";
import { World } from "../../src/simulation/mod.ts";
import { assertEquals } from "../testing.ts";

const { ConfigMap, Lease, Secret } = builtin;

/** A reconcile that runs, or has run. */
interface Reconciled {
  readonly replica: string;
  readonly uid: string;
}

/** A group of replicas that make a Secret of each ConfigMap. */
export class Group implements AsyncDisposable {
  readonly world: World;
  readonly reconciled: Reconciled[] = [];
  /** The UIDs that are being reconciled. */
  readonly running = new Map<string, string>();
  readonly #stops = new Map<string, AbortController>();
  readonly #ends = new Map<string, Promise<unknown>>();
  readonly managers = new Map<string, Manager>();
  readonly #options: ControllerOptions;
  readonly #send: Transport;
  /** Replicas whose requests do not arrive. */
  readonly cut = new Set<string>();
  /** Replicas whose updates, such as renewals, are refused. */
  readonly refused = new Set<string>();
  readonly shardSelectors: (string | null)[] = [];
  /** With what the reconcile of an object fails, by its name. */
  errorOf: (name: string) => Error | undefined = () => undefined;
  /** The name of the group. */
  name = "copies";
  /** A reconcile takes so long, in milliseconds. */
  reconcileMs = 0;

  constructor(world: World, options: ControllerOptions = {}) {
    this.world = world;
    this.#options = options;
    this.#send = transportOf(world.client);
  }

  /** @param options of its controller, instead of those of the group */
  start(replica: string, expectedReplicas?: number, options = this.#options): void {
    const { clock } = this.world;
    const transport: Transport = async (request) => {
      const { promise, reject } = Promise.withResolvers<never>();
      if (this.cut.has(replica)) {
        request.signal.addEventListener("abort", () => reject(request.signal.reason), { once: true });
        return await promise;
      }
      if (this.refused.has(replica) && request.method === "PUT") return new Response("{}", { status: 500 });
      this.shardSelectors.push(new URL(request.url).searchParams.get("shardSelector"));
      return await this.#send(request);
    };
    const manager = new Manager({
      client: new Client(transport, { clock }),
      clock,
      random: seededRandom(replica.length),
      gracefulShutdownTimeoutMs: 5_000,
      freezeCache: true,
      sharding: { namespace: "default", name: this.name, identity: replica, expectedReplicas },
    });
    manager.add(this.#controller(replica, options));
    const stop = new AbortController();
    this.managers.set(replica, manager);
    this.#stops.set(replica, stop);
    this.#ends.set(replica, manager.run(stop.signal).catch((error: unknown) => error));
  }

  #controller(replica: string, options: ControllerOptions): ControllerDefinition {
    return controller("copies", options).for(ConfigMap, { when: ({ object }) => isCopied(object) }).owns(Secret)
      .reconcile(async (ctx) => {
        const { uid = "", namespace, name = "" } = ctx.object.metadata;
        assertEquals(this.running.get(uid), undefined, `${name} is reconciled by two replicas`);
        this.running.set(uid, replica);
        this.reconciled.push({ replica, uid });
        try {
          if (this.reconcileMs > 0) await this.world.clock.sleep(this.reconcileMs, ctx.signal);
          const error = this.errorOf(name);
          if (error !== undefined) throw error;
          await ctx.apply(manifest(Secret, { metadata: { namespace, name }, stringData: { a: "b" } }));
        } finally {
          this.running.delete(uid);
        }
        return done;
      });
  }

  /** Stops a replica in order. */
  async leave(replica: string): Promise<unknown> {
    this.#stops.get(replica)?.abort();
    let end: unknown = "running";
    void this.#ends.get(replica)?.then((error) => end = error);
    for (let turn = 0; turn < 500 && end === "running"; turn++) await this.pass(100);
    this.managers.delete(replica);
    return end;
  }

  async pass(ms: number): Promise<void> {
    const until = this.world.clock.monotonic() + ms;
    while (true) {
      await runTurns(3);
      const leftMs = until - this.world.clock.monotonic();
      if (leftMs <= 0) return;
      await this.world.clock.advance(Math.min(this.world.clock.nextTimerInMs ?? leftMs, leftMs));
    }
  }

  async create(names: readonly string[]): Promise<void> {
    for (const name of names) {
      await this.world.create(ConfigMap, { name, labels: { copy: "yes", tenant: name.slice(0, 1) } });
    }
  }

  /** Which replica reconciles each ConfigMap when all of them change. */
  async owners(): Promise<ReadonlyMap<string, readonly Reconciled[]>> {
    this.reconciled.length = 0;
    for (const { metadata } of this.maps()) {
      const value = { metadata: { annotations: { changed: String(this.world.revision) } } };
      await this.world.patch(ConfigMap, keyOf({ metadata }), { kind: "merge", value });
    }
    await this.pass(3_000);
    return Map.groupBy(this.reconciled, ({ uid }) => uid);
  }

  maps(): readonly ConfigMapObject[] {
    return this.world.list(ConfigMap).filter(isCopied);
  }

  /** Asks the debug endpoint of a replica. */
  debugClient(replica: string) {
    const manager = this.managers.get(replica);
    if (manager === undefined) throw new Error(`Cannot ask replica ${replica}: it does not run`);
    const { clock } = this.world;
    const recording = new Recording({ now: () => clock.now() });
    const handler = debugEndpoints({ state: debugStateOf(manager), recording, token: "t", isLoopback: true, clock });
    return async (path: string) => {
      const headers = { host: "127.0.0.1:8082", authorization: "Bearer t" };
      const request = new Request(`http://127.0.0.1:8082${path}`, { headers });
      return await (await handler(request, { remoteAddress: "127.0.0.1", isTls: false })).json();
    };
  }

  /** A user changes the Lease of a replica. */
  async editLease(replica: string, value: Readonly<Record<string, unknown>>): Promise<void> {
    await this.world.patch(Lease, `default/copies-${replica}`, { kind: "merge", value });
  }

  /** The slots that replicas hold which may write. Each slot is there once, unless two replicas hold it. */
  heldSlots(): readonly number[] {
    return [...this.managers.values()].flatMap((manager) => {
      const member = shardsOf(manager);
      return member?.leadership?.mayWrite() === true ? [...member.holds.slots] : [];
    });
  }

  /** Lets time pass, and asserts at short intervals that no two replicas hold a slot. */
  async passWithoutSharedSlots(ms: number): Promise<void> {
    for (let passedMs = 0; passedMs < ms; passedMs += 20) {
      await this.pass(20);
      const slots = this.heldSlots();
      assertEquals(slots.length, new Set(slots).size, `two replicas hold a slot after ${passedMs} ms`);
    }
  }

  /** Stops a replica at once: none of its requests arrives any more. */
  kill(replica: string): void {
    this.cut.add(replica);
  }

  /** Each ConfigMap is reconciled by one replica. @returns the number of each replica */
  async assertDivided(): Promise<ReadonlyMap<string, number>> {
    const owners = await this.owners();
    for (const { metadata: { uid = "", name } } of this.maps()) {
      const replicas = new Set((owners.get(uid) ?? []).map(({ replica }) => replica));
      assertEquals(replicas.size, 1, `${name} is reconciled by ${[...replicas].join(" and ") || "no replica"}`);
    }
    const counts = new Map<string, number>();
    for (const { replica } of this.reconciled) counts.set(replica, (counts.get(replica) ?? 0) + 1);
    return counts;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const replica of [...this.managers.keys()]) await this.leave(replica);
    await this.world[Symbol.asyncDispose]();
  }
}

function transportOf(client: Client): Transport {
  const found: Transport[] = [];
  client.withTransport((transport) => {
    found.push(transport);
    return transport;
  });
  return (request) => found[0]?.(request) ?? Promise.reject(new Error("Cannot send: the client has no transport"));
}

function isCopied(object: KubeObject): boolean {
  return object.metadata.labels?.["copy"] === "yes";
}

/** A group without replicas. @param options of its controller */
export async function groupOf(options?: ControllerOptions): Promise<Group> {
  return new Group(await World.start({ controllers: [], cluster: false, access: "unchecked" }), options);
}
