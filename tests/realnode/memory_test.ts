/**
 * Little memory: with 64 MiB the operator works, and with a quarter of that the kernel kills it, which its Pod says while the
 * Pods with the limit of the manifests go on.
 */
import { join } from "node:path";
import { type Probe, until } from "../controlplane/poll.ts";
import { assert, assertEquals } from "../testing.ts";
import { type ContainerStatus, Operator, type OperatorPod } from "./operator.ts";
import type { RealNode } from "./real_node.ts";
import { realNodeTest, uniqueName } from "./test.ts";

const examples = join(import.meta.dirname ?? ".", "..", "..", "examples");
const mebibyte = 1024 * 1024;

realNodeTest(
  "with 64 MiB the operator works; with 16 MiB it is OOMKilled in plain sight, and others go on",
  async (node) => {
    await using operator = await Operator.install(node, { controllers: ["foo"] });
    const { controlPlane } = operator;
    const deployment = `deployment/${operator.object("Deployment").metadata.name}`;
    const limit = (memory: string) =>
      operator.kubectl("set", "resources", deployment, `--limits=memory=${memory}`, `--requests=memory=${memory}`);

    await limit("64Mi");
    await operator.rolledOut();
    const namespace = uniqueName("small");
    await controlPlane.kubectlOutput(["create", "namespace", namespace]);
    const inside = `--namespace=${namespace}`;
    await controlPlane.kubectlOutput(["apply", inside, `--filename=${join(examples, "foo.yaml")}`]);
    await until("see a Foo reconciled with 64 MiB", async () => {
      const status = ["get", "foos", inside, "--output=jsonpath={.items[0].status.availableReplicas}"];
      const { stdout, stderr } = await controlPlane.kubectl(status);
      return stdout === "1" ? found(true) : { kind: "pending", state: stdout + stderr };
    });
    const workingSet = await memoryOf(node, await operator.leader());
    console.log(`with 64 MiB: works, its working set is ${(workingSet / mebibyte).toFixed(0)} MiB`);
    assert(workingSet > 0 && workingSet <= 64 * mebibyte);
    assertEquals((await statuses(operator)).map(({ restartCount }) => restartCount), [0, 0]);

    await limit("16Mi");
    await until("see an operator with 16 MiB killed", async () => {
      const all = await statuses(operator);
      const ended = all.flatMap(({ state, lastState }) => [state.terminated, lastState.terminated]);
      const killed = ended.some((terminated) => terminated?.reason === "OOMKilled");
      return killed ? found(true) : { kind: "pending", state: JSON.stringify(all) };
    });
    await until("see it restarted", async () => {
      const counts = (await statuses(operator)).map(({ restartCount }) => restartCount);
      return counts.some((count) => count > 0) ? found(true) : { kind: "pending", state: counts.join(", ") };
    });
    // The rollout waits for the new Pod, so both old ones go on.
    assertEquals((await statuses(operator)).filter(({ ready }) => ready).length, 2);

    await operator.kubectl("rollout", "undo", deployment);
    await operator.rolledOut();
    await controlPlane.kubectlOutput(["delete", "namespace", namespace, "--timeout=300s"]);
  },
);

async function statuses(operator: Operator): Promise<readonly ContainerStatus[]> {
  return (await operator.pods()).flatMap(({ status }) => status.containerStatuses ?? []);
}

/** The working set of a Pod in bytes, as kubelet measures it. */
async function memoryOf({ controlPlane }: RealNode, { metadata, spec }: OperatorPod): Promise<number> {
  const summary = `/api/v1/nodes/${spec.nodeName}/proxy/stats/summary`;
  return await until(`see the memory of Pod ${metadata.name}`, async () => {
    const { pods }: Summary = JSON.parse(await controlPlane.kubectlOutput(["get", "--raw", summary]));
    const pod = pods.find(({ podRef }) => podRef.name === metadata.name && podRef.namespace === metadata.namespace);
    const bytes = pod?.containers?.[0]?.memory?.workingSetBytes;
    return bytes === undefined ? { kind: "pending", state: "kubelet had not measured it" } : found(bytes);
  }, { everyMs: 500 });
}

interface Summary {
  readonly pods: readonly {
    readonly podRef: { readonly name: string; readonly namespace: string };
    readonly containers?: readonly { readonly memory?: { readonly workingSetBytes?: number } }[];
  }[];
}

function found<T>(value: T): Probe<T> {
  return { kind: "found", value };
}
