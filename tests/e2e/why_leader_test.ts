/** `why` and `top` without `--address`: two processes of the compiled binary, a Lease, and whoever leads answers. */
import { type ControlPlane, until } from "../controlplane/mod.ts";
import { createNamespace } from "../controlplane/test.ts";
import { assert, assertEquals, assertMatch } from "../testing.ts";
import { Binary, runBinary } from "./_binary.ts";
import { DebugEndpoint } from "./_debug_endpoint.ts";
import { installFoo, TestNamespace } from "./_cluster.ts";
import { electionTest, electionTimes } from "./_elections.ts";

/** Processes that share a Lease and a token. */
class Pair implements AsyncDisposable {
  readonly namespace: TestNamespace;
  readonly endpoint: DebugEndpoint;
  readonly #controlPlane: ControlPlane;
  readonly #stack = new AsyncDisposableStack();

  private constructor(controlPlane: ControlPlane, namespace: TestNamespace, endpoint: DebugEndpoint) {
    this.#controlPlane = controlPlane;
    this.namespace = namespace;
    this.endpoint = endpoint;
  }

  static async in(controlPlane: ControlPlane): Promise<Pair> {
    await installFoo(controlPlane);
    const namespace = new TestNamespace(controlPlane, await createNamespace(controlPlane));
    return new Pair(controlPlane, namespace, await DebugEndpoint.create());
  }

  get #lease(): readonly string[] {
    return ["--leader-election-id", "foo-operator", "--leader-election-namespace", this.namespace.name];
  }

  start(...serving: readonly string[]): Binary {
    const { leaseMs, renewDeadlineMs, retryMs } = electionTimes();
    const binary = new Binary([
      ...["run", "foo", "--namespace", this.namespace.name, "--leader-elect", ...this.#lease, ...serving],
      ...["--leader-election-lease-duration", `${leaseMs}ms`, "--leader-election-renew-deadline"],
      ...[`${renewDeadlineMs}ms`, "--leader-election-retry-period", `${retryMs}ms`],
    ], { kubeconfig: this.#controlPlane.kubeconfig });
    return this.#stack.use(binary);
  }

  startDebugged(): Binary {
    return this.start(...this.endpoint.flags);
  }

  /** Runs a command that looks for the leader. */
  async ask(...args: readonly string[]) {
    const { kubeconfig } = this.#controlPlane;
    return await runBinary([...args, ...this.#lease, ...this.endpoint.tokenFlags], { kubeconfig });
  }

  async annotations(): Promise<string> {
    return await this.namespace.kubectl(["get", "lease", "foo-operator", "--output=jsonpath={.metadata.annotations}"]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack[Symbol.asyncDispose]();
    await this.endpoint[Symbol.asyncDispose]();
  }
}

const leading = /INFO +leader +leading /;

electionTest(
  "[130] why and top without --address ask the leader, also after another one leads",
  async (controlPlane) => {
    await using pair = await Pair.in(controlPlane);
    const first = pair.startDebugged();
    await first.logged(leading);
    const second = pair.startDebugged();
    await second.logged(/standing by for the lease/);
    await pair.namespace.applyFoo({ name: "foo-1", deploymentName: "web-7", replicas: 2 });
    await pair.namespace.eventuallyEvent("Foo", "foo-1", "Synced");
    const story = await pair.ask("why", "foo", `${pair.namespace.name}/foo-1`);
    assertEquals(story.code, 0, story.stderr);
    assertMatch(story.stdout, /Foo \S+\/foo-1 was created[^]*applied Deployment \S+\/web-7/);
    assertMatch(
      story.stderr,
      new RegExp(
        `^controller: asking the leader "\\S+" of Lease "\\S+/foo-operator" at ${await pair.endpoint.addressOf(
          first,
        )}$`,
        "m",
      ),
    );
    first.signal("SIGTERM");
    assertEquals((await first.ended()).code, 0);
    await second.logged(leading);
    const table = await pair.ask("top", "--once", "--interval", "200ms");
    assertEquals(table.code, 0, table.stderr);
    assertMatch(table.stderr, new RegExp(` at ${await pair.endpoint.addressOf(second)}$`, "m"));
    assertMatch(table.stdout, /foo/);
    // A leader without a debug endpoint says so by removing what was there; and who released the Lease is no leader.
    second.signal("SIGTERM");
    assertEquals((await second.ended()).code, 0);
    assertEquals(await pair.annotations(), "");
    const nobody = await pair.ask("why", "foo", "foo-1", "-n", pair.namespace.name);
    assertMatch(nobody.stderr, /because no leader was found: Lease "\S+\/foo-operator" has no holder$/m);
    const third = pair.start();
    await third.logged(leading);
    const silent = await pair.ask("why", "foo", "foo-1", "-n", pair.namespace.name);
    assertMatch(silent.stderr, /because no leader was found: the leader "\S+" of Lease "\S+" has no debug endpoint/);
  },
);

electionTest("[security 29] the Lease of a leader has its address, and no token", async (controlPlane) => {
  await using pair = await Pair.in(controlPlane);
  const leader = pair.startDebugged();
  await leader.logged(leading);
  const annotations: Readonly<Record<string, string>> = JSON.parse(
    await until("see the annotation", async () => {
      const text = await pair.annotations();
      return text.includes("debug-endpoint") ? { kind: "found", value: text } : { kind: "pending", state: text };
    }),
  );
  const [[name, text = ""] = [], ...others] = Object.entries(annotations);
  assertEquals([name, others], ["pintle.dev/debug-endpoint", []]);
  const { holder, host, ...rest } = JSON.parse(text);
  assert(holder.startsWith(`${host}_`), text);
  const address = await pair.endpoint.addressOf(leader);
  assertEquals(rest, { hostname: "127.0.0.1", port: Number(address.split(":")[1]), isTls: false });
});
