import { createTestToolbox } from "../../tests/fakes/toolbox.ts";
import { assertEquals, test } from "../../tests/testing.ts";
import { builtin, type KubeObject, resourceVersion } from "../api/mod.ts";
import { controller, done } from "../controller/mod.ts";
import { OwnWriteOracle } from "./_own_write_oracle.ts";

const { ConfigMap, Namespace } = builtin;

function configMap(version: string): KubeObject {
  const metadata = { name: "a", namespace: "shop", uid: "u-a", resourceVersion: resourceVersion(version) };
  return { apiVersion: "v1", kind: "ConfigMap", metadata };
}

/** The violations of a process that patches a ConfigMap to version 7 and then reads this from its cache. */
async function violationsOf(cached: readonly KubeObject[], stored: KubeObject | undefined): Promise<readonly string[]> {
  const oracle = new OwnWriteOracle({ find: () => stored });
  const definition = controller("writer").for(Namespace).reconcileKey(async (_request, toolbox) => {
    await toolbox.patch(ConfigMap, configMap("5") as never, { kind: "merge", value: {} });
    toolbox.find(ConfigMap, "shop/a");
    toolbox.list(ConfigMap);
    return done;
  });
  const { toolbox } = createTestToolbox({ cached, responses: [Response.json(configMap("7"))] });
  const [observed] = oracle.observed([definition], 1);
  await observed?.reconciler(toolbox.request, toolbox);
  return oracle.violations().map(({ message }) => message);
}

test("a read that is older than the process's own write is a violation", async () => {
  assertEquals(await violationsOf([configMap("5")], configMap("7")), [
    "process 1 read configmaps shop/a at version 5 after it had written 7",
  ]);
});

test("a read of the written version, or of a newer one, is none", async () => {
  assertEquals(await violationsOf([configMap("7")], configMap("7")), []);
  assertEquals(await violationsOf([configMap("9")], configMap("9")), []);
});

test("a read that does not find a written object is a violation while the server has it", async () => {
  assertEquals(await violationsOf([], configMap("7")), ["process 1 does not find configmaps shop/a, which it wrote"]);
  assertEquals(await violationsOf([], undefined), []);
});
