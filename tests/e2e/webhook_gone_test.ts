/**
 * While no replica serves the webhook of NodePool, the cluster can still be repaired: the API server itself decides which
 * requests need no review. With `manifests` as they are, and no Pods. Run with:
 *
 *   ./compile.sh && deno run -A tests/controlplane/with.ts -- deno test -A tests/e2e/webhook_gone_test.ts
 */
import { until } from "../controlplane/mod.ts";
import { controlPlaneTest } from "../controlplane/test.ts";
import { assertEquals, assertStringIncludes } from "../testing.ts";
import { NodePoolObjects } from "./_node_pool_objects.ts";
import { grant, manifestsFor } from "./_rbac.ts";

const finalizer = "nodes.lailin.xyz/nodepool";

controlPlaneTest(
  "while its webhook is gone, the operator writes finalizers and a pool can be deleted, and other changes are refused",
  async (controlPlane) => {
    await using site = await NodePoolObjects.open(controlPlane);
    await site.applyPool({ labels: { disk: "ssd" } });
    const installed = await manifestsFor(["nodepool"]);
    const operator = await grant(controlPlane, installed, await controlPlane.kubeconfigFor({ user: "token" }));
    const patch = (body: object, kubeconfig?: string) =>
      controlPlane.kubectl(
        ["patch", "nodepool", site.pool, "--type=merge", `--patch=${JSON.stringify(body)}`],
        { kubeconfig },
      );
    const change = { spec: { labels: { disk: "nvme" } } };
    await until("see the API server call the webhook", async () => {
      const { code, stderr } = await patch(change);
      return code !== 0 && stderr.includes('failed calling webhook "default.nodepools.nodes.lailin.xyz"')
        ? { kind: "found", value: undefined }
        : { kind: "pending", state: stderr };
    });

    const added = await patch({ metadata: { finalizers: [finalizer] } }, operator);
    assertEquals([added.code, added.stderr], [0, ""], "the operator adds its finalizer");
    const own = await patch(change, operator);
    // A change of the spec is reviewed, whoever writes it.
    assertStringIncludes(own.stderr, "failed calling webhook");
    const foreign = await patch({ metadata: { labels: { a: "b" } } });
    assertStringIncludes(foreign.stderr, "failed calling webhook");

    await site.kubectl(["delete", "nodepool", site.pool, "--wait=false"]);
    assertEquals((await site.get(`nodepool/${site.pool}`)).metadata.finalizers, [finalizer]);
    const removed = await patch({ metadata: { finalizers: null } });
    assertEquals([removed.code, removed.stderr], [0, ""], "any user with the permission removes the last finalizer");
    await site.gone(`nodepool/${site.pool}`);
  },
  { own: {} },
);
