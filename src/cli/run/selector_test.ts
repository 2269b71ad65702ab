/** Tests of the label selector of a controller: the option in a World, and `--selector` of `run` and `dev`. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assert, assertEquals, assertMatch, test } from "../../../tests/testing.ts";
import { builtin, keyOf, type LabelSelector } from "../../api/mod.ts";
import { controller, type ControllerDefinition, done, manifest } from "../../controller/mod.ts";
import { withSamples } from "../../manager/mod.ts";
import { World } from "../../simulation/mod.ts";
import { FakeServer } from "../testing/fake_server.ts";
import { createProcess, runCommandLine, startCommandLine } from "../testing/run_command.ts";

const { ConfigMap, Secret } = builtin;
const teamA: LabelSelector = { matchLabels: { team: "a" } };

/** Creates a Secret without labels for each ConfigMap, and records the keys. */
function keeper(keys: string[], selector?: LabelSelector): ControllerDefinition {
  return controller("keeper", { namespace: "default", selector }).for(ConfigMap).owns(Secret).reconcile(async (ctx) => {
    const { name = "", namespace } = ctx.object.metadata;
    keys.push(keyOf(ctx.object));
    await ctx.apply(manifest(Secret, { metadata: { name, namespace } }));
    return done;
  });
}

/** Reconciles all ConfigMaps, and sees all of them. */
function counter(counts: number[]): ControllerDefinition {
  return controller("counter", { namespace: "default" }).for(ConfigMap).reconcile((ctx) => {
    counts.push(ctx.list(ConfigMap).length);
    return Promise.resolve(done);
  });
}

const map = (name: string, labels: Readonly<Record<string, string>> = {}) => ({ name, labels });

test("[85] a selector restricts one controller to its primary objects, and neither its dependents nor other controllers", async () => {
  const [keys, counts]: [string[], number[]] = [[], []];
  await using world = await World.start({ controllers: [keeper(keys, teamA), counter(counts)], cluster: false });
  await world.create(ConfigMap, { ...map("mine", { team: "a" }) });
  await world.create(ConfigMap, { ...map("other", { team: "b" }) });
  await world.settled();
  assertEquals([new Set(keys), counts.at(-1)], [new Set(["default/mine"]), 2]);
  assertEquals(world.find(Secret, "default/other"), undefined);
  await world.delete(Secret, "default/mine");
  await world.settled();
  assert(world.find(Secret, "default/mine") !== undefined, "the dependent has no labels, and is repaired");
});

test("[85] an object that loses the labels is left alone with its dependents, one that gets them is reconciled", async () => {
  const keys: string[] = [];
  await using world = await World.start({ controllers: [keeper(keys, teamA)], cluster: false });
  await world.create(ConfigMap, { ...map("leaves", { team: "a" }) });
  await world.create(ConfigMap, { ...map("joins") });
  await world.settled();
  const team = (value: string | null) => ({ kind: "merge", value: { metadata: { labels: { team: value } } } }) as const;
  await world.patch(ConfigMap, "default/leaves", team(null));
  await world.patch(ConfigMap, "default/joins", team("a"));
  await world.settled();
  keys.length = 0;
  await world.delete(Secret, "default/leaves");
  await world.delete(Secret, "default/joins");
  await world.settled();
  assertEquals(new Set(keys), new Set(["default/joins"]));
  assertEquals(world.find(Secret, "default/leaves"), undefined);
});

test("[85] run --selector is sent with each list and watch of the primary kind, and only with those", async () => {
  const empty = { apiVersion: "v1", kind: "List", metadata: { resourceVersion: "7" }, items: [] };
  const server = new FakeServer({ "GET /api/v1/namespaces/default/": empty });
  const operator = { name: "op", version: "1.0.0", controllers: [keeper([])] };
  const process = createProcess(["run", "keeper", "-l", "team=a,tier in (x, y)"], { transport: server.transport });
  const running = startCommandLine(operator, process, server.transport);
  let code: number | undefined;
  running.then((ended) => code = ended);
  const lists = () => server.requests.filter((line) => line.includes("resourceVersion"));
  for (let step = 0; step < 50_000 && code === undefined; step++) {
    if (lists().length > 1) process.signal("SIGTERM");
    await process.clock.advance(100);
  }
  assertEquals(code, 0, `${process.err}${server.requests.join("\n")}`);
  const selected = (kind: string) =>
    lists().filter((line) => line.includes(`/${kind}?`)).map((line) =>
      new URLSearchParams(line.split("?")[1]).get("labelSelector")
    );
  assertEquals(new Set(selected("configmaps")), new Set(["team=a,tier in (x,y)"]));
  assertEquals(new Set(selected("secrets")), new Set([null]));
});

test("[85] dev --selector reconciles only the selected samples; an invalid selector is a usage error", async () => {
  const path = await mkdtemp(join(tmpdir(), "pintle-selector-"));
  try {
    const keys: string[] = [];
    const samples = [map("mine", { team: "a" }), map("other")].map((metadata) => ({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata,
    }));
    const operator = { name: "op", version: "1.0.0", controllers: [withSamples(keeper(keys), samples)] };
    const options = { environment: { XDG_RUNTIME_DIR: path } };
    const words = ["dev", "keeper", "--samples", "--until-settled", "--selector"];
    const { code, err } = await runCommandLine(operator, [...words, "team"], options);
    assertEquals([code, new Set(keys)], [0, new Set(["default/mine"])], err);
    const wrong = await runCommandLine(operator, [...words, "team=a b"], options);
    assertEquals(wrong.code, 2);
    assertMatch(
      wrong.err,
      /Cannot parse --selector "team=a b": "team=a b" is not a requirement on a label\. Example: /,
    );
  } finally {
    await rm(path, { recursive: true });
  }
});
