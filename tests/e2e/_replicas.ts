/**
 * Replicas: processes of the compiled binary that share one Lease. Each uses its own proxy to the API server, so the test
 * knows which process sent a request, and when it arrived.
 */
import { type ControlPlane, until } from "../controlplane/mod.ts";
import { createNamespace } from "../controlplane/test.ts";
import { assertEquals } from "../testing.ts";
import { Binary } from "./_binary.ts";
import { installFoo, TestNamespace } from "./_cluster.ts";
import { assertOneWriterAtATime, claimsOf, createdBy, type Sender } from "./_election_record.ts";
import { type ElectionTimes, electionTimes } from "./_elections.ts";
import { ApiProxy, type RequestMatch } from "./_proxy.ts";

/** The default times of an operator. */
export const defaultTimes: ElectionTimes = { leaseMs: 15_000, renewDeadlineMs: 10_000, retryMs: 2_000 };

/** Options for starting replicas. */
export interface ReplicasOptions {
  /** @default electionTimes() */
  readonly times?: ElectionTimes;
  /** What they do when leadership is lost. @default "exit" */
  readonly whenLost?: "exit" | "standby";
  /** Which controllers they run. @default foo alone */
  readonly controllers?: "foo" | "--all";
  /** Whether one of them works, or all do, each for a part of the objects. @default "--leader-elect" */
  readonly divide?: "--leader-elect" | "--shards=auto";
}

/** The name of the Lease; each test has its own namespace. */
export const leaseName = "foo-operator";

export const isLeaseWrite: RequestMatch = ({ method, path }) => method !== "GET" && path.includes("/leases");
export const isDeploymentWrite: RequestMatch = ({ method, path }) => method !== "GET" && path.includes("/deployments");
/** An apply that requires the object's absence (ADR 0007). */
export const isDeploymentCreate: RequestMatch = (request) =>
  isDeploymentWrite(request) && request.body.includes('"resourceVersion":"1"');
export const isDeploymentChange: RequestMatch = (request) =>
  request.method === "PATCH" && isDeploymentWrite(request) && !isDeploymentCreate(request);

/** Prints a measured time. Tests do not assert it, because the machine may be busy. */
export function note(what: string, ms: number): void {
  console.log(`${what}: ${Math.round(ms)} ms`);
}

/** How a replica's process ended, and when, by performance.now(). */
export async function ended(
  replica: Replica,
): Promise<{ readonly code: number; readonly stderr: string; readonly at: number }> {
  const { code, stderr } = await replica.binary.ended();
  return { code, stderr, at: performance.now() };
}

/** One process and its proxy. */
export class Replica implements AsyncDisposable, Sender {
  readonly name: string;
  readonly binary: Binary;
  readonly proxy: ApiProxy;

  constructor(name: string, proxy: ApiProxy, args: readonly string[]) {
    this.name = name;
    this.proxy = proxy;
    this.binary = new Binary(args, { kubeconfig: proxy.kubeconfig });
  }

  get requests(): Sender["requests"] {
    return this.proxy.requests;
  }

  /** Waits until it leads for the n-th time. @returns when it acquired the Lease, by performance.now() */
  async leads(term = 1): Promise<number> {
    await this.binary.logged(new RegExp(`(INFO +leader +leading .*\\n[^]*){${term}}`));
    return claimsOf(this).filter(({ isRenewal }) => !isRenewal)[term - 1]?.at ?? NaN;
  }

  /** Waits until it has renewed the Lease for the given time. */
  async renewsFor(ms: number): Promise<void> {
    const since = performance.now();
    await until(`see ${this.name} renew for ${ms} ms`, () => {
      const lastMs = (claimsOf(this).at(-1)?.at ?? 0) - since;
      return lastMs >= ms ? { kind: "found", value: undefined } : { kind: "pending", state: `it was ${lastMs} ms` };
    });
  }

  /** Waits until it has logged that it is a standby. */
  async standsBy(): Promise<void> {
    await this.binary.logged(/standing by for the lease/);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.binary[Symbol.asyncDispose]();
    await this.proxy[Symbol.asyncDispose]();
  }
}

/** The replicas of one operator, and their namespace. */
export class Replicas implements AsyncDisposable {
  readonly namespace: TestNamespace;
  readonly times: ElectionTimes;
  readonly all: Replica[] = [];
  readonly #controlPlane: ControlPlane;
  readonly #whenLost: "exit" | "standby";
  readonly #controllers: "foo" | "--all";
  readonly #divide: "--leader-elect" | "--shards=auto";
  readonly #stack = new AsyncDisposableStack();

  private constructor(controlPlane: ControlPlane, namespace: TestNamespace, options: ReplicasOptions) {
    const { times = electionTimes(), whenLost = "exit", controllers = "foo" } = options;
    this.#divide = options.divide ?? "--leader-elect";
    this.#controlPlane = controlPlane;
    this.namespace = namespace;
    this.times = times;
    this.#whenLost = whenLost;
    this.#controllers = controllers;
  }

  /** Creates a namespace; no replica is started yet. */
  static async in(controlPlane: ControlPlane, options: ReplicasOptions = {}): Promise<Replicas> {
    await installFoo(controlPlane);
    const namespace = new TestNamespace(controlPlane, await createNamespace(controlPlane));
    return new Replicas(controlPlane, namespace, options);
  }

  /** The arguments of a replica. */
  get args(): readonly string[] {
    const { leaseMs, renewDeadlineMs, retryMs } = this.times;
    return [
      ...["run", this.#controllers, "--namespace", this.namespace.name, this.#divide],
      ...["--leader-election-id", leaseName, "--leader-election-namespace", this.namespace.name],
      ...["--leader-election-lease-duration", `${leaseMs}ms`],
      ...["--leader-election-renew-deadline", `${renewDeadlineMs}ms`],
      ...["--leader-election-retry-period", `${retryMs}ms`],
      ...["--leader-election-when-lost", this.#whenLost],
    ];
  }

  /** Starts a replica. */
  async start(): Promise<Replica> {
    const proxy = await ApiProxy.start(this.#controlPlane);
    const replica = this.#stack.use(new Replica(`replica ${this.all.length + 1}`, proxy, this.args));
    this.all.push(replica);
    return replica;
  }

  /** Starts a leader, then a standby. */
  async startPair(): Promise<readonly [leader: Replica, standby: Replica]> {
    const leader = await this.start();
    await leader.leads();
    const standby = await this.start();
    await standby.standsBy();
    return [leader, standby];
  }

  /** Waits for the next leader, among some or all replicas. */
  async firstToLead(among: readonly Replica[] = this.all): Promise<Replica> {
    return await until("see one lead", () => {
      const leader = among.find(({ binary }) => binary.isRunning && /INFO +leader +leading /.test(binary.stderr));
      return leader === undefined ? { kind: "pending", state: "none does" } : { kind: "found", value: leader };
    });
  }

  /** Creates a Foo and waits for its Deployment of the same name. @returns The Deployment's UID. */
  async makeFoo(name: string, replicas = 1): Promise<string> {
    await this.namespace.applyFoo({ name, deploymentName: name, replicas });
    const { metadata } = await this.namespace.eventually(`deployment/${name}`, () => true);
    return metadata.uid;
  }

  /** Waits until no replica has written anything but the Lease for a while. */
  async quiet(quietMs = 1_000): Promise<void> {
    await Promise.all(this.all.map(({ proxy }) => proxy.quiet(quietMs, (request) => !isLeaseWrite(request))));
  }

  /** The present Lease. */
  async holder(): Promise<string> {
    const path = "--output=jsonpath={.spec.holderIdentity}";
    return await this.namespace.kubectl(["get", "lease", leaseName, path]);
  }

  /** Waits for the Event that a Foo is synced; all replicas together record it once. */
  async synced(name: string): Promise<void> {
    await this.namespace.eventuallyEvent("Foo", name, "Synced");
  }

  /** The number of Event objects of each of these Foos. */
  async assertEventsOf(expected: Readonly<Record<string, number>>): Promise<void> {
    const counts: Record<string, number> = {};
    for (const name of Object.keys(expected)) counts[name] = (await this.namespace.events("Foo", name)).length;
    assertEquals(counts, expected);
  }

  /** Checks invariants I1, I2 and I6: these Foos have Deployments with the given replicas, each created once. */
  async assertInOrder(foos: Readonly<Record<string, number>>): Promise<void> {
    for (const [name, count] of Object.entries(foos)) {
      await this.namespace.eventually(`deployment/${name}`, ({ spec }) => spec?.replicas === count);
      await this.namespace.eventually(`foo/${name}`, ({ status }) => status?.availableReplicas === 0);
    }
    await this.quiet();
    assertOneWriterAtATime(this.all, this.times.renewDeadlineMs);
    assertEquals(createdBy(this.all, "deployments"), Object.keys(foos).length);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack[Symbol.asyncDispose]();
  }
}
