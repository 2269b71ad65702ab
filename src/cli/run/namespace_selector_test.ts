/** `--namespace-selector` of `run`, and its permissions in `manifests`. */
import { assert, assertEquals, assertMatch, test } from "../../../tests/testing.ts";
import { builtin } from "../../api/mod.ts";
import { controller, done } from "../../controller/mod.ts";
import { FakeServer } from "../testing/fake_server.ts";
import { createProcess, runCommandLine, startCommandLine } from "../testing/run_command.ts";

const { ConfigMap } = builtin;

const partial = { apiVersion: "meta.k8s.io/v1", kind: "PartialObjectMetadata" };
const list = (kind: string, items: readonly object[]) => ({
  apiVersion: "v1",
  kind,
  metadata: { resourceVersion: "7" },
  items,
});

/** A watch that sends the full state, and stays open. */
function streamOf(objects: readonly object[]): Response {
  const annotations = { "k8s.io/initial-events-end": "true" };
  const end = { ...partial, metadata: { resourceVersion: "7", annotations } };
  const events = [...objects.map((object) => ({ type: "ADDED", object })), { type: "BOOKMARK", object: end }];
  const text = events.map((event) => `${JSON.stringify(event)}\n`).join("");
  return new Response(
    new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode(text)) }),
  );
}

const keeper = controller("keeper", { namespace: "own" }).for(ConfigMap).reconcile(() => Promise.resolve(done));
const operator = { name: "op", version: "1.0.0", controllers: [keeper] };

test("run --namespace-selector watches the namespaces with these labels, also for a controller with a namespace", async () => {
  const metadata = { name: "shop", labels: { team: "a" } };
  const shop = { ...partial, metadata };
  const other = { ...partial, metadata: { name: "other" } };
  const server = new FakeServer({
    "GET /api/v1/namespaces/shop/": list("ConfigMapList", []),
    "GET /api/v1/namespaces?labelSelector": list("PartialObjectMetadataList", [shop]),
    "GET /api/v1/namespaces?watch": () => streamOf([shop, other]),
  });
  const process = createProcess(["run", "keeper", "--namespace-selector", "team=a"], { transport: server.transport });
  const running = startCommandLine(operator, process, server.transport);
  let code: number | undefined;
  running.then((ended) => code = ended);
  const ofMaps = () => server.requests.filter((line) => line.includes("/configmaps"));
  for (let step = 0; step < 50_000 && code === undefined; step++) {
    if (ofMaps().some((line) => line.includes("resourceVersion"))) process.signal("SIGTERM");
    await process.clock.advance(100);
  }
  assertEquals(code, 0, `${process.err}${server.requests.join("\n")}`);
  assert(ofMaps().every((line) => line.includes("/namespaces/shop/configmaps")), ofMaps().join("\n"));
});

test("--namespace-selector excludes --namespace, and an invalid selector is a usage error", async () => {
  const both = await runCommandLine(operator, ["run", "keeper", "-n", "a", "--namespace-selector", "team=a"]);
  assertEquals(both.code, 2);
  assertMatch(both.err, /both --namespace and --namespace-selector are given/);
  const wrong = await runCommandLine(operator, ["run", "keeper", "--namespace-selector", "team=a b"]);
  assertEquals(wrong.code, 2);
  assertMatch(wrong.err, /Cannot parse --namespace-selector "team=a b"/);
});

test("manifests with --namespace-selector allow to list and watch Namespaces", async () => {
  const words = ["manifests", "--image", "registry.example/op:1"];
  const without = await runCommandLine(operator, words);
  const { code, out, err } = await runCommandLine(operator, [...words, "--run-flag=--namespace-selector=team=a"]);
  assertEquals([code, without.code], [0, 0], err);
  const rule = /resources:\s+- namespaces\s+verbs:\s+- list\s+- watch/;
  assertEquals([rule.test(out), rule.test(without.out)], [true, false], out);
});
