/**
 * What the cases of nodepool do to a cluster, as a user would. Pools and Nodes are cluster-scoped: each case has its own names
 * and deletes everything at the end.
 */
import { Node, RuntimeClass } from "../../src/api/mod.ts";
import { NodePool } from "../../src/controllers/nodepool/mod.ts";
import type { InferInput } from "../../src/mod.ts";
import { eventsIn, eventually, removed } from "./waits.ts";
import type { CaseEnvironment, Program, RunOptions } from "./environment.ts";

/** The spec of a pool, as a user writes it. */
export type PoolSpec = InferInput<typeof NodePool>["spec"];

/** A taint of a Node. */
export type Taint = NonNullable<Node["spec"]["taints"]>[number];

/** The pool and the Node of a case. */
export class Pools {
  readonly env: CaseEnvironment;
  readonly pool: string;
  readonly node: string;

  constructor(env: CaseEnvironment) {
    this.env = env;
    [this.pool, this.node] = [`pool-${env.suffix}`, `node-${env.suffix}`];
    env.after(async () => {
      for (const name of [this.pool, `${this.pool}-b`]) await this.#remove(name);
      for (const name of [this.node, `${this.node}-b`]) await removed(env, Node, name);
    });
  }

  /** The label of members. */
  get role(): string {
    return `node-role.kubernetes.io/${this.pool}`;
  }

  run(args: readonly string[] = [], options?: RunOptions): Program {
    return this.env.run(["nodepool", ...args], options);
  }

  /** Applies a pool, as the same field manager every time. */
  async apply(spec: PoolSpec, name = this.pool): Promise<void> {
    const options = { fieldManager: "user", force: true };
    await this.env.client.apply(NodePool, { metadata: { name }, spec }, options);
  }

  /** Creates a Node as a kubelet would: with labels, taints and allocatable resources. */
  async createNode(
    name: string,
    labels: Readonly<Record<string, string>>,
    taints: readonly Taint[] = [],
  ): Promise<void> {
    const { client } = this.env;
    await client.create(Node, { metadata: { name, labels }, spec: { taints } });
    const value = { status: { allocatable: { cpu: "3920m", memory: "16Gi", pods: "110" } } };
    await client.patch(Node, name, { kind: "merge", value }, { subresource: "status" });
  }

  /** Sets labels of the Node; null removes one. */
  async label(labels: Readonly<Record<string, string | null>>): Promise<void> {
    await this.env.client.patch(Node, this.node, { kind: "merge", value: { metadata: { labels } } });
  }

  async seeNode(isExpected: (node: Node) => boolean, name = this.node): Promise<Node> {
    return await eventually(this.env, Node, name, isExpected);
  }

  async getNode(): Promise<Node> {
    return await this.env.client.get(Node, this.node);
  }

  async seePool(isExpected: (pool: NodePool) => boolean): Promise<NodePool> {
    return await eventually(this.env, NodePool, this.pool, isExpected);
  }

  async seeRuntimeClass(isExpected: (runtimeClass: RuntimeClass) => boolean): Promise<RuntimeClass> {
    return await eventually(this.env, RuntimeClass, `node-pool-${this.pool}`, isExpected);
  }

  /** Waits until the condition of the pool has a reason. */
  async ready(reason: string): Promise<NodePool> {
    return await this.seePool(({ status }) => status?.conditions?.[0]?.reason === reason);
  }

  /** Waits for an Event about the pool. @returns Its note */
  async event(reason: string): Promise<string> {
    return await this.env.until(`see Event ${reason}`, async () => {
      const own = (await eventsIn(this.env, "default")).filter(({ regarding }) => regarding?.name === this.pool);
      const found = own.find((event) => event.reason === reason)?.note;
      if (found !== undefined) return { kind: "found", value: found };
      return { kind: "pending", state: own.map((event) => event.reason).join() };
    });
  }

  /** Deletes a pool and waits until its controller has removed the finalizer. */
  async delete(name = this.pool): Promise<void> {
    await removed(this.env, NodePool, name);
    await this.env.until(`see NodePool ${name} deleted`, async () => {
      const live = await this.env.client.find(NodePool, name);
      return live === undefined
        ? { kind: "found", value: undefined }
        : { kind: "pending", state: JSON.stringify(live) };
    });
  }

  async #remove(name: string): Promise<void> {
    const { client } = this.env;
    if (await client.find(NodePool, name) !== undefined) {
      await client.patch(NodePool, name, { kind: "merge", value: { metadata: { finalizers: null } } });
      await removed(this.env, NodePool, name);
    }
    await removed(this.env, RuntimeClass, `node-pool-${name}`);
  }
}

/** Returns the taints of a Node, without those of the control plane for Nodes without a kubelet. */
export function taintsOf({ spec }: Node): readonly Taint[] {
  return (spec.taints ?? []).filter(({ key }) => !key.startsWith("node.kubernetes.io/"));
}

/** Returns the annotations with the claims of pools. */
export function claimsOf({ metadata }: Node): readonly string[] {
  return Object.keys(metadata.annotations ?? {}).filter((key) => key.startsWith("nodepool.nodes.lailin.xyz/"));
}
