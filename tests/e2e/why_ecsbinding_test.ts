/**
 * What `why` says about incidents of the controller ecsbinding, word by word: the answers are in tests/golden/why/ecsbinding_*.
 * Run with:
 *
 *   ./compile.sh && deno run -A tests/controlplane/with.ts -- deno test -A tests/e2e/why_ecsbinding_test.ts
 */
import { randomBytes } from "node:crypto";
import { assertEquals } from "../testing.ts";
import { type ControlPlane, until } from "../controlplane/mod.ts";
import { controlPlaneTest } from "../controlplane/test.ts";
import { runBinary } from "./_binary.ts";
import { Incident, nextSecond } from "./_incident.ts";
import { ApiProxy } from "./_proxy.ts";

/** A machine, its EcsBinding, and the Node that runs on it; all are deleted at the end. */
class Machine implements AsyncDisposable {
  readonly name: string;
  readonly node: string;
  readonly #controlPlane: ControlPlane;

  private constructor(controlPlane: ControlPlane, suffix: string) {
    this.#controlPlane = controlPlane;
    [this.name, this.node] = [`machine-${suffix}`, `worker-${suffix}`];
  }

  static async open(controlPlane: ControlPlane): Promise<Machine> {
    const { code, stderr } = await runBinary(["install-crds", "ecsbinding"], { kubeconfig: controlPlane.kubeconfig });
    assertEquals([code, stderr], [0, ""]);
    return new Machine(controlPlane, randomBytes(4).toString("hex"));
  }

  async kubectl(args: readonly string[], stdin?: string): Promise<string> {
    return await this.#controlPlane.kubectlOutput(args, { stdin });
  }

  async createNode(): Promise<void> {
    const node = { apiVersion: "v1", kind: "Node", metadata: { name: this.node } };
    await this.kubectl(["create", "-f", "-"], JSON.stringify(node));
  }

  async bind(nodename = this.node): Promise<void> {
    const metadata = { name: this.name };
    const binding = { apiVersion: "hopegi.com/v1", kind: "EcsBinding", metadata, spec: { id: "i-1", nodename } };
    await this.kubectl(["apply", "-f", "-"], JSON.stringify(binding));
  }

  /** Waits until the label has a value, or until it is gone. */
  async labelled(value: string): Promise<void> {
    const path = String.raw`--output=jsonpath={.metadata.labels.hopegi\.com/bound} {.metadata.labels.hopegi\.com/node}`;
    await until(`see ${this.name} with the label "${value}"`, async () => {
      const live = await this.kubectl(["get", "ecsbinding", this.name, path]);
      return live === `true ${value}` ? { kind: "found", value: undefined } : { kind: "pending", state: live };
    });
  }

  async start(
    { kubeconfig, args = [] }: { readonly kubeconfig?: string; readonly args?: readonly string[] } = {},
  ): Promise<Incident> {
    return await Incident.start(this.#controlPlane, {
      controller: "ecsbinding",
      args,
      ...(kubeconfig && { kubeconfig }),
      names: { [this.name]: "machine-1", [this.node]: "worker-1" },
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kubectl(["delete", "ecsbinding", this.name, "--ignore-not-found"]);
    await this.kubectl(["delete", "node", this.node, "--ignore-not-found"]);
  }
}

controlPlaneTest("[130] ecsbinding: why explains a hand edit of a label", async (controlPlane) => {
  await using machine = await Machine.open(controlPlane);
  await machine.createNode();
  await machine.bind();
  await using incident = await machine.start();
  await machine.labelled(machine.node);
  await nextSecond();
  const label = ["label", "ecsbinding", machine.name, "hopegi.com/node=worker-9", "--overwrite"];
  await machine.kubectl([...label, "--field-manager=kubectl-label"]);
  await incident.compare("ecsbinding_hand_edit", [
    { ask: ["ecsb", machine.name], seen: /kubectl-label[^]*patched/ },
    { ask: ["ecsb", machine.name, "--not"], seen: /^Nothing is left/ },
  ]);
});

controlPlaneTest("[130] ecsbinding: why explains what a deleted Node led to", async (controlPlane) => {
  await using machine = await Machine.open(controlPlane);
  await machine.createNode();
  await machine.bind();
  await using incident = await machine.start();
  await machine.labelled(machine.node);
  await machine.kubectl(["delete", "node", machine.node]);
  await machine.labelled("");
  await incident.compare("ecsbinding_node_deleted", [
    { ask: ["ecsbinding", machine.name], seen: /was deleted[^]*patched/ },
    { ask: ["node", machine.node], seen: /was deleted[^]*patched/ },
  ]);
});

controlPlaneTest("[130] ecsbinding: why explains a missing permission", async (controlPlane) => {
  await using machine = await Machine.open(controlPlane);
  const user = `system:serviceaccount:ops:${machine.name}`;
  const role = `reader-${machine.name}`;
  const resources = "--resource=ecsbinding.hopegi.com,nodes";
  try {
    await machine.kubectl(["create", "clusterrole", role, "--verb=get,list,watch", resources]);
    await machine.kubectl(["create", "clusterrolebinding", role, `--clusterrole=${role}`, `--user=${user}`]);
    await machine.createNode();
    await using incident = await machine.start({ args: ["--as", user] });
    await machine.bind();
    await incident.compare("ecsbinding_missing_permission", [
      { ask: ["ecsbinding", machine.name], seen: /failed N times/ },
      { ask: ["ecsbinding", machine.name, "--not"], seen: /waits/ },
    ]);
  } finally {
    await machine.kubectl(["delete", "clusterrolebinding,clusterrole", role, "--ignore-not-found"]);
  }
});

controlPlaneTest("[130] ecsbinding: why explains that the server is unreachable", async (controlPlane) => {
  await using machine = await Machine.open(controlPlane);
  await using proxy = await ApiProxy.start(controlPlane);
  await machine.bind();
  await using incident = await machine.start({ kubeconfig: proxy.kubeconfig });
  await machine.labelled("");
  // Otherwise a reconcile could be cut off, and its key would wait for a retry.
  await proxy.quiet(1_000);
  await proxy.cut("refusing");
  await incident.compare("ecsbinding_unreachable", [
    { ask: ["ecsbinding", machine.name, "--not"], seen: /cannot be reached: .*refused/ },
  ]);
});

controlPlaneTest("[130] ecsbinding: why explains a Node whose name is too long for a label", async (controlPlane) => {
  await using machine = await Machine.open(controlPlane);
  const long = `${machine.node}.${"a".repeat(50)}`;
  try {
    await machine.kubectl(
      ["create", "-f", "-"],
      JSON.stringify({ apiVersion: "v1", kind: "Node", metadata: { name: long } }),
    );
    await using incident = await machine.start();
    await machine.bind(long);
    await incident.compare("ecsbinding_poisoned", [
      { ask: ["ecsbinding", machine.name], seen: /NodeNameTooLong/ },
      { ask: ["ecsbinding", machine.name, "--not"], seen: /NodeNameTooLong/ },
    ]);
  } finally {
    await machine.kubectl(["delete", "node", long, "--ignore-not-found"]);
  }
});
