/** `simulate`, called as its users call it. */
import { ConfigMap, Secret, type UntypedObject } from "../../api/mod.ts";
import { controller, type ControllerDefinition, done, manifest } from "../../controller/mod.ts";
import { withSamples, withWorkloads, type Workload } from "../../manager/mod.ts";
import { Player } from "../../simulation/mod.ts";
import { assert, assertEquals, assertMatch, assertStringIncludes, test } from "../../../tests/testing.ts";
import { exitCode } from "../command/exit_code.ts";
import { TestProcess } from "../testing/test_process.ts";
import { operatorCli } from "../operator_cli.ts";
import { handleRequest } from "./worker_processes.ts";

const team: UntypedObject = { apiVersion: "v1", kind: "Secret", metadata: { name: "team-a", namespace: "default" } };
const create: Workload = { name: "create", steps: [{ kind: "create", object: team }] };

/** Brings two objects. @param careful Whether it looks at each, and not only at the first */
function greeter(careful: boolean): ControllerDefinition {
  return controller("greeter").for(Secret).owns(ConfigMap).reconcile(async (ctx) => {
    const namespace = "default";
    const isNew = ctx.find(ConfigMap, `${namespace}/hello`) === undefined;
    for (const name of careful || isNew ? ["hello", "welcome"] : []) {
      await ctx.apply(manifest(ConfigMap, { metadata: { namespace, name }, data: { text: name } }));
    }
    return done;
  });
}

test("a controller that can live with every fault ends with 0 and a table of what was played", async () => {
  const fake = new TestProcess(["simulate", "greeter", "--seeds", "4", "--faults", "crash", "--faults", "reset"]);
  const controllers = [withWorkloads(greeter(true), [create])];
  assertEquals(await operatorCli({ name: "op", controllers }, fake), exitCode.done, fake.err);
  assertMatch(fake.out, /greeter +\d+ +(\d+) of \1 +0\n/);
  assertMatch(fake.out, /crash +(\d+) of \1\n/);
});

test("a controller that forgets after a crash what it had begun ends with 1, a timeline and the line that replays it", async () => {
  const fake = new TestProcess(["simulate", "greeter", "--seeds", "0", "--faults", "crash"]);
  const controllers = [withWorkloads(greeter(false), [create])];
  assertEquals(await operatorCli({ name: "op", controllers }, fake), exitCode.failed, fake.err);
  assertStringIncludes(fake.out, "the process ends");
  const [, json = ""] = /replay: op simulate greeter --workload 'create' --seed 1 --plan '(.*)'/.exec(fake.out) ??
    [];
  const again = new TestProcess(["simulate", "greeter", "--workload", "create", "--plan", json]);
  assertEquals(await operatorCli({ name: "op", controllers }, again), exitCode.failed, again.err);
  assertStringIncludes(fake.out, again.out.trim());
});

test("the report is JSON for programs that want that", async () => {
  const fake = new TestProcess(["simulate", "--all", "--seeds", "0", "--faults", "reset", "-o", "json"]);
  const controllers = [withWorkloads(greeter(true), [create])];
  assertEquals(await operatorCli({ name: "op", controllers }, fake), exitCode.done, fake.err);
  const [report] = JSON.parse(fake.out);
  assertEquals(report.violations, []);
  assert(report.faultPoints.reset.played > 0);
});

test("without workloads the samples are played, and without samples it says what is missing", async () => {
  const sampled = new TestProcess(["simulate", "greeter", "--seeds", "0", "--faults", "crash"]);
  const controllers = [withSamples(greeter(true), [team])];
  assertEquals(await operatorCli({ name: "op", controllers }, sampled), exitCode.done, sampled.out);
  const bare = new TestProcess(["simulate", "greeter"]);
  assertEquals(await operatorCli({ name: "op", controllers: [greeter(true)] }, bare), exitCode.usage);
  assertStringIncludes(bare.err, 'Cannot simulate controller "greeter": it has neither workloads nor samples');
});

test("a plan that is none is a usage error", async () => {
  const fake = new TestProcess(["simulate", "greeter", "--plan", '{"faults":[{"kind":"flood"}]}']);
  const controllers = [withWorkloads(greeter(true), [create])];
  assertEquals(await operatorCli({ name: "op", controllers }, fake), exitCode.usage);
  assertStringIncludes(fake.err, "it is no fault plan");
});

test("processes that help are asked in JSON, and what they answer is what would have been found without them", async () => {
  const controllers = [withWorkloads(greeter(false), [create])];
  const words = ["simulate", "greeter", "--seeds", "60", "--faults", "crash", "-o", "json"];
  const [alone, helped] = [new TestProcess(words), new TestProcess([...words, "--jobs", "3"])];
  const players = new Map([["greeter", new Player(greeter(false), [create])]]);
  const asked: string[] = [];
  const startTwin = () => ({
    ask: (line: string) => {
      asked.push(line);
      return handleRequest(players, line);
    },
    [Symbol.dispose]: () => void asked.push("ended"),
  });
  assertEquals(await operatorCli({ name: "op", controllers }, alone), exitCode.failed, alone.err);
  assertEquals(await operatorCli({ name: "op", controllers }, { ...helped, startTwin }), exitCode.failed, helped.err);
  assertEquals(helped.out, alone.out);
  assert(asked.length > 2);
  assertEquals(asked.slice(-2), ["ended", "ended"]);
});
