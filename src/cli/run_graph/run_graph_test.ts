import { join } from "node:path";
import { tmpdir } from "node:os";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { assertEquals, assertMatch, assertStringIncludes, test } from "../../../tests/testing.ts";
import { builtin, untypedResource } from "../../api/mod.ts";
import type { Transport } from "../../client/mod.ts";
import { World } from "../../simulation/mod.ts";
import { exitCode } from "../command/mod.ts";
import { PlannedWorld } from "../plan/testing/planned_world.ts";
import { readGraphs } from "../../graph/testing/read_graphs.ts";
import { runCommandLine } from "../testing/run_command.ts";

const graph = `apiVersion: kro.run/v1alpha1
kind: ResourceGraphDefinition
metadata:
  name: note
spec:
  schema:
    apiVersion: v1
    kind: Note
    group: example.dev
    spec:
      text: string | default=hello maxLength=20
    status:
      written: \${page.data.text}
  resources:
    - id: page
      template:
        apiVersion: v1
        kind: ConfigMap
        metadata:
          name: \${schema.metadata.name}
        data:
          text: \${schema.spec.text}
---
apiVersion: example.dev/v1
kind: Note
metadata:
  name: first
spec: {}
`;

const operator = { name: "op", version: "1.0.0", controllers: [] };

/** A file with a graph, for one test. */
function graphFile(text = graph): Disposable & { readonly path: string } {
  const folder = mkdtempSync(join(tmpdir(), "graph-"));
  const path = join(folder, "note.yaml");
  writeFileSync(path, text);
  return { path, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
}

/** A World without controllers. */
async function emptyWorld() {
  const world = await World.start({ controllers: [], cluster: false });
  let own: Transport | undefined;
  world.client.withTransport((next) => own = next);
  return { world, transport: own };
}

const sample = {
  ...{ apiVersion: "example.dev/v1", kind: "Note" },
  metadata: { namespace: "default", name: "first" },
  spec: { text: "good day" },
};
const Note = untypedResource({
  group: "example.dev",
  version: "v1",
  kind: "Note",
  plural: "notes",
  scope: "Namespaced",
});

test("run-graph --once reconciles the objects of a graph whose definition install-crds --graph has installed", async () => {
  using file = graphFile();
  const { world, transport } = await emptyWorld();
  await using _world = world;
  const missing = await runCommandLine(operator, ["run-graph", file.path, "--once"], { transport });
  assertEquals(missing.code, exitCode.crdMissing);
  assertStringIncludes(missing.err, `Run: op install-crds note --graph ${file.path}\n`);
  const installed = await runCommandLine(operator, ["install-crds", "--graph", file.path], { transport });
  assertEquals(installed.code, 0, installed.err);
  await world.client.create(Note, sample);
  const { code, err } = await runCommandLine(operator, ["run-graph", file.path, "--once"], { transport });
  assertEquals(code, 0, err);
  assertMatch(err, /converged +objects=1/);
  assertEquals((await world.client.get(builtin.ConfigMap, "default/first")).data, { text: "good day" });
});

test("plan --graph shows what run-graph would do, and writes nothing", async () => {
  using file = graphFile();
  await using cluster = await PlannedWorld.start(readGraphs(graph));
  await cluster.world.client.create(Note, sample);
  await cluster.stopOperator();
  assertEquals((await cluster.plan([], ["--graph", file.path])).err, "op: plan: no changes\n");
  writeFileSync(file.path, graph.replace("text: ${schema.spec.text}", "text: ${schema.spec.text + '!'}"));
  const { code, out, err } = await cluster.plan([], ["--graph", file.path]);
  assertEquals([code, err], [exitCode.changes, "op: plan: 2 to update\n"]);
  assertStringIncludes(out, "-  text: good day\n+  text: good day!\n");
  assertEquals(cluster.writes, []);
});

test("simulate --graph tests a graph against faults with the objects in its file", async () => {
  using file = graphFile();
  const workload = ["--workload", "create and delete the samples"];
  const args = [
    "simulate",
    "note",
    "--graph",
    file.path,
    "--seeds",
    "2",
    "--faults",
    "crash",
    "--jobs",
    "1",
    ...workload,
  ];
  const { code, out, err } = await runCommandLine(operator, args);
  assertEquals(code, 0, err);
  assertMatch(out, /note +\d+ +(\d+) of \1 +0\n/);
});

test("run-graph names file and line of a mistake before it sends a request", async () => {
  using file = graphFile(graph.replace("schema.spec.text}", "schema.spec.texts}"));
  const { code, err } = await runCommandLine(operator, ["run-graph", file.path]);
  assertEquals(code, exitCode.failed);
  assertStringIncludes(
    err,
    `op: Cannot read the graph "${file.path}": line 22: spec.resources[0].template.data.text: `,
  );
  assertStringIncludes(err, "undefined field 'texts'");
});

test("run-graph refuses a file without a graph", async () => {
  using file = graphFile("# nothing\n");
  const { code, err } = await runCommandLine(operator, ["run-graph", file.path]);
  assertEquals([code, err.includes("it has no ResourceGraphDefinition. Add one")], [exitCode.failed, true]);
});
