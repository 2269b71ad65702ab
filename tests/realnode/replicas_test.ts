/**
 * Two replicas: the leader's container is killed, a Node is drained, and a Pod is told to end.
 */
import { until } from "../controlplane/poll.ts";
import { assert, assertEquals, assertMatch, assertNotEquals } from "../testing.ts";
import { type ContainerStatus, Operator, type OperatorPod } from "./operator.ts";
import { realNodeTest } from "./test.ts";

realNodeTest(
  "another process leads after the leader's container was killed, and kubelet restarts it",
  async (node) => {
    await using operator = await Operator.install(node, { controllers: ["foo"] });
    const leader = await operator.leader();
    const killed = await operator.holder();
    const container = containerOf(leader).containerID?.replace("containerd://", "") ?? "";
    await node.ctr(node.machine(leader.spec.nodeName), ["tasks", "kill", "--signal", "SIGKILL", container]);
    // The container that was restarted may be as early as the other replica.
    await until("see another process lead", async () => {
      const holder = await operator.holder();
      return holder !== "" && holder !== killed
        ? { kind: "found", value: holder }
        : { kind: "pending", state: `the holder was "${holder}"` };
    });
    const restarted = await until("see the killed container restarted", async () => {
      const pod = (await operator.pods()).find(({ metadata }) => metadata.name === leader.metadata.name);
      const status = pod === undefined ? undefined : containerOf(pod);
      if (status !== undefined && status.restartCount > 0 && status.ready) return { kind: "found", value: status };
      return { kind: "pending", state: JSON.stringify(status) };
    });
    assertEquals(restarted.lastState.terminated?.exitCode, 137);
  },
);

realNodeTest("replicas are on different Nodes, and a drained Node gives its Pod and the Lease away", async (node) => {
  await using operator = await Operator.install(node, { controllers: ["foo"] });
  const [first, second] = await operator.pods();
  assertNotEquals(first?.spec.nodeName, second?.spec.nodeName);
  const leader = await operator.leader();
  const drained = leader.spec.nodeName;
  try {
    const options = ["--ignore-daemonsets", "--delete-emptydir-data", "--force", "--timeout=300s"];
    const said = await operator.controlPlane.kubectlOutput(["drain", drained, ...options]);
    assertMatch(said, new RegExp(`evicted|drained`));
    await operator.rolledOut();
    const next = await operator.leader(leader.metadata.name);
    assertNotEquals(next.spec.nodeName, drained);
    assertEquals((await operator.pods()).filter(({ spec }) => spec.nodeName === drained), []);
  } finally {
    await operator.controlPlane.kubectlOutput(["uncordon", drained]);
  }
});

realNodeTest("a Pod that is deleted ends with 0 within its grace period", async (node) => {
  await using operator = await Operator.install(node, { controllers: ["foo"] });
  const leader = await operator.leader();
  const { name } = leader.metadata;
  // With a finalizer the Pod stays, so that the end of its container can be read.
  const patch = (finalizers: readonly string[]) =>
    operator.kubectl("patch", "pod", name, "--type=merge", `--patch=${JSON.stringify({ metadata: { finalizers } })}`);
  await patch(["example.dev/observed"]);
  try {
    await operator.kubectl("delete", "pod", name, "--wait=false");
    const ended = await until("see the container end", async () => {
      const pod: OperatorPod = JSON.parse(await operator.kubectl("get", "pod", name, "--output=json"));
      const { terminated } = containerOf(pod).state;
      return terminated === undefined
        ? { kind: "pending", state: "it ran" }
        : { kind: "found", value: { pod, terminated } };
    });
    assertEquals([ended.terminated.exitCode, ended.terminated.reason], [0, "Completed"]);
    // The deletion timestamp is when the grace period is over; SIGKILL would have come then.
    const over = Date.parse(ended.pod.metadata.deletionTimestamp ?? "");
    assert(Date.parse(ended.terminated.finishedAt) < over);
  } finally {
    await patch([]);
  }
  assertNotEquals((await operator.leader(name)).metadata.name, name);
});

function containerOf({ metadata, status }: OperatorPod): ContainerStatus {
  const [container] = status.containerStatuses ?? [];
  if (container === undefined) throw new Error(`Cannot read Pod ${metadata.name}: it has no container yet`);
  return container;
}
