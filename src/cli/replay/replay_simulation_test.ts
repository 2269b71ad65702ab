/** Tests of `replay` with recordings of simulations: several processes, faults, and leaders that change. */
import { assert, assertEquals, assertMatch, test } from "../../../tests/testing.ts";
import { builtin } from "../../api/mod.ts";
import { controller, type ControllerDefinition, done, inHub, manifest } from "../../controller/mod.ts";
import { withWorkloads, type Workload } from "../../manager/mod.ts";
import type { Entry } from "../../observe/mod.ts";
import { type Fault, faultKinds, recordSchedule, singleFaults } from "../../simulation/mod.ts";
import { RecordFolder } from "../recording/testing/record_folder.ts";
import { runCommandLine } from "../testing/run_command.ts";
import { replayRun } from "./replay_run.ts";

const { ConfigMap, ServiceAccount } = builtin;

// No Secret: what a reconcile that has read one writes cannot be compared.
const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "team", namespace: "default" } };
const accountName = { apiVersion: "v1", kind: "ServiceAccount", name: "team" };

/** Creates, deletes and creates the ServiceAccount. */
const recreate: Workload = {
  name: "recreate",
  steps: [
    { kind: "create", object: account },
    { kind: "delete", object: accountName },
    { kind: "create", object: account },
  ],
};

/** Two ConfigMaps for each ServiceAccount. */
function greeter(word = "hello"): ControllerDefinition {
  return controller("greeter").for(ServiceAccount).owns(ConfigMap).reconcile(async (ctx) => {
    for (const name of ["one", "two"]) {
      await ctx.apply(manifest(ConfigMap, { metadata: { namespace: "default", name }, data: { text: word } }));
    }
    return done;
  });
}

const controllers = [greeter()];
/** Not all faults of a kind: there are hundreds. */
const everyNth = 7;

async function chosenFaults(replicas: number): Promise<readonly Fault[]> {
  const { points, stepRevisions } = await recordSchedule({ controllers, workload: recreate, replicas });
  const all = singleFaults({ points, stepRevisions, replicas }, new Set(faultKinds));
  const ofKinds = [...Map.groupBy(all, ({ kind }) => kind).values()];
  return ofKinds.flatMap((faults) => faults.filter((_, index) => index % everyNth === 0));
}

function processesOf(entries: readonly Entry[]): ReadonlySet<number> {
  return new Set(entries.flatMap(({ process }) => process ?? []));
}

for (const replicas of [1, 2]) {
  test(`[136] a simulation of ${replicas} replicas replays with the same writes, whatever fault it had`, async () => {
    const faults = await chosenFaults(replicas);
    let [same, notCompared, restarts] = [0, 0, 0];
    for (const fault of faults) {
      const plan = { faults: [fault] };
      const { entries } = await recordSchedule({ controllers, workload: recreate, replicas, plan });
      const result = await replayRun({ entries, controllers, signal: new AbortController().signal });
      assertEquals(result.differences, [], JSON.stringify(fault));
      same += result.same;
      notCompared += result.notCompared.length;
      restarts += processesOf(entries).size - replicas;
    }
    assert(same > 3 * faults.length, `${same} reconciles were the same in ${faults.length} runs`);
    // The last reconcile of a process that is killed has no end.
    assert(notCompared <= faults.length / 5, `${notCompared} reconciles were not compared in ${faults.length} runs`);
    assert(restarts > 0);
  });
}

const Settings = inHub(ConfigMap);
/** Writes the settings of the hub, and the name of the cluster, for each ServiceAccount. */
function copier(): ControllerDefinition {
  return controller("copier").for(ServiceAccount).owns(ConfigMap)
    .watches(Settings, {
      to: (_, caches) => caches.list(ServiceAccount, {}).map(({ metadata }) => `default/${metadata.name}`),
    })
    .reconcile(async (ctx) => {
      const { text = "none" } = ctx.find(Settings, "default/settings")?.data ?? {};
      const data = {
        text,
        cluster: ctx.cluster?.name ?? "",
        own: ctx.find(ConfigMap, "default/copy")?.data?.text ?? "",
      };
      await ctx.apply(manifest(ConfigMap, { metadata: { namespace: "default", name: "copy" }, data }));
      return done;
    });
}

/** As above, with settings in the hub that change. */
const withSettings: Workload = {
  name: "settings",
  steps: [
    {
      kind: "create",
      object: {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name: "settings", namespace: "default" },
        data: { text: "a" },
      },
      inHub: true,
    },
    ...recreate.steps,
    {
      kind: "patch",
      object: { apiVersion: "v1", kind: "ConfigMap", name: "settings" },
      patch: { data: { text: "b" } },
      inHub: true,
    },
  ],
};

test("[136] a simulated fleet replays with the same writes in each member, whatever fault it had", async () => {
  const how = { controllers: [copier()], workload: withSettings, members: 2 };
  const { points, stepRevisions } = await recordSchedule(how);
  const all = singleFaults({ points, stepRevisions, replicas: 1, members: 2 }, new Set(faultKinds));
  const faults = all.filter(({ kind }, index) => kind === "member" || index % 60 === 0);
  let [same, notCompared] = [0, 0];
  for (const fault of faults) {
    const { entries } = await recordSchedule({ ...how, plan: { faults: [fault] } });
    const result = await replayRun({ entries, controllers: [copier()], signal: new AbortController().signal });
    assertEquals(result.differences, [], JSON.stringify(fault));
    same += result.same;
    notCompared += result.notCompared.length;
  }
  assert(same > 3 * faults.length, `${same} reconciles were the same in ${faults.length} runs`);
  assert(notCompared <= faults.length / 2, `${notCompared} reconciles were not compared in ${faults.length} runs`);
});

test("[136] simulate --record of processes that lose the Lease replays; a build with one changed line differs", async () => {
  await using folder = await RecordFolder.make();
  const plan = JSON.stringify({ faults: [{ kind: "pause", of: "write", request: 2, forMs: 20_000 }] });
  const simulate = ["simulate", "greeter", "--replicas", "2", "--plan", plan, "--record", folder.path];
  const recorded = await runCommandLine({ name: "op", controllers: [withWorkloads(greeter(), [recreate])] }, simulate);
  assertEquals(recorded.code, 0, recorded.err);
  const replay = (word?: string) =>
    runCommandLine({ name: "op", controllers: [greeter(word)] }, ["replay", folder.path, "-o", "json"]);
  const same = await replay();
  assertEquals([same.code, same.err], [0, ""]);
  assert(JSON.parse(same.out).reconciles.same >= 3, same.out);
  const changed = await replay("good day");
  assertEquals(changed.code, 2);
  const { differences } = JSON.parse(changed.out);
  assertMatch(JSON.stringify(differences[0]), /good day/);
  const entries = differences.map(({ entry }: { readonly entry: number }) => entry);
  assertEquals(entries, entries.toSorted((one: number, other: number) => one - other), "in the order of time");
});
