/** Tests of what is told of runs without faults that are not alike. */
import type { KubeObject } from "../../api/mod.ts";
import { assertEquals, test } from "../../../tests/testing.ts";
import { runDifferences } from "./run_differences.ts";
import { configMap, runOf, stepEnd } from "./testing/program_runs.ts";

test("runDifferences() says once in how many runs an object is there, and which values a field has", () => {
  const port = (value: string) => configMap("a", { color: "blue", port: value });
  const runs = [[port("1"), configMap("b", { color: "red" })], [port("2")], [port("1")]];
  assertEquals(runDifferences(runs.map((objects) => runOf(objects))), [
    "configmaps default/b is there after step 1 in 1 of 3 runs",
    'configmaps default/a .data.port is "1" or "2" after step 1',
  ]);
});

test("runDifferences() names the first step in which runs differ, and nothing when they are alike", () => {
  const runWith = (first: string, second: string) =>
    runOf([], { steps: [first, second].map((text, index) => stepEnd([configMap("a", { text })], index + 1)) });
  assertEquals(runDifferences([runWith("x", "z"), runWith("y", "z")]), [
    'configmaps default/a .data.text is "x" or "y" after step 1',
  ]);
  assertEquals(runDifferences([runWith("x", "y"), runWith("x", "z")]), [
    'configmaps default/a .data.text is "y" or "z" after step 2',
  ]);
  assertEquals(runDifferences([runWith("x", "z"), runWith("x", "z")]), []);
});

test("runDifferences() leaves out names, addresses and ports that the server chooses", () => {
  const mount = (suffix: string) => ({ mountPath: "/run", name: `kube-api-access-${suffix}` });
  const service = (address: string, nodePort: number, suffix: string): KubeObject & { readonly spec: unknown } => ({
    ...configMap("a", { url: `http://${address}:80` }),
    spec: {
      clusterIP: address,
      ports: [{ name: "web", nodePort }],
      volumes: [mount(suffix)],
      volumeMounts: [mount(suffix)],
    },
  });
  assertEquals(
    runDifferences([runOf([service("10.96.1.2", 30_001, "k2x1z")]), runOf([service("10.96.200.7", 31_200, "x2k1z")])]),
    [],
  );
});

test("runDifferences() names an item of a list that only some runs have", () => {
  const withConditions = (...types: readonly string[]) => {
    const status = { conditions: types.map((type) => ({ type, status: "True" })) };
    const object: KubeObject & { readonly status: unknown } = { ...configMap("a", {}), status };
    return runOf([object]);
  };
  assertEquals(runDifferences([withConditions("Ready"), withConditions("Ready", "Busy"), withConditions("Ready")]), [
    "configmaps default/a .status.conditions[type=Busy] is there after step 1 in 1 of 3 runs",
  ]);
});

test("runDifferences() tells no value of a Secret", () => {
  const runs = ["YWJj", "ZGVm"].map((password) => {
    const object = { ...configMap("a", { password }), kind: "Secret" };
    const end = stepEnd([]);
    return runOf([], {
      steps: [{ ...end, state: { ...end.state, objects: [{ collection: "secrets", object }] } }],
    });
  });
  assertEquals(runDifferences(runs), ["secrets default/a .data.password has 2 values after step 1"]);
});

test("runDifferences() tells of what stays after deletions in some runs only", () => {
  const leftover = { view: { collection: "configmaps", object: configMap("a", {}) }, of: configMap("owner", {}) };
  assertEquals(runDifferences([runOf([]), runOf([], { leftovers: [leftover] })]), [
    "configmaps default/a stays after the deletions in 1 of 2 runs",
  ]);
});
