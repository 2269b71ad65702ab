/**
 * Leader election between replicas in one process on a real kube-apiserver, with short times: the leader writes ConfigMaps
 * through its fence, and their order on the server shows whether two wrote at the same time (invariant I6).
 */
import { setTimeout as sleep } from "node:timers/promises";
import { builtin } from "../../src/api/mod.ts";
import { Client, clusterTransport, loadClusterAccess, type Transport } from "../../src/client/mod.ts";
import {
  accessReview,
  fencedTransport,
  isFenced,
  LeaderElector,
  type Leadership,
  LeaseForbiddenError,
} from "../../src/manager/mod.ts";
import { type ControlPlane, until } from "../controlplane/mod.ts";
import { createNamespace } from "../controlplane/test.ts";
import { assert, assertEquals, assertRejects } from "../testing.ts";
import { electionTest, electionTimes } from "./_elections.ts";

/** The times of an election, in milliseconds. */
interface Timing {
  readonly leaseDurationMs: number;
  readonly renewDeadlineMs: number;
  readonly retryPeriodMs: number;
}

function timing(): Timing {
  const { leaseMs, renewDeadlineMs, retryMs } = electionTimes();
  return { leaseDurationMs: leaseMs, renewDeadlineMs, retryPeriodMs: retryMs };
}

/** One candidate of an election, behind a network that can be cut. */
class Replica implements AsyncDisposable {
  readonly identity: string;
  readonly elector: LeaderElector;
  readonly client: Client;
  readonly stop = new AbortController();
  isCut = false;
  writes = 0;
  refused = 0;
  #running: Promise<void>;
  readonly #network: Transport & Disposable;
  readonly #namespace: string;

  constructor(identity: string, namespace: string, network: Transport & Disposable, times: Timing) {
    this.identity = identity;
    this.#namespace = namespace;
    this.#network = network;
    const cuttable: Transport = (request) => this.isCut ? hanging(request) : network(request);
    const parts = { client: new Client(cuttable), namespace, name: "operator", identity, ...times };
    this.elector = new LeaderElector({ ...parts, whenLost: "standby" });
    this.client = new Client(fencedTransport(cuttable, this.elector));
    this.#running = this.elector.run((term) => this.#work(term), this.stop.signal);
  }

  get leads(): boolean {
    return this.elector.leadership?.mayWrite() === true;
  }

  async #work(term: Leadership): Promise<void> {
    while (!term.signal.aborted && !this.stop.signal.aborted) {
      const data = { writer: this.identity, epoch: String(term.epoch), at: String(this.writes) };
      const metadata = { namespace: this.#namespace, generateName: "write-", labels: { "example.dev/write": "true" } };
      try {
        await this.client.create(builtin.ConfigMap, { metadata, data }, { signal: this.stop.signal });
        this.writes++;
      } catch (error) {
        if (isFenced(error)) this.refused++;
        else if (!this.stop.signal.aborted) throw error;
      }
      await sleep(20);
    }
  }

  /** Stops, and releases the Lease. */
  async end(): Promise<void> {
    this.stop.abort();
    await this.#running;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end();
    this.#network[Symbol.dispose]();
  }
}

/** The replicas of a test. */
class Replicas implements AsyncDisposable {
  readonly namespace: string;
  readonly admin: Client;
  readonly #controlPlane: ControlPlane;
  readonly #stack = new AsyncDisposableStack();
  readonly all: Replica[] = [];

  readonly #times: Timing;

  private constructor(controlPlane: ControlPlane, namespace: string, admin: Transport & Disposable, times: Timing) {
    this.#controlPlane = controlPlane;
    this.#times = times;
    this.namespace = namespace;
    this.#stack.use(admin);
    this.admin = new Client(admin);
  }

  static async of(controlPlane: ControlPlane, count: number, times = timing()): Promise<Replicas> {
    const namespace = await createNamespace(controlPlane);
    const replicas = new Replicas(controlPlane, namespace, await connect(controlPlane.kubeconfig), times);
    for (let index = 0; index < count; index++) await replicas.start();
    return replicas;
  }

  async start(): Promise<Replica> {
    const network = await connect(this.#controlPlane.kubeconfig);
    const replica = this.#stack.use(new Replica(`replica-${this.all.length}`, this.namespace, network, this.#times));
    this.all.push(replica);
    return replica;
  }

  /** Waits until one of `among` leads and has written. */
  async leader(among: readonly Replica[] = this.all): Promise<Replica> {
    return await until("see a leader that writes", () => {
      const leader = among.find((replica) => replica.leads && replica.writes > 0);
      return leader === undefined ? { kind: "pending", state: "nobody did" } : { kind: "found", value: leader };
    }, { everyMs: 10 });
  }

  async lease(): Promise<builtin.Lease> {
    return await this.admin.get(builtin.Lease, `${this.namespace}/operator`);
  }

  async kubectl(...args: string[]): Promise<string> {
    return await this.#controlPlane.kubectlOutput(["--namespace", this.namespace, ...args]);
  }

  /** The terms in the order of their writes on the server. @throws AssertionError when two of them interleave */
  async termsInOrder(): Promise<readonly string[]> {
    const { items } = await this.admin.listAll(builtin.ConfigMap, {
      namespace: this.namespace,
      labelSelector: "example.dev/write=true",
    });
    const inOrder = items.toSorted((a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion));
    const terms: string[] = [];
    for (const { data } of inOrder) {
      const term = `${data?.["writer"]} ${data?.["epoch"]}`;
      if (terms.at(-1) !== term) terms.push(term);
    }
    assertEquals(terms.length, new Set(terms).size, `terms mix: ${terms.join(", ")}`);
    return terms;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const replica of this.all) replica.isCut = false;
    await this.#stack[Symbol.asyncDispose]();
  }
}

async function connect(kubeconfig: string): Promise<Transport & Disposable> {
  const access = await loadClusterAccess({ environment: {}, overrides: { kubeconfig }, workingDirectory: "/" });
  return clusterTransport(access);
}

/** A connection that receives no response. */
function hanging({ signal }: Request): Promise<Response> {
  return new Promise((_, reject) => {
    if (signal.aborted) return reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

electionTest(
  "[49] of three one leads; when it stops another takes over in about a retry period",
  async (controlPlane) => {
    // Far longer than a takeover takes on a busy machine.
    const leaseDurationMs = 120_000;
    const times = { ...timing(), leaseDurationMs, renewDeadlineMs: 90_000 };
    await using replicas = await Replicas.of(controlPlane, 3, times);
    const first = await replicas.leader();
    await sleep(1_000);
    assertEquals(replicas.all.filter(({ leads }) => leads), [first]);
    await first.end();
    const releasedAt = performance.now();
    const second = await replicas.leader(replicas.all.filter((replica) => replica !== first));
    const tookMs = performance.now() - releasedAt;
    assert(tookMs < leaseDurationMs, `took ${tookMs} ms, as if the Lease had to run out`);
    assertEquals(await replicas.termsInOrder(), [`${first.identity} 0`, `${second.identity} 1`]);
  },
);

electionTest("[48, 52] a disconnected leader stops writing before another one starts", async (controlPlane) => {
  await using replicas = await Replicas.of(controlPlane, 2);
  for (let round = 0; round < 2; round++) {
    const old = await replicas.leader();
    old.isCut = true;
    const next = await replicas.leader(replicas.all.filter((replica) => replica !== old));
    assertEquals([old.leads, old.elector.state.kind], [false, "standby"]);
    const before = next.writes;
    old.isCut = false;
    await until(
      "see the new leader go on",
      () =>
        next.writes > before + 5 ? { kind: "found", value: true } : { kind: "pending", state: `${next.writes} writes` },
    );
    await until("see the old leader notice", () => {
      const { leader } = old.elector;
      return leader === next.identity
        ? { kind: "found", value: leader }
        : { kind: "pending", state: `it sees ${leader}` };
    });
    assertEquals(old.leads, false);
  }
  assertEquals((await replicas.termsInOrder()).length, 3);
});

electionTest(
  "[47, 48] a leader that crashed is replaced within lease duration and retry period",
  async (controlPlane) => {
    await using replicas = await Replicas.of(controlPlane, 2);
    const dead = await replicas.leader();
    dead.isCut = true;
    const cutAt = performance.now();
    await replicas.leader(replicas.all.filter((replica) => replica !== dead));
    const tookMs = performance.now() - cutAt;
    assert(tookMs > timing().renewDeadlineMs, `took ${tookMs} ms: the old leader could still write`);
    await replicas.termsInOrder();
  },
);

electionTest("[50] labels and annotations of other users stay on the Lease", async (controlPlane) => {
  await using replicas = await Replicas.of(controlPlane, 1);
  const leader = await replicas.leader();
  await replicas.kubectl("label", "lease", "operator", "example.dev/team=shop");
  await replicas.kubectl("annotate", "lease", "operator", "example.dev/note=x");
  const { renewTime } = (await replicas.lease()).spec;
  await until("see the Lease renewed", async () => {
    const { spec } = await replicas.lease();
    return spec.renewTime === renewTime ? { kind: "pending", state: "it was not" } : { kind: "found", value: spec };
  });
  const { metadata, spec } = await replicas.lease();
  assertEquals([metadata.labels?.["example.dev/team"], metadata.annotations?.["example.dev/note"]], ["shop", "x"]);
  const seconds = timing().leaseDurationMs / 1000;
  assertEquals([spec.holderIdentity, spec.leaseDurationSeconds, leader.leads], [leader.identity, seconds, true]);
});

electionTest("[50] a Lease that is deleted is created again by its leader", async (controlPlane) => {
  await using replicas = await Replicas.of(controlPlane, 2);
  const leader = await replicas.leader();
  await sleep(500);
  await replicas.kubectl("delete", "lease", "operator");
  const before = leader.writes;
  await until(
    "see the leader go on",
    () =>
      leader.writes > before + 50
        ? { kind: "found", value: true }
        : { kind: "pending", state: `${leader.writes} writes` },
  );
  assertEquals([leader.leads, (await replicas.lease()).spec.holderIdentity], [true, leader.identity]);
  assertEquals((await replicas.termsInOrder()).length, 1);
});

electionTest(
  "[52] a Lease that is edited to name another holder ends the term, and the next one begins when it has expired",
  async (controlPlane) => {
    await using replicas = await Replicas.of(controlPlane, 2);
    const leader = await replicas.leader();
    await replicas.kubectl(
      "patch",
      "lease",
      "operator",
      "--type=merge",
      "--patch",
      '{"spec":{"holderIdentity":"ghost"}}',
    );
    await until(
      "see the term end",
      () => leader.leads ? { kind: "pending", state: "it leads" } : { kind: "found", value: true },
      { everyMs: 5 },
    );
    const next = await replicas.leader();
    const terms = await replicas.termsInOrder();
    assertEquals([terms.length, terms[1]], [2, `${next.identity} 1`]);
  },
);

electionTest("[54] a process without permission for the Lease names the missing rule", async (controlPlane) => {
  const namespace = await createNamespace(controlPlane);
  using network = await connect(await controlPlane.kubeconfigFor({ user: "nobody" }));
  const parts = { client: new Client(network), namespace, name: "operator", identity: "a", ...timing };
  const elector = new LeaderElector(parts);
  const error = await assertRejects(() => elector.acquire(new AbortController().signal));
  assert(error instanceof LeaseForbiddenError);
  assert(error.message.includes(`it is not allowed to get it; a Role in namespace "${namespace}" needs {apiGroups:`));

  // The named rules, one after the other, are sufficient.
  const who = await userOf(controlPlane);
  await controlPlane.kubectlOutput([
    ...["--namespace", namespace, "create", "rolebinding", "leader", "--role=leader", `--user=${who}`],
  ]);
  const rules = new Set<string>();
  const leadership = await until("lead with the named rules", async () => {
    try {
      return { kind: "found", value: await elector.acquire(new AbortController().signal) };
    } catch (error) {
      if (!(error instanceof LeaseForbiddenError)) throw error;
      rules.add(/needs (\{.*\})$/.exec(error.message)?.[1] ?? "");
      const role = `{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: leader}, rules: [${[
        ...rules,
      ]}]}`;
      await controlPlane.kubectlOutput(["--namespace", namespace, "apply", "-f", "-"], { stdin: role });
      return { kind: "pending", state: error.message };
    }
  });
  assertEquals(await leadership.confirm(new AbortController().signal), true);
  await leadership.release();
});

/** The API server's name of the user without permissions. */
async function userOf(controlPlane: ControlPlane): Promise<string> {
  const kubeconfig = await controlPlane.kubeconfigFor({ user: "nobody" });
  return (await controlPlane.kubectlOutput(["auth", "whoami", "-o", "jsonpath={.status.userInfo.username}"], {
    kubeconfig,
  }))
    .trim();
}

electionTest("[security 11] the API server decides which users may read metrics", async (controlPlane) => {
  using network = await connect(controlPlane.kubeconfig);
  const handler = accessReview(() => new Response("metrics"), { client: new Client(network) });
  const ask = async (token: string) => {
    const request = new Request("https://localhost/metrics", { headers: { authorization: `Bearer ${token}` } });
    return (await handler(request, { remoteAddress: "10.1.2.3", isTls: true })).status;
  };
  const { token, nobodyToken } = controlPlane.description;
  assertEquals([await ask(token), await ask(nobodyToken), await ask("made-up")], [200, 403, 401]);
});
