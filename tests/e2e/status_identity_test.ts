/**
 * Why a status is written by a JSON patch: a real kube-apiserver refuses one that tests another UID, and ignores the UID in a
 * merge patch of the status of a custom resource.
 */
import type { KubeObject } from "../../src/api/mod.ts";
import { Client, clusterTransport, isInvalid, loadClusterAccess, type Patch } from "../../src/client/mod.ts";
import { installCustomResources } from "../../src/cluster/mod.ts";
import { controller, done } from "../../src/controller/mod.ts";
import { defineResource, z } from "../../src/schema/mod.ts";
import { controlPlaneTest, createNamespace } from "../controlplane/test.ts";
import { assert, assertEquals, assertRejects } from "../testing.ts";

const Thing = defineResource({
  group: "identity.example.dev",
  version: "v1",
  kind: "Thing",
  scope: "Namespaced",
  spec: z.object({ text: z.string().optional() }),
  status: z.object({ seen: z.string().max(5).optional() }),
});
const things = controller("things").for(Thing).reconcile(() => Promise.resolve(done));

controlPlaneTest("a status is written by UID only if a JSON patch tests it", async (controlPlane) => {
  const overrides = { kubeconfig: controlPlane.kubeconfig };
  using transport = clusterTransport(await loadClusterAccess({ environment: {}, overrides, workingDirectory: "/" }));
  const client = new Client(transport);
  await installCustomResources(client, [things]);
  const namespace = await createNamespace(controlPlane);
  const created: KubeObject = await client.create(Thing, { metadata: { namespace, name: "a" }, spec: {} });
  const patch = async (body: Patch<typeof Thing>) =>
    (await client.patch(Thing, `${namespace}/a`, body, { subresource: "status" })).status;
  const add = (uid: string | undefined, seen: string): Patch<typeof Thing> => ({
    kind: "json",
    operations: [
      { op: "test", path: "/metadata/uid", value: uid },
      { op: "test", path: "/status", value: null },
      { op: "add", path: "/status", value: { seen } },
    ],
  });
  const other = await assertRejects(() => patch(add("another", "b")));
  assert(isInvalid(other) && other.status.details?.causes === undefined, "a test that fails has no causes");
  const invalid = await assertRejects(() => patch(add(created.metadata.uid, "too long")));
  assert(isInvalid(invalid) && invalid.status.details?.causes?.[0]?.field === "status.seen");
  assertEquals(await patch(add(created.metadata.uid, "c")), { seen: "c" });
  const late = await assertRejects(() => patch(add(created.metadata.uid, "d")));
  assert(isInvalid(late), "a status that exists by now is not replaced");
  const ignored: Patch<typeof Thing> = {
    kind: "merge",
    value: { metadata: { uid: "another" }, status: { seen: "e" } },
  };
  assertEquals(await patch(ignored), { seen: "e" }, "the server ignores the UID of a merge patch");
});
