import { readdir, readFile } from "node:fs/promises";
import { ConfigMap, Secret, type UntypedObject } from "../../api/mod.ts";
import { controller, type ControllerDefinition, done, manifest } from "../../controller/mod.ts";
import { withSamples, withWorkloads, type Workload } from "../../manager/mod.ts";
import { ScheduleChecker } from "../../simulation/mod.ts";
import { assert, assertEquals, assertMatch, assertStringIncludes, test } from "../../../tests/testing.ts";
import { exitCode } from "../command/exit_code.ts";
import { RecordFolder } from "../recording/testing/record_folder.ts";
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
  // Only the first run tries other orders of events.
  assertStringIncludes(fake.out.replace(/ {2}confirmed: .*\n/, ""), again.out.trim());
  assert(fake.out.startsWith("The ConfigMap default/welcome is missing at the end.\n"), fake.out);
  assertMatch(fake.out, /confirmed: by its replay, and in 3 of 3 other orders of events/);
  assertMatch(fake.out, /\.\.\. \d+ more lines \(--full\)/);
  const full = new TestProcess(["simulate", "greeter", "--workload", "create", "--plan", json, "--full"]);
  assertEquals(await operatorCli({ name: "op", controllers }, full), exitCode.failed, full.err);
  assertStringIncludes(full.out, "WATCH configmaps");
});

test("simulate --clusters checks each member of a fleet, and its findings can be replayed and explained", async () => {
  const careful = new TestProcess(["simulate", "greeter", "--clusters", "2", "--seeds", "2", "--faults", "member"]);
  const controllers = [withWorkloads(greeter(true), [create])];
  assertEquals(await operatorCli({ name: "op", controllers }, careful), exitCode.done, careful.err);
  assertMatch(careful.out, /member +(\d+) of \1\n/);
  const careless = [withWorkloads(greeter(false), [create])];
  const found = new TestProcess(["simulate", "greeter", "--clusters", "2", "--seeds", "0", "--faults", "reset"]);
  assertEquals(await operatorCli({ name: "op", controllers: careless }, found), exitCode.failed, found.err);
  const [, json = ""] = /--seed 1 --clusters 2 --plan '(.*)'/.exec(found.out) ?? [];
  assertMatch(found.out, /why --file violation.jsonl configmaps default\/welcome --member member-1/);
  assertMatch(found.out, /operator 1 member-1 +PATCH configmaps/);
  const again = new TestProcess([
    ...["simulate", "greeter", "--workload", "create", "--clusters", "2", "--plan", json],
  ]);
  assertEquals(await operatorCli({ name: "op", controllers: careless }, again), exitCode.failed, again.err);
  for (const other of [["--shards", "2"], ["--command", "./manager"]]) {
    const refused = new TestProcess(["simulate", "greeter", "--clusters", "2", ...other]);
    assertEquals(await operatorCli({ name: "op", controllers }, refused), exitCode.usage, refused.err);
    assertMatch(refused.err, /Cannot use --clusters with --(shards|command)/);
  }
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

/** The file that `simulate` has written, as `why --file` explains it. */
async function whyLines(file: string, words: readonly string[], controllers: readonly ControllerDefinition[]) {
  const asked = new TestProcess(["why", "--file", file, ...words]);
  assertEquals(await operatorCli({ name: "op", controllers }, asked), exitCode.done, asked.err);
  return asked.out.split("\n");
}

test("[137] simulate --record writes the violation, and the printed command explains what was fatal", async () => {
  await using folder = await RecordFolder.make();
  const controllers = [withWorkloads(greeter(false), [create])];
  const words = ["simulate", "greeter", "--seeds", "0", "--faults", "crash", "--record", folder.path];
  const fake = new TestProcess(words);
  assertEquals(await operatorCli({ name: "op", controllers }, fake), exitCode.failed, fake.err);
  const [, asked = ""] = /explain: op why --file \S+ (.*)\n/.exec(fake.out) ?? [];
  assertEquals(asked, "secrets default/team-a");
  assertStringIncludes(fake.out, `\n  look: op page ${folder.path}\n`);
  const lines = await whyLines(folder.path, asked.split(" "), controllers);
  const text = lines.join("\n");
  assertStringIncludes(text, "it did not end: the process is killed (fault: crash before the response to write 1)");
  assertStringIncludes(text, "sent PATCH configmaps default/hello (write 1: 201), without seeing the answer");
  assertStringIncludes(text, "in process 2, which started after: the process is killed");
  assertStringIncludes(text, "reconciled in 0 ms: everything was as desired, nothing was written");
  assertStringIncludes(text, "violated: end-state: configmaps default/welcome");
  // The header says how to run it again, and notes have the state of the world after each action.
  const [header, ...entries] = (await readFile(folder.path, "utf8")).trim().split("\n").map((line) => JSON.parse(line));
  const { controllers: names, simulation } = header;
  assertEquals([names, simulation.workload, simulation.seed, simulation.plan.faults.length], [
    ["greeter"],
    "create",
    1,
    1,
  ]);
  const changes = entries.flatMap(({ kind, changes = [] }) => kind === "note" ? changes : []);
  assertEquals(changes.map(({ object, change }) => [object.kind, object.key, change]), [
    ["Secret", "default/team-a", "added"],
    ["ConfigMap", "default/hello", "added"],
  ]);
  assertEquals(changes[1].state.data, { text: "hello" });
});

test("[137] simulate --plan --record writes the run also without a violation; a lost response is a cause in words", async () => {
  await using folder = await RecordFolder.make();
  const controllers = [withWorkloads(greeter(true), [create])];
  const plan = JSON.stringify({ faults: [{ kind: "reset", write: 1, committed: true }] });
  const fake = new TestProcess(["simulate", "greeter", "--plan", plan, "--record", folder.path]);
  assertEquals(await operatorCli({ name: "op", controllers }, fake), exitCode.done, fake.err);
  assertStringIncludes(fake.err, 'recorded workload "create" of greeter in ');
  const text = (await whyLines(folder.path, ["cm", "default/hello"], controllers)).join("\n");
  assertStringIncludes(text, "could not apply ConfigMap default/hello (fault: connection reset after write 1)");
  // What the process did not see is known to the simulation.
  assertStringIncludes(text, "ConfigMap default/hello was created by controller greeter, for Secret default/team-a");
});

test("[137] simulate without --record says how to record a violation, and without one nothing is recorded", async () => {
  const broken = new TestProcess(["simulate", "greeter", "--seeds", "0", "--faults", "crash"]);
  await operatorCli({ name: "op", controllers: [withWorkloads(greeter(false), [create])] }, broken);
  assertStringIncludes(
    broken.out,
    "explain: add --record violation.jsonl to the replay, then run op why --file violation.jsonl secrets default/team-a\n",
  );
  await using folder = await RecordFolder.make();
  const words = ["simulate", "greeter", "--seeds", "0", "--faults", "reset", "--record", folder.path];
  const fake = new TestProcess(words);
  const controllers = [withWorkloads(greeter(true), [create])];
  assertEquals(await operatorCli({ name: "op", controllers }, fake), exitCode.done, fake.err);
  assertStringIncludes(fake.err, "nothing is recorded: there is no violation");
  assertEquals(await readdir(folder.root), []);
});

/** Sets the ConfigMap of each Secret to its own name, as another one does. */
function paints(name: string): ControllerDefinition {
  return controller(name).for(Secret).owns(ConfigMap).reconcile(async (ctx) => {
    await ctx.apply(manifest(ConfigMap, { metadata: { namespace: "default", name: "painted" }, data: { by: name } }));
    return done;
  });
}

test("simulate --together finds controllers that fight, and its replay line runs them together", async () => {
  const controllers = [withWorkloads(paints("red"), [create]), withWorkloads(paints("blue"), [create])];
  const words = ["--seeds", "0", "--faults", "reset", "--points", "1"];
  const apart = new TestProcess(["simulate", "red", "blue", ...words]);
  assertEquals(await operatorCli({ name: "op", controllers }, apart), exitCode.done, apart.out);
  for (const selected of [["red", "blue", "--together"], ["--all"]]) {
    const together = new TestProcess(["simulate", ...selected, ...words]);
    assertEquals(await operatorCli({ name: "op", controllers }, together), exitCode.failed, together.out);
    assertMatch(together.out, /replay: op simulate red blue --together --workload 'create' /);
    assertMatch(together.out, /replay: op simulate blue red --together --workload 'create' /);
  }
  const [, json = ""] = /red blue --together .*--plan '(.*)'/.exec(
    await outputOf(["simulate", "--all", ...words], controllers),
  ) ?? [];
  const replay = new TestProcess(["simulate", "red", "blue", "--together", "--workload", "create", "--plan", json]);
  assertEquals(await operatorCli({ name: "op", controllers }, replay), exitCode.failed, replay.out);
});

async function outputOf(words: readonly string[], controllers: readonly ControllerDefinition[]): Promise<string> {
  const fake = new TestProcess(words);
  await operatorCli({ name: "op", controllers }, fake);
  return fake.out;
}
