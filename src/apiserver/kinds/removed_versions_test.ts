import { assertEquals, assertThrows, test } from "../../../tests/testing.ts";
import { kubernetesApi } from "../kubernetes_api.ts";
import { removedVersions } from "./mod.ts";

const budgets = (version: string) => `http://in.memory/apis/policy/${version}/namespaces/default/poddisruptionbudgets`;

const budget = {
  apiVersion: "policy/v1beta1",
  kind: "PodDisruptionBudget",
  metadata: { name: "web" },
  spec: { maxUnavailable: 1, selector: { matchLabels: { app: "web" } } },
};

function post(url: string, object: unknown): Request {
  const headers = { "content-type": "application/json" };
  return new Request(url, { method: "POST", headers, body: JSON.stringify(object) });
}

test("an object of a removed version is stored, and read in each version of its kind", async () => {
  const { server } = kubernetesApi({ removedVersions: ["policy/v1beta1"] });
  using _ending = server;
  assertEquals((await server.fetch(post(budgets("v1beta1"), budget))).status, 201);
  for (const version of ["v1beta1", "v1"]) {
    const { apiVersion, spec } = await (await server.fetch(new Request(`${budgets(version)}/web`))).json();
    assertEquals([apiVersion, spec], [`policy/${version}`, budget.spec]);
  }
});

test("discovery prefers the version of today to a removed one", async () => {
  const { server } = kubernetesApi({ removedVersions });
  using _ending = server;
  for (const group of ["policy", "batch", "coordination.k8s.io", "rbac.authorization.k8s.io", "scheduling.k8s.io"]) {
    const { versions, preferredVersion } = await (await server.fetch(new Request(`http://in.memory/apis/${group}`)))
      .json();
    assertEquals(versions.map(({ version }: { version: string }) => version), ["v1", "v1beta1"], group);
    assertEquals(preferredVersion.version, "v1");
  }
});

test("a removed version is not found unless it is asked for, also after another server has served it", async () => {
  kubernetesApi({ removedVersions: ["policy/v1beta1"] }).server[Symbol.dispose]();
  const { server } = kubernetesApi();
  using _ending = server;
  assertEquals((await server.fetch(post(budgets("v1beta1"), budget))).status, 404);
});

test("a version whose objects have other fields today cannot be served", () => {
  assertThrows(() => kubernetesApi({ removedVersions: ["extensions/v1beta1"] }), /only batch.v1beta1/);
});
