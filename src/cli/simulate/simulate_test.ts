import { ConfigMap, Secret, type UntypedObject } from "../../api/mod.ts";
import { controller, type ControllerDefinition, done, manifest } from "../../controller/mod.ts";
import { withSamples, withWorkloads, type Workload } from "../../manager/mod.ts";
import { ScheduleChecker } from "../../simulation/mod.ts";
import { assert, assertEquals, assertMatch, assertStringIncludes, test } from "../../../tests/testing.ts";
import { exitCode } from "../command/exit_code.ts";
import { TestProcess } from "../testing/test_process.ts";
import { operatorCli } from "../operator_cli.ts";
import { handleRequest } from "./worker_processes.ts";

const team: UntypedObject = { apiVersion: "v1", kind: "Secret", metadata: { name: "team-a", namespace: "default" } };
const create: Workload = { name: "create", steps: [{ kind: "create", object: team }] };

/** Creates two objects. @param careful Whether it checks each of them, and not only the first */
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

test("simulate ends with 0 and a table when a controller tolerates every fault", async () => {
  const fake = new TestProcess(["simulate", "greeter", "--seeds", "4", "--faults", "crash", "--faults", "reset"]);
  const controllers = [withWorkloads(greeter(true), [create])];
  assertEquals(await operatorCli({ name: "op", controllers }, fake), exitCode.done, fake.err);
  assertMatch(fake.out, /greeter +\d+ +(\d+) of \1 +0\n/);
  assertMatch(fake.out, /crash +(\d+) of \1\n/);
  assertMatch(
    fake.out,
    /\ntotal: [\d,]+ schedules, 4 seeds, [\d,]+ requests, [\d,]+ faults, [\d,]+ reconciles, 0 violations, in \d+ (min|h) of the virtual clock\n$/,
  );
});

test("simulate ends with 1, a timeline and a replay line when a controller does not finish its work after a crash", async () => {
  const fake = new TestProcess(["simulate", "greeter", "--seeds", "0", "--faults", "crash"]);
  const controllers = [withWorkloads(greeter(false), [create])];
  assertEquals(await operatorCli({ name: "op", controllers }, fake), exitCode.failed, fake.err);
  assertStringIncludes(fake.out, "the process is killed");
  const [, json = ""] = /replay: op simulate greeter --workload 'create' --seed 1 --plan '(.*)'/.exec(fake.out) ??
    [];
  const again = new TestProcess(["simulate", "greeter", "--workload", "create", "--plan", json]);
  assertEquals(await operatorCli({ name: "op", controllers }, again), exitCode.failed, again.err);
  assertStringIncludes(fake.out, again.out.trim());
});

test("simulate -o json prints the report as JSON", async () => {
  const fake = new TestProcess(["simulate", "--all", "--seeds", "0", "--faults", "reset", "-o", "json"]);
  const controllers = [withWorkloads(greeter(true), [create])];
  assertEquals(await operatorCli({ name: "op", controllers }, fake), exitCode.done, fake.err);
  const [report] = JSON.parse(fake.out);
  assertEquals(report.violations, []);
  assert(report.faultPoints.reset.tested > 0);
  // A fault in every run except the three without faults; each run creates the objects and rests for a minute.
  const { schedules, seeds, totals: { requests, faults, reconciles, virtualMs } } = report;
  assertEquals([schedules - 3, seeds], [report.faultPoints.reset.tested, 0]);
  assertEquals(faults, report.faultPoints.reset.tested);
  assert(requests > reconciles && reconciles >= schedules && virtualMs >= schedules * 60_000);
});

test("simulate uses the samples without workloads, and without samples it is a usage error", async () => {
  const sampled = new TestProcess(["simulate", "greeter", "--seeds", "0", "--faults", "crash"]);
  const controllers = [withSamples(greeter(true), [team])];
  assertEquals(await operatorCli({ name: "op", controllers }, sampled), exitCode.done, sampled.out);
  const bare = new TestProcess(["simulate", "greeter"]);
  assertEquals(await operatorCli({ name: "op", controllers: [greeter(true)] }, bare), exitCode.usage);
  assertStringIncludes(bare.err, 'Cannot simulate controller "greeter": it has neither workloads nor samples');
});

test("an invalid fault plan is a usage error", async () => {
  const fake = new TestProcess(["simulate", "greeter", "--plan", '{"faults":[{"kind":"flood"}]}']);
  const controllers = [withWorkloads(greeter(true), [create])];
  assertEquals(await operatorCli({ name: "op", controllers }, fake), exitCode.usage);
  assertStringIncludes(fake.err, "it is not a fault plan");
});

test("worker processes get requests in JSON, and the result is the same as without them", async () => {
  const controllers = [withWorkloads(greeter(false), [create])];
  const words = ["simulate", "greeter", "--seeds", "60", "--faults", "crash", "-o", "json"];
  const [single, parallel] = [new TestProcess(words), new TestProcess([...words, "--jobs", "3"])];
  const players = new Map([["greeter", new ScheduleChecker(greeter(false), [create])]]);
  const requests: string[] = [];
  const startWorkerProcess = () => ({
    request: (line: string) => {
      requests.push(line);
      return handleRequest(players, line);
    },
    [Symbol.dispose]: () => void requests.push("ended"),
  });
  assertEquals(await operatorCli({ name: "op", controllers }, single), exitCode.failed, single.err);
  assertEquals(
    await operatorCli({ name: "op", controllers }, { ...parallel, startWorkerProcess }),
    exitCode.failed,
    parallel.err,
  );
  assertEquals(parallel.out, single.out);
  assert(requests.length > 2);
  assertEquals(requests.slice(-2), ["ended", "ended"]);
});
