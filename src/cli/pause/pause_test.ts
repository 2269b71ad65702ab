import { assertEquals, assertMatch, test } from "../../../tests/testing.ts";
import { builtin } from "../../api/mod.ts";
import type { Transport } from "../../client/mod.ts";
import { World } from "../../simulation/mod.ts";
import { type CommandResult, runCommandLine } from "../testing/run_command.ts";
import { podController, Website, websiteController } from "../testing/test_kinds.ts";

const operator = { name: "op", version: "1.2.3", controllers: [websiteController, podController] };

async function start(): Promise<{ readonly world: World; run(line: string): Promise<CommandResult> }> {
  const world = await World.start({ controllers: [websiteController], cluster: false });
  let own: Transport = fetch;
  world.client.withTransport((next) => own = next);
  await world.create(Website, { name: "home", ...{ spec: { host: "a" } } });
  return { world, run: (line) => runCommandLine(operator, line.split(" "), { transport: own }) };
}

test("pause and resume set and remove the annotation of an object", async () => {
  const { world, run } = await start();
  await using _world = world;
  const annotations = () => world.get(Website, "default/home").metadata.annotations;
  const done = (out: string): CommandResult => ({
    code: 0,
    out: `websites.example.dev "default/home" ${out}\n`,
    err: "",
  });
  assertEquals(await run("pause website home -n default"), done("paused"));
  assertEquals(annotations(), { "pintle.dev/paused": "true" });
  assertEquals(await run("pause websites default/home"), done("is paused already"));
  assertEquals(await run("pause Website default/home --with-deletion"), done("paused, also its deletion"));
  assertEquals(annotations(), { "pintle.dev/paused": "with-deletion" });
  assertEquals(await run("resume websites.example.dev default/home"), done("resumed"));
  assertEquals(await run("resume website default/home"), done("is not paused"));
  assertEquals(annotations() ?? {}, {});
});

test("pause refuses kinds that no controller reconciles, and says that an object is missing", async () => {
  const { world, run } = await start();
  await using _world = world;
  const unknown = await run(`pause ${builtin.ConfigMap.plural} default/a`);
  assertEquals(unknown.code, 2);
  assertMatch(unknown.err, /Cannot find configmaps "default\/a": no controller of this program reconciles the kind/);
  const missing = await run("pause website default/other");
  assertEquals(missing.code, 1);
  assertMatch(missing.err, /Cannot find websites.example.dev "default\/other": https:\/\/10.0.0.1:6443 has none/);
});
