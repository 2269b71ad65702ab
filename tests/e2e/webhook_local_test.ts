/**
 * `run --webhook-host`: the compiled binary serves NodePool's webhooks from this machine, and a real kube-apiserver calls
 * it while the binary runs. The configurations in the cluster are checked after a stop and after a kill. Run with:
 *
 *   ./compile.sh && deno run -A tests/controlplane/with.ts --apply crds -- deno test -A tests/e2e/webhook_local_test.ts
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CertificateAuthority, type ControlPlane, until } from "../controlplane/mod.ts";
import { controlPlaneTest } from "../controlplane/test.ts";
import { assertEquals, assertMatch } from "../testing.ts";
import { Binary } from "./_binary.ts";
import { NodePoolObjects } from "./_node_pool_objects.ts";

const configurations = "mutatingwebhookconfigurations,validatingwebhookconfigurations";
/** "auto" finds the loopback address: this API server runs on this machine, in no container. */
const local = ["--webhook-host", "auto", "--webhook-port", "0"] as const;
const attached = /serving webhooks on this machine/;
const probe = ["create", "-f", "-", "--dry-run=server"] as const;

/** The webhook configurations of the operator in the cluster. */
async function installed(controlPlane: ControlPlane): Promise<readonly string[]> {
  const names = await controlPlane.kubectlOutput(["get", configurations, "--output=name"]);
  return names.split("\n").filter((name) => /\/controller\.[^/]+$/.test(name));
}

/** The labels that the webhook gives an empty pool. The API server notices configurations a moment later. */
async function labelsOfProbe(controlPlane: ControlPlane, site: NodePoolObjects): Promise<string> {
  const args = [...probe, "--output=jsonpath={.spec.labels}"];
  const { stdout, stderr } = await controlPlane.kubectl(args, { stdin: site.poolText({}, probeName(site)) });
  return stdout + stderr;
}

async function eventuallyLabels(controlPlane: ControlPlane, site: NodePoolObjects, wanted: string): Promise<void> {
  await until(`see an empty pool with labels ${wanted}`, async () => {
    const labels = await labelsOfProbe(controlPlane, site);
    return labels === wanted ? { kind: "found", value: undefined } : { kind: "pending", state: labels };
  });
}

async function stopped(binary: Binary): Promise<void> {
  binary.signal("SIGTERM");
  const { code, stderr } = await binary.ended();
  assertEquals(code, 0, stderr);
}

/** Leaves a cluster that calls a process which has ended. */
async function killed(controlPlane: ControlPlane, site: NodePoolObjects): Promise<void> {
  await using binary = site.run(undefined, ...local);
  await binary.logged(attached);
  await eventuallyLabels(controlPlane, site, defaultLabels(site));
  binary.signal("SIGKILL");
  await binary.ended();
  assertMatch(
    await labelsOfProbe(controlPlane, site),
    /failed calling webhook "default\.nodepools\.nodes\.lailin\.xyz"/,
  );
}

/** It is never stored, so it can be created repeatedly. */
function probeName(site: NodePoolObjects): string {
  return `${site.pool}-probe`;
}

function defaultLabels(site: NodePoolObjects): string {
  return JSON.stringify({ [`node-pool.lailin.xyz/${probeName(site)}`]: "" });
}

async function withoutConfigurations(controlPlane: ControlPlane): Promise<void> {
  for (const name of await installed(controlPlane)) await controlPlane.kubectlOutput(["delete", name]);
}

controlPlaneTest(
  "a NodePool gets its defaults, or kubectl prints why it is rejected, until SIGTERM",
  async (controlPlane) => {
    await using site = await NodePoolObjects.open(controlPlane);
    await using binary = site.run(undefined, ...local);
    try {
      await binary.logged(attached);
      assertEquals((await installed(controlPlane)).length, 2);
      await eventuallyLabels(controlPlane, site, defaultLabels(site));
      await site.applyPool({});
      const spec = JSON.parse(await site.kubectl(["get", "nodepool", site.pool, "--output=jsonpath={.spec}"]));
      assertEquals(spec, { handler: "runc", labels: { [`node-pool.lailin.xyz/${site.pool}`]: "" }, taints: [] });
      const refused = await site.refusal(["apply", "-f", "-"], site.poolText({ labels: { "kubernetes.io/x": "a b" } }));
      assertMatch(refused, new RegExp(`^The NodePool "${site.pool}" is invalid:`));
      assertMatch(refused, /^\* spec\.labels: Forbidden: "kubernetes\.io\/x": keys under kubernetes\.io belong to/m);
      assertMatch(refused, /^\* spec\.labels\[kubernetes\.io\/x\]: Invalid value: "a b": it must be letters/m);
      await stopped(binary);
      assertEquals(await installed(controlPlane), []);
      await eventuallyLabels(controlPlane, site, "{}");
    } finally {
      await withoutConfigurations(controlPlane);
    }
  },
);

controlPlaneTest(
  "after a kill every next start repairs the cluster: without webhooks, with files, local again, or for other controllers",
  async (controlPlane) => {
    await using site = await NodePoolObjects.open(controlPlane);
    const dir = mkdtempSync(join(tmpdir(), "pintle-e2e-certs-"));
    try {
      const { certificate, key } = await CertificateAuthority.create("e2e");
      writeFileSync(join(dir, "tls.crt"), certificate);
      writeFileSync(join(dir, "tls.key"), key);
      for (const args of [[], ["--cert-dir", dir, "--webhook-port", "0"]]) {
        await killed(controlPlane, site);
        await using binary = site.run(undefined, ...args);
        await eventuallyLabels(controlPlane, site, "{}");
        assertEquals(await installed(controlPlane), []);
        await stopped(binary);
      }
      await killed(controlPlane, site);
      await using other = new Binary(["run", "pods"], { kubeconfig: controlPlane.kubeconfig });
      await eventuallyLabels(controlPlane, site, "{}");
      assertEquals(await installed(controlPlane), []);
      await stopped(other);
      await killed(controlPlane, site);
      await using binary = site.run(undefined, ...local);
      await eventuallyLabels(controlPlane, site, defaultLabels(site));
      await stopped(binary);
      assertEquals(await installed(controlPlane), []);
      await eventuallyLabels(controlPlane, site, "{}");
    } finally {
      await withoutConfigurations(controlPlane);
      rmSync(dir, { recursive: true });
    }
  },
);

controlPlaneTest(
  "existing configurations point to this machine while the binary runs, and to their former target after a stop or a kill",
  async (controlPlane) => {
    await using site = await NodePoolObjects.open(controlPlane);
    const service = { namespace: "ops", name: "controller-webhook", path: "/mutate-nodes-lailin-xyz-v1-nodepool" };
    const configuration = {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "MutatingWebhookConfiguration",
      metadata: {
        // A program outside of the cluster finds the installation by its label, whatever its namespace is.
        name: "controller.ops",
        labels: { "app.kubernetes.io/name": "controller" },
        annotations: { "example.dev/kept": "yes" },
      },
      webhooks: [{
        name: "default.nodepools.nodes.lailin.xyz",
        clientConfig: { service },
        rules: [{
          apiGroups: ["nodes.lailin.xyz"],
          apiVersions: ["v1"],
          operations: ["CREATE"],
          resources: ["nodepools"],
        }],
        admissionReviewVersions: ["v1"],
        sideEffects: "None",
      }],
    };
    const live = async () => {
      const text = await site.kubectl(["get", "mutatingwebhookconfiguration", "controller.ops", "--output=json"]);
      const { metadata: { resourceVersion: _, generation: __, managedFields: ___, ...metadata }, webhooks } = JSON
        .parse(text);
      return { metadata, webhooks };
    };
    try {
      await site.kubectl(["create", "-f", "-"], JSON.stringify(configuration));
      const before = await live();
      await using first = site.run(undefined, ...local);
      await eventuallyLabels(controlPlane, site, defaultLabels(site));
      await stopped(first);
      assertEquals(await live(), before);
      await killed(controlPlane, site);
      await using next = site.run();
      await until("see the configuration as it was", async () => {
        const now = JSON.stringify(await live());
        return now === JSON.stringify(before) ? { kind: "found", value: undefined } : { kind: "pending", state: now };
      });
      await stopped(next);
    } finally {
      await withoutConfigurations(controlPlane);
    }
  },
);
