/** `run --config` while it runs: what a changed file changes, and what SIGHUP means. */
import { z } from "zod";
import { FakeCluster } from "../../../tests/fakes/cluster.ts";
import { assert, assertEquals, assertMatch, test } from "../../../tests/testing.ts";
import { builtin } from "../../api/mod.ts";
import { controller, type ControllerDefinition, done } from "../../controller/mod.ts";
import { withFlags } from "../../manager/mod.ts";
import { flag } from "../flags/mod.ts";
import { createProcess, endOf, startCommandLine } from "../testing/run_command.ts";
import { emptyList } from "../testing/test_kinds.ts";
import { TestFolder } from "../testing/test_folder.ts";
import type { TestProcess, TestTerminal } from "../testing/test_process.ts";

const flags = z.object({
  hosts: flag(z.array(z.string().max(5, { error: "it is too long" })).default([]), {
    flags: "--hosts <host>",
    about: "hosts to serve",
    arity: "list",
    isReloadable: true,
  }),
});

/** A controller that shows the hosts it was given. */
function hostsController(shown: (readonly string[])[]): ControllerDefinition {
  const keeper = controller("keeper").for(builtin.ConfigMap).reconcile(() => Promise.resolve(done));
  return withFlags(keeper, flags, ({ flags: { hosts }, onReload }) => {
    shown.push(hosts);
    onReload((values) => void shown.push(values.hosts));
    return keeper;
  });
}

function cluster(): FakeCluster {
  const fake = new FakeCluster();
  fake.intercept = ({ method, url }, path) => {
    if (path === "/version") return Response.json({ gitVersion: "v1.36.3" });
    return method === "GET" && url.includes("limit=1") ? Response.json(emptyList) : undefined;
  };
  return fake;
}

/** `run` with a configuration file, until its workers have started. */
class RunningCommand implements AsyncDisposable {
  readonly shown: (readonly string[])[] = [];
  readonly process: TestProcess;
  readonly ending: Promise<number>;
  readonly #folder: TestFolder;

  private constructor(folder: TestFolder, path: string, terminal: TestTerminal) {
    this.#folder = folder;
    const { transport } = cluster();
    this.process = createProcess(["run", "--all", "--config", path], { transport, terminal });
    const operator = { name: "op", version: "1.0.0", controllers: [hostsController(this.shown)] };
    this.ending = startCommandLine(operator, this.process, transport);
  }

  static async start(text: string, terminal: TestTerminal = {}): Promise<RunningCommand> {
    const folder = await TestFolder.create();
    const running = new RunningCommand(folder, await folder.write("op.yaml", text), terminal);
    await running.until("starting workers");
    return running;
  }

  async write(text: string): Promise<void> {
    await this.#folder.write("op.yaml", text);
  }

  /** Advances the clock until the log has a text. The test's time limit ends a wait without result. */
  async until(logged: string): Promise<void> {
    while (!this.process.err.includes(logged)) await this.process.clock.advance(200);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.process.signal("SIGTERM");
    await endOf(this.ending, this.process);
    await this.#folder[Symbol.asyncDispose]();
  }
}

test("run takes over the log level, the limit of requests and flags of controllers from a changed file", async () => {
  await using running = await RunningCommand.start("hosts: [a]\nresync: 1h\n");
  assert(!running.process.err.includes("DEBUG"));
  await running.write("hosts: [a, b]\nresync: 2h\nverbose: 1\nkubeApiQps: 20\n");
  await running.until("reloaded the configuration");
  assertEquals(running.shown, [["a"], ["a", "b"]]);
  const { err } = running.process;
  assertMatch(err, /reloaded the configuration .*settings="kubeApiQps,verbose,hosts"/);
  assertMatch(err, /a changed setting takes effect after a restart +setting=resync from=\S+op\.yaml:2/);
  await running.write("hosts: [a, b]\nresync: 2h\nverbose: 1\nkubeApiQps: 20\n# read again\n");
  await running.until("DEBUG configuration");
});

test("run keeps the old values of a file that has become invalid", async () => {
  await using running = await RunningCommand.start("hosts: [a]\n");
  await running.write("hosts:\n- b\n- too long\n");
  await running.until("cannot reload the configuration");
  assertMatch(running.process.err, /keeping the old values .*op\.yaml:3 hosts .*it is too long/);
  await running.write("kubeApiBurst: 3\nhosts: [c]\n");
  await running.until("--kube-api-burst needs --kube-api-qps");
  assertEquals(running.shown, [["a"]]);
  await running.write("hosts: [b]\n");
  await running.until("reloaded the configuration");
  assertEquals(running.shown, [["a"], ["b"]]);
});

test("run keeps the old values of a file that is emptied, as before it is written, until it has {}", async () => {
  await using running = await RunningCommand.start("hosts: [a]\n");
  await running.write("# The hosts of the team\n---\n");
  await running.until("cannot reload the configuration");
  assertMatch(running.process.err, /keeping the old values .*op\.yaml:1: the file is empty/);
  assertEquals(running.shown, [["a"]]);
  await running.write("{}\n");
  await running.until("reloaded the configuration");
  assertEquals(running.shown, [["a"], []]);
});

test("SIGHUP reads the file again, and does not end run", async () => {
  await using running = await RunningCommand.start("hosts: [a]\n");
  await running.write("hosts: [b]\n");
  running.process.signal("SIGHUP");
  await running.until("reloaded the configuration");
  assertEquals(running.shown, [["a"], ["b"]]);
  assert(!running.process.err.includes("received a signal"));
});

test("SIGHUP of a terminal ends run, also with a file", async () => {
  await using running = await RunningCommand.start("hosts: [a]\n", { answers: [] });
  running.process.signal("SIGHUP");
  assertEquals(await endOf(running.ending, running.process), 0);
  assertMatch(running.process.err, /received a signal, finishing running reconciles +signal=SIGHUP/);
});
