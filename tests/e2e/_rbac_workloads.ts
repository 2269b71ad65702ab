/**
 * For each controller a workload that needs all of its permissions, as actions of users on the cluster. A controller
 * without a workload fails the test, so that a new one is not forgotten.
 */
import { join } from "node:path";
import { type ControlPlane, until } from "../controlplane/mod.ts";
import { createNamespace } from "../controlplane/test.ts";
import { builtin } from "../../src/api/mod.ts";
import { scope } from "../../src/async/mod.ts";
import { Client, clusterTransport, loadClusterAccess } from "../../src/client/mod.ts";
import { managedCertificates } from "../../src/webhook/mod.ts";
import { TestNamespace } from "./_cluster.ts";
import { NodePoolObjects } from "./_node_pool_objects.ts";
import type { ApiProxy } from "./_proxy.ts";

/** The tools of a workload. */
export interface WorkloadParts {
  readonly controlPlane: ControlPlane;
  /** Between the controller and the server. */
  readonly proxy: ApiProxy;
  /** Uses the controller's ServiceAccount and the proxy. */
  readonly kubeconfig: string;
}

/** The workload of one controller. */
export interface Workload {
  /** Flags of `run`. @default none */
  readonly flags?: readonly string[];
  /** Resolves when the controller has done everything. */
  run(parts: WorkloadParts): Promise<void>;
  /** Cleans up after the controller has ended. */
  after?(parts: WorkloadParts): Promise<void>;
}

const root = join(import.meta.dirname ?? ".", "..", "..");
const never = new AbortController().signal;

/** By the name of the controller. */
export const workloads: ReadonlyMap<string, Workload> = new Map([
  ["foo", { run: runFoo }],
  ["pods", { run: runPods }],
  ["ecsbinding", { run: runEcsBinding }],
  ["nodepool", { run: runNodePool, after: keepCertificates, flags: ["--webhook-host=127.0.0.1", "--webhook-port=0"] }],
  ["ingress", { run: runIngress }],
]);

/** Answers the next create of such a dependent with a conflict, so that the controller reads it live. */
function raced(proxy: ApiProxy, plural: string): void {
  const status = { kind: "Status", status: "Failure", code: 409, reason: "Conflict", message: "raced, says the test" };
  const rule = proxy.respond(() => {
    rule[Symbol.dispose]();
    return Response.json({ apiVersion: "v1", ...status }, { status: 409 });
  }, ({ method, path }) => method === "PATCH" && path.includes(`/${plural}/`));
}

async function runFoo({ controlPlane, proxy }: WorkloadParts): Promise<void> {
  const namespace = new TestNamespace(controlPlane, await createNamespace(controlPlane));
  raced(proxy, "deployments");
  await namespace.applyFoo({ name: "a", deploymentName: "web", replicas: 1 });
  await namespace.eventuallyEvent("Foo", "a", "Synced");
  await namespace.applyFoo({ name: "a", deploymentName: "web", replicas: 2 });
  await namespace.eventually("deployment/web", ({ spec }) => spec?.replicas === 2);
  // The controller reads the Foo live before it creates the Deployment again.
  await namespace.kubectl(["delete", "deployment", "web", "--wait=false"]);
  await seen(proxy, "GET", /\/foos\/a$/);
  await seen(proxy, "PATCH", /\/events\//);
}

async function runPods({ controlPlane, proxy }: WorkloadParts): Promise<void> {
  await controlPlane.kubectlOutput(["run", "printed", "--image=none", "-n", "default"]);
  await seen(proxy, "GET", /\/namespaces\/default\/pods\?.*watch=true/);
}

async function runEcsBinding({ controlPlane, proxy }: WorkloadParts): Promise<void> {
  const example = join(root, "examples", "ecsbinding.yaml");
  await controlPlane.kubectlOutput(["apply", "-f", example]);
  await seen(proxy, "POST", /\/events\b/);
  await controlPlane.kubectlOutput(["label", "-f", example, "hopegi.com/bound-"]);
  await seen(proxy, "PATCH", /\/events\//);
  await seen(proxy, "GET", /\/nodes\?.*watch=true/);
}

async function runIngress({ controlPlane, proxy }: WorkloadParts): Promise<void> {
  const namespace = new TestNamespace(controlPlane, await createNamespace(controlPlane));
  raced(proxy, "ingresses");
  await namespace.kubectl(["create", "service", "clusterip", "web", "--tcp=80:80"]);
  await namespace.kubectl(["annotate", "service", "web", "ingress/http="]);
  await namespace.eventually("ingress/web", () => true);
  await namespace.kubectl(["annotate", "service", "web", "ingress/http=other.example.com/x", "--overwrite"]);
  await seen(proxy, "PATCH", /\/ingresses\/web/, 3);
  await namespace.kubectl(["annotate", "service", "web", "ingress/http-"]);
  await namespace.gone("ingress/web");
  // A foreign Ingress is reported once, and once more when the Service changes.
  await namespace.kubectl(["create", "ingress", "web", "--rule=a.example.com/*=web:80"]);
  await namespace.kubectl(["annotate", "service", "web", "ingress/http=true"]);
  await seen(proxy, "POST", /\/events\b/);
  await namespace.kubectl(["annotate", "service", "web", "other=1"]);
  await seen(proxy, "PATCH", /\/events\//);
}

async function runNodePool({ controlPlane, proxy }: WorkloadParts): Promise<void> {
  await using site = await NodePoolObjects.open(controlPlane);
  await seen(proxy, "PATCH", /\/validatingwebhookconfigurations\//);
  raced(proxy, "runtimeclasses");
  await site.makeNode(site.node, { [site.role]: "" });
  await site.applyPool({ labels: { disk: "ssd" } });
  await site.ready("Settled");
  await site.applyPool({ labels: { disk: "nvme" } });
  await site.eventually(`node/${site.node}`, ({ metadata }) => metadata.labels?.disk === "nvme");
  await site.kubectl(["label", "node", site.node, `${site.role}-`]);
  await site.eventuallyEvent("NodeLeft");
  await site.kubectl(["label", "node", site.node, `${site.role}=`]);
  await site.eventually(`node/${site.node}`, ({ metadata }) => metadata.labels?.disk === "nvme");
  await site.kubectl(["label", "node", site.node, `${site.role}-`]);
  await seen(proxy, "PATCH", /\/events\//);
  // Without members the RuntimeClass may be replaced by one with another handler.
  await site.eventually(`nodepool/${site.pool}`, ({ status }) => status?.nodeCount === 0);
  await site.applyPool({ labels: { disk: "nvme" }, handler: "gvisor" });
  await site.eventually(`runtimeclass/node-pool-${site.pool}`, ({ handler }) => handler === "gvisor");
  await site.kubectl(["delete", "nodepool", site.pool, "--wait=false"]);
  await site.gone(`nodepool/${site.pool}`);
}

/** Does what the binary does in a Pod, where it creates certificates; this cluster runs no Pods. */
async function keepCertificates({ kubeconfig }: WorkloadParts): Promise<void> {
  const access = await loadClusterAccess({ overrides: { kubeconfig }, environment: {}, home: "/nonexistent" });
  using transport = clusterTransport(access);
  const name = "controller.controller-system";
  const targets = [{ kind: "mutating", name }, { kind: "validating", name }] as const;
  const { pairs } = managedCertificates({
    client: new Client(transport),
    secret: "controller-system/controller-webhook",
    hosts: ["controller-webhook.controller-system.svc"],
    targets,
  });
  using stop = scope(never);
  for await (const _pair of pairs(stop.signal)) {
    const client = new Client(transport);
    const live = await client.get(builtin.MutatingWebhookConfiguration, name);
    if (live.webhooks?.every(({ clientConfig }) => clientConfig.caBundle !== undefined) !== true) {
      throw new Error("Cannot see the authority published");
    }
    return;
  }
}

/** Waits until the given number of such requests have a response. */
export async function seen(proxy: ApiProxy, method: string, path: RegExp, times = 1): Promise<void> {
  await until(`see ${method} ${path}`, () => {
    const answered = proxy.requests.filter((request) =>
      request.method === method && path.test(request.path) && (request.response !== undefined || times > 1)
    );
    return answered.length >= times
      ? { kind: "found", value: undefined }
      : { kind: "pending", state: proxy.writes.map((one) => `${one.method} ${one.path}`).join("\n") };
  });
}
