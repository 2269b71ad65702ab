/**
 * `top` with the compiled binary: on a terminal of the system in front of an endpoint that the test answers for, and in front of
 * a real run on a real control plane.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { controlPlaneTest, createNamespace } from "../controlplane/test.ts";
import { until } from "../controlplane/mod.ts";
import { assert, assertEquals, assertMatch, test } from "../testing.ts";
import { Binary, runBinary } from "./_binary.ts";
import { DebugEndpoint } from "./_debug_endpoint.ts";
import { installFoo, TestNamespace } from "./_cluster.ts";
import { noTerminal, TerminalSession } from "./_terminal.ts";

const token = "a-token-of-this-test";
const hostile = "web\u001b[2J\u001b[?1049l";

/** A debug endpoint whose numbers grow with each answer. */
class Endpoint implements AsyncDisposable {
  readonly #server = createServer((request, response) => {
    this.asked++;
    const isKeys = request.url?.startsWith("/debug/keys") === true;
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(isKeys ? this.#keys() : this.#controllers()));
  });
  asked = 0;
  #now = Date.UTC(2026, 10, 23, 9, 12);

  static async start(): Promise<Endpoint> {
    const endpoint = new Endpoint();
    await new Promise<void>((resolve) => endpoint.#server.listen(0, "127.0.0.1", resolve));
    return endpoint;
  }

  get flags(): readonly string[] {
    const { port } = this.#server.address() as AddressInfo;
    return ["--address", `127.0.0.1:${port}`, "--interval", "200ms"];
  }

  #controllers() {
    this.#now += 1_000;
    const common = {
      ...{ runsOn: "leader", isRunning: true, problems: [], workers: 2 },
      ...{ failing: 1, waiting: 0, parked: 0, failures: 0 },
    };
    const one = (controller: string, queued: number) => ({
      ...{ ...common, controller, queued, busyWorkers: 1, reconciles: this.asked * 100, durations: [this.asked, 0] },
      ...{ lanes: [{ lane: "team-a", queued }], laneCount: 1 },
    });
    return { now: this.#now, durationBoundsMs: [1], controllers: [one("alpha", 1), one("beta", 20)] };
  }

  #keys() {
    const keys = Array.from({ length: 30 }, (_, index) => ({
      ...{ controller: "alpha", key: `default/${hostile}-${index}`, state: "waiting", at: this.#now, lane: "default" },
      ...{ nextAt: this.#now + 12_000, retries: 3, reason: `Cannot make it: ${hostile}` },
    }));
    return { remaining: 0, keys };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

const env = { CONTROLLER_DEBUG_TOKEN: token };

function terminalTest(name: string, fn: () => Promise<void>): void {
  if (noTerminal === undefined) test(name, fn);
  else test.skip(name, noTerminal);
}

terminalTest(
  "[130] top on a terminal refreshes, takes keys, follows the size, and leaves the terminal as it was",
  async () => {
    await using endpoint = await Endpoint.start();
    await using session = new TerminalSession(["top", ...endpoint.flags], { rows: 20, columns: 160, env });
    await session.shows(/^controller top {3}127\.0\.0\.1:\d+ .*2 controllers {3}30 failing keys\nCONTROLLER /);
    await session.shows(/\nalpha .*\nbeta .*\n\nFAILING KEY /);
    await session.shows(/in 12 s +Cannot make it: web\\u001b\[2J/);
    const before = endpoint.asked;
    await until(
      "see more questions",
      () => ({ kind: endpoint.asked > before + 6 ? "found" : "pending", value: 0, state: "" }),
    );
    session.type("ssss");
    await session.shows(/sort: queued /);
    assertMatch(session.shown, /\nbeta .*\nalpha /);
    session.type("/ALP\r");
    await session.shows(/\/ filter: ALP /);
    await session.shows(/1 controller /);
    session.type("\u001b[B\u001b[B");
    session.type("\u001b");
    await session.shows(/2 controllers /);
    session.resize(12, 60);
    await session.shows(/\nq quit .*$/);
    assertEquals(session.shown.split("\n").length, 12);
    assert(session.shown.split("\n").every((line) => line.length <= 60), session.shown);
    session.type("q");
    assertEquals(await session.ended(), "ended with 0\nmodes restored\n");
    assertEquals([...session.screen.modes].sort(), ["?25", "?7"]);
  },
);

for (const [name, code] of [["SIGTERM", 0], ["SIGINT", 0], ["SIGHUP", 0], ["SIGQUIT", 131]] as const) {
  terminalTest(`[130] ${name} ends top, and the terminal is as it was`, async () => {
    await using endpoint = await Endpoint.start();
    await using session = new TerminalSession(["top", ...endpoint.flags], { rows: 20, columns: 160, env });
    await session.shows(/\nq quit /);
    session.signal(name);
    assertEquals(await session.ended(), `ended with ${code}\nmodes restored\n`);
    assert(!session.screen.modes.has("?1049"));
  });
}

terminalTest("[130] Ctrl-C ends top, and a process that is not there is said in one line", async () => {
  await using endpoint = await Endpoint.start();
  await using session = new TerminalSession(["top", ...endpoint.flags], { rows: 20, columns: 160, env });
  await session.shows(/\nq quit /);
  session.type("\u0003");
  assertEquals(await session.ended(), "ended with 0\nmodes restored\n");
  await using absent = new TerminalSession(["top", "--address", "127.0.0.1:9"], { rows: 20, columns: 160, env });
  assertMatch(
    await absent.ended(),
    /^controller: Cannot ask the process at 127\.0\.0\.1:9: .*\nended with 1\nmodes restored\n$/,
  );
  assertEquals(absent.screen.writes, 0);
});

test("[130] without a terminal top prints once and ends", async () => {
  await using endpoint = await Endpoint.start();
  const { code, stdout, stderr } = await runBinary(["top", ...endpoint.flags, "--sort-by", "queued"], { env });
  assertEquals([code, stderr], [0, ""]);
  assertMatch(stdout, /^CONTROLLER +RUNS ON +RECONCILES\/S .*\nbeta +leader +\d.*\nalpha /);
  // deno-lint-ignore no-control-regex
  assert(!/[\u0000-\u0009\u000b-\u001f]/.test(stdout), stdout);
});

controlPlaneTest("[130] top shows what a real run does, and which key fails with which error", async (controlPlane) => {
  await installFoo(controlPlane);
  const namespace = new TestNamespace(controlPlane, await createNamespace(controlPlane));
  await using endpoint = await DebugEndpoint.create();
  const run = ["run", "foo", "-n", namespace.name, ...endpoint.flags];
  await using binary = new Binary(run, { kubeconfig: controlPlane.kubeconfig });
  await binary.logged(/starting workers/);
  const address = ["--address", await endpoint.addressOf(binary), ...endpoint.tokenFlags];
  await namespace.applyFoo({ name: "good", deploymentName: "good", replicas: 1 });
  await namespace.applyFoo({ name: "poisoned", deploymentName: "", replicas: 1 });
  await namespace.kubectl(["create", "deployment", "foreign", "--image=nginx:1"]);
  await namespace.applyFoo({ name: "conflict", deploymentName: "foreign", replicas: 1 });
  const asked = ["top", "--interval", "200ms", ...address];
  const reading = await until("see two failing keys in top", async () => {
    const { code, stdout, stderr } = await runBinary([...asked, "-o", "json"]);
    assertEquals([code, stderr], [0, ""]);
    const value = JSON.parse(stdout);
    return value.failingKeys.length === 2 ? { kind: "found", value } : { kind: "pending", state: stdout };
  });
  const [retried, stopped] = reading.failingKeys;
  assertEquals([retried.key, stopped.key], [`${namespace.name}/conflict`, `${namespace.name}/poisoned`]);
  assertEquals([retried.state, stopped.state], ["waiting", "stopped"]);
  assert(retried.nextAt > retried.at - 1 && retried.retries > 0);
  assertMatch(retried.reason, /^Cannot apply Deployment ".*\/foreign": it has no controller/);
  assertMatch(stopped.reason, /spec\.deploymentName is empty/);
  const [foo] = reading.controllers;
  assertEquals([foo.controller, foo.isRunning, foo.workers, foo.problems, foo.failing], ["foo", true, 2, [], 2]);
  assert(foo.reconciles >= 3 && foo.failures >= 2 && foo.p99Ms > 0 && foo.lagSeconds < 100, JSON.stringify(foo));
  const { stdout } = await runBinary([...asked, "--once"]);
  assertMatch(
    stdout,
    /\nFAILING KEY +CONTROLLER +STATE .*\n.*\/conflict +foo +waiting +\d+ +(in \d+ s|now) +Cannot apply/,
  );
});
