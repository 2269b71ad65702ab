/**
 * What the cases of nodepool do to a cluster, as a person would. Pools and Nodes live in no namespace, so each case has
 * names of its own, and everything goes when it is over.
 */
import { builtin, Node, RuntimeClass } from "../../src/api/mod.ts";
import { NodePool } from "../../src/controllers/nodepool/mod.ts";
import type { InferInput } from "../../src/mod.ts";
import { eventually, removed } from "./looking.ts";
import type { Program, RunOptions, Site } from "./site.ts";

/** What a person says of a pool. */
export type PoolSpec = InferInput<typeof NodePool>["spec"];

/** A taint of a Node. */
export type Taint = NonNullable<Node["spec"]["taints"]>[number];

/** A pool and a Node of a case. */
export class Pools {
  readonly site: Site;
  readonly pool: string;
  readonly node: string;

  constructor(site: Site) {
    this.site = site;
    [this.pool, this.node] = [`pool-${site.suffix}`, `node-${site.suffix}`];
    site.after(async () => {
      for (const name of [this.pool, `${this.pool}-b`]) await this.#remove(name);
      for (const name of [this.node, `${this.node}-b`]) await removed(site, Node, name);
    });
  }

  /** The label of members. */
  get role(): string {
    return `node-role.kubernetes.io/${this.pool}`;
  }

  run(args: readonly string[] = [], options?: RunOptions): Program {
    return this.site.run(["nodepool", ...args], options);
  }

  /** Makes a pool, or changes it: what is not said any more goes. */
  async apply(spec: PoolSpec, name = this.pool): Promise<void> {
    const options = { fieldManager: "person", force: true };
    await this.site.client.apply(NodePool, { metadata: { name }, spec }, options);
  }

  /** Makes a Node as a kubelet would register it: labels, taints and what it offers. */
  async makeNode(name: string, labels: Readonly<Record<string, string>>, taints: readonly Taint[] = []): Promise<void> {
    const { client } = this.site;
    await client.create(Node, { metadata: { name, labels }, spec: { taints } });
    const value = { status: { allocatable: { cpu: "3920m", memory: "16Gi", pods: "110" } } };
    await client.patch(Node, name, { kind: "merge", value }, { subresource: "status" });
  }

  /** Sets labels of the Node; null takes one off. */
  async label(labels: Readonly<Record<string, string | null>>): Promise<void> {
    await this.site.client.patch(Node, this.node, { kind: "merge", value: { metadata: { labels } } });
  }

  async seeNode(isAsWanted: (node: Node) => boolean, name = this.node): Promise<Node> {
    return await eventually(this.site, Node, name, isAsWanted);
  }

  async getNode(): Promise<Node> {
    return await this.site.client.get(Node, this.node);
  }

  async seePool(isAsWanted: (pool: NodePool) => boolean): Promise<NodePool> {
    return await eventually(this.site, NodePool, this.pool, isAsWanted);
  }

  async seeRuntimeClass(isAsWanted: (runtimeClass: RuntimeClass) => boolean): Promise<RuntimeClass> {
    return await eventually(this.site, RuntimeClass, `node-pool-${this.pool}`, isAsWanted);
  }

  /** Waits until the pool says that it is, or is not, as it should be. */
  async ready(reason: string): Promise<NodePool> {
    return await this.seePool(({ status }) => status?.conditions?.[0]?.reason === reason);
  }

  /** Waits for an Event about the pool. @returns what it says */
  async event(reason: string): Promise<string> {
    return await this.site.until(`see Event ${reason}`, async () => {
      const { items } = await this.site.client.listAll(builtin.Event, { namespace: "default" });
      const own = items.filter(({ regarding }) => regarding?.name === this.pool);
      const found = own.find((event) => event.reason === reason)?.note;
      if (found !== undefined) return { kind: "found", value: found };
      return { kind: "pending", state: own.map((event) => event.reason).join() };
    });
  }

  /** Deletes a pool and waits until its controller has let go of it. */
  async delete(name = this.pool): Promise<void> {
    await removed(this.site, NodePool, name);
    await this.site.until(`see NodePool ${name} gone`, async () => {
      const live = await this.site.client.find(NodePool, name);
      return live === undefined
        ? { kind: "found", value: undefined }
        : { kind: "pending", state: JSON.stringify(live) };
    });
  }

  async #remove(name: string): Promise<void> {
    const { client } = this.site;
    if (await client.find(NodePool, name) !== undefined) {
      await client.patch(NodePool, name, { kind: "merge", value: { metadata: { finalizers: null } } });
      await removed(this.site, NodePool, name);
    }
    await removed(this.site, RuntimeClass, `node-pool-${name}`);
  }
}

/** The taints of a Node but for those that the control plane itself gives to Nodes without a kubelet. */
export function taintsOf({ spec }: Node): readonly Taint[] {
  return (spec.taints ?? []).filter(({ key }) => !key.startsWith("node.kubernetes.io/"));
}

/** The annotations that say which pools gave a Node something. */
export function claimsOf({ metadata }: Node): readonly string[] {
  return Object.keys(metadata.annotations ?? {}).filter((key) => key.startsWith("nodepool.nodes.lailin.xyz/"));
}
