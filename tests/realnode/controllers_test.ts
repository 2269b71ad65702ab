/**
 * All five controllers at work in a cluster of real Nodes, installed from their manifests.
 */
import { join } from "node:path";
import { until } from "../controlplane/poll.ts";
import { assertEquals, assertMatch, assertStringIncludes } from "../testing.ts";
import { nginxImage } from "./images.ts";
import { Operator } from "./operator.ts";
import { realNodeTest, uniqueName } from "./test.ts";

const examples = join(import.meta.dirname ?? ".", "..", "..", "examples");

realNodeTest(
  "all five controllers work in the cluster, and their Pods satisfy the restricted standard",
  async (node) => {
    await using operator = await Operator.install(node);
    const { controlPlane } = operator;
    const namespace = uniqueName("work");
    await controlPlane.kubectlOutput(["create", "namespace", namespace]);
    const eventually = (args: readonly string[], expected: RegExp) =>
      until(`see ${expected} from kubectl ${args.join(" ")}`, async () => {
        const { stdout, stderr } = await controlPlane.kubectl(args);
        if (expected.test(stdout)) return { kind: "found", value: stdout };
        return { kind: "pending", state: `it said ${JSON.stringify(stdout + stderr)}` };
      });

    // The namespace is of the restricted standard, which the API server enforces for the Pods that run in it.
    const level = ["get", "namespace", operator.namespace, "--output=jsonpath={.metadata.labels}"];
    assertStringIncludes(await controlPlane.kubectlOutput(level), '"pod-security.kubernetes.io/enforce":"restricted"');
    const privileged = [
      "run",
      "privileged",
      `--image=${nginxImage}`,
      "--privileged",
      `--namespace=${operator.namespace}`,
    ];
    assertMatch((await controlPlane.kubectl(privileged)).stderr, /violates PodSecurity "restricted/);

    for (const name of ["foo", "ecsbinding", "ingress"]) {
      await controlPlane.kubectlOutput([
        "apply",
        `--namespace=${namespace}`,
        `--filename=${join(examples, `${name}.yaml`)}`,
      ]);
    }
    // foo: its Pod runs on a Node
    await eventually([
      "get",
      "foos",
      `--namespace=${namespace}`,
      "--output=jsonpath={.items[0].status.availableReplicas}",
    ], /^1$/);
    // ecsbinding
    const bound = ["get", "ecsb", "--all-namespaces", "--show-labels"];
    await eventually(bound, /hopegi\.com\/bound=true/);
    // ingress
    const rule = "--output=jsonpath={.items[0].spec.rules[0].host}{.items[0].spec.rules[0].http.paths[0].path}";
    await eventually(["get", "ingresses", `--namespace=${namespace}`, rule], /^shop\.example\.com\/cart$/);
    // pods: one line for a Pod of the namespace default
    const pod = uniqueName("plain");
    await controlPlane.kubectlOutput(["run", pod, `--image=${nginxImage}`, "--namespace=default"]);
    const leader = await operator.leader();
    await eventually(["logs", leader.metadata.name, `--namespace=${operator.namespace}`], new RegExp(pod));
    await controlPlane.kubectlOutput(["delete", "pod", pod, "--namespace=default", "--now"]);
    // nodepool: labels and taints of the last Node
    const last = node.description.machines.at(-1)?.name ?? "";
    await controlPlane.kubectlOutput(["label", "node", last, "node-role.kubernetes.io/worker="]);
    await controlPlane.kubectlOutput(["apply", `--filename=${join(examples, "nodepool.yaml")}`]);
    const stored = ["get", "nodepool", "worker", "--output=json"];
    const pool = JSON.parse(await controlPlane.kubectlOutput(stored));
    const [taint] = pool.spec.taints;
    const taints = ["get", "node", last, "--output=jsonpath={.spec.taints[*].key} {.metadata.labels}"];
    const labelled = await eventually(taints, new RegExp(`^${taint.key} .*disk`));
    assertMatch(labelled, /"example\.dev\/disk":"ssd"/);
    await eventually(["get", "runtimeclass", "--output=name"], /node-pool-worker/);
    // The operator's own Pods are still ready, whatever Node they are on.
    assertEquals((await operator.pods()).filter((pod) => !isReady(pod)).length, 0, await operator.explain());

    await controlPlane.kubectlOutput(["delete", "nodepool", pool.metadata.name, "--timeout=300s"]);
    await eventually(["get", "node", last, "--output=jsonpath=taints:{.spec.taints[*].key}"], /^taints:$/);
    await controlPlane.kubectlOutput(["label", "node", last, "node-role.kubernetes.io/worker-"]);
    await controlPlane.kubectlOutput([
      "delete",
      `--filename=${join(examples, "ecsbinding.yaml")}`,
      `--namespace=${namespace}`,
    ]);
    await controlPlane.kubectlOutput(["delete", "namespace", namespace, "--timeout=300s"]);
  },
);

function isReady(
  { status }: { readonly status: { readonly conditions?: readonly { type: string; status: string }[] } },
) {
  return status.conditions?.some(({ type, status }) => type === "Ready" && status === "True") ?? false;
}
