/**
 * Actions of the nodepool tests on a cluster, all with kubectl, as a user would do them. Pools and Nodes are
 * cluster-scoped, so each test uses its own names and deletes its objects at the end.
 */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { assert } from "../testing.ts";
import { type ControlPlane, until } from "../controlplane/mod.ts";
import { Binary } from "./_binary.ts";

const crd = join(import.meta.dirname ?? ".", "..", "..", "crds", "nodes.lailin.xyz_nodepools.yaml");
/** A taint of a Node. */
export interface Taint {
  readonly key: string;
  readonly value?: string;
  readonly effect: string;
}

/** The part of a Node, a NodePool or a RuntimeClass that these tests read. */
export interface LiveNode {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly finalizers?: readonly string[];
    readonly deletionTimestamp?: string;
    readonly ownerReferences?: readonly {
      readonly kind: string;
      readonly uid: string;
      readonly controller?: boolean;
    }[];
  };
  readonly spec?: { readonly taints?: readonly Taint[] };
  readonly handler?: string;
  readonly scheduling?: { readonly nodeSelector?: object; readonly tolerations?: readonly object[] };
  readonly status?: {
    readonly nodeCount?: number;
    readonly allocatable?: Readonly<Record<string, string>>;
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly reason: string }[];
  };
}

/** A pool and a Node with unique names; both are deleted at the end. */
export class NodePoolObjects implements AsyncDisposable {
  readonly pool: string;
  readonly node: string;
  readonly #controlPlane: ControlPlane;

  private constructor(controlPlane: ControlPlane, suffix: string) {
    this.#controlPlane = controlPlane;
    this.pool = `pool-${suffix}`;
    this.node = `node-${suffix}`;
  }

  static async open(controlPlane: ControlPlane): Promise<NodePoolObjects> {
    await controlPlane.kubectlOutput(["apply", "--server-side", "--force-conflicts", "-f", crd]);
    await controlPlane.kubectlOutput(["wait", "--for=condition=Established", "crd/nodepools.nodes.lailin.xyz"]);
    return new NodePoolObjects(controlPlane, randomBytes(4).toString("hex"));
  }

  /** The label of members. */
  get role(): string {
    return `node-role.kubernetes.io/${this.pool}`;
  }

  run(kubeconfig = this.#controlPlane.kubeconfig, ...args: readonly string[]): Binary {
    return new Binary(["run", "nodepool", ...args], { kubeconfig });
  }

  async kubectl(args: readonly string[], stdin?: string): Promise<string> {
    return await this.#controlPlane.kubectlOutput(args, { stdin });
  }

  /** The output of kubectl when the API server rejects the object. */
  async refusal(args: readonly string[], stdin: string): Promise<string> {
    const { code, stderr } = await this.#controlPlane.kubectl(args, { stdin });
    assert(code !== 0, "it was not refused");
    return stderr;
  }

  async applyPool(spec: object, name = this.pool): Promise<void> {
    await this.kubectl(["apply", "-f", "-"], this.poolText(spec, name));
  }

  poolText(spec: object, name = this.pool): string {
    return JSON.stringify({ apiVersion: "nodes.lailin.xyz/v1", kind: "NodePool", metadata: { name }, spec });
  }

  /** Creates a Node as a kubelet would register it: labels, taints and resources. */
  async makeNode(name: string, labels: Readonly<Record<string, string>>, taints: readonly Taint[] = []): Promise<void> {
    const node = { apiVersion: "v1", kind: "Node", metadata: { name, labels }, spec: { taints } };
    await this.kubectl(["create", "-f", "-"], JSON.stringify(node));
    const status = { allocatable: { cpu: "3920m", memory: "16Gi", pods: "110" } };
    await this.patch(`node/${name}`, { status }, "--subresource=status");
  }

  async patch(what: string, patch: object, ...args: readonly string[]): Promise<void> {
    await this.kubectl(["patch", what, "--type=merge", `--patch=${JSON.stringify(patch)}`, ...args]);
  }

  async find(what: string): Promise<LiveNode | undefined> {
    const text = await this.kubectl(["get", what, "--ignore-not-found", "--output=json"]);
    return text === "" ? undefined : JSON.parse(text);
  }

  async get(what: string): Promise<LiveNode> {
    const live = await this.find(what);
    assert(live !== undefined, `${what} does not exist`);
    return live;
  }

  async eventually(what: string, isAsWanted: (live: LiveNode) => boolean): Promise<LiveNode> {
    return await until(`see ${what} as wanted`, async () => {
      const live = await this.find(what);
      if (live !== undefined && isAsWanted(live)) return { kind: "found", value: live };
      return { kind: "pending", state: live === undefined ? "it does not exist" : JSON.stringify(live) };
    });
  }

  async gone(what: string): Promise<void> {
    await until(`see ${what} gone`, async () => {
      const live = await this.find(what);
      return live === undefined
        ? { kind: "found", value: undefined }
        : { kind: "pending", state: JSON.stringify(live) };
    });
  }

  /** Waits until the pool's condition has the given status. */
  async ready(reason: string): Promise<void> {
    await this.eventually(`nodepool/${this.pool}`, ({ status }) => status?.conditions?.[0]?.reason === reason);
  }

  async eventuallyEvent(reason: string): Promise<string> {
    return await until(`see Event ${reason}`, async () => {
      const text = await this.kubectl(["get", "events.events.k8s.io", "-n", "default", "--output=json"]);
      const { items } = JSON.parse(text) as {
        readonly items: readonly {
          readonly reason: string;
          readonly note: string;
          readonly regarding: { name: string };
        }[];
      };
      const own = items.filter(({ regarding }) => regarding.name === this.pool);
      const found = own.find((event) => event.reason === reason);
      return found === undefined
        ? { kind: "pending", state: own.map((event) => event.reason).join() }
        : { kind: "found", value: found.note };
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const pool of [this.pool, `${this.pool}-b`]) {
      if (await this.find(`nodepool/${pool}`) === undefined) continue;
      await this.patch(`nodepool/${pool}`, { metadata: { finalizers: null } });
      await this.kubectl(["delete", "nodepool", pool]);
      await this.kubectl(["delete", "runtimeclass", `node-pool-${pool}`, "--ignore-not-found"]);
    }
    await this.kubectl(["delete", "node", this.node, `${this.node}-b`, "--ignore-not-found"]);
  }
}

/** The taints of a Node without those that the control plane sets on Nodes without a kubelet. */
export function taintsOf({ spec }: LiveNode): readonly Taint[] {
  return (spec?.taints ?? []).filter(({ key }) => !key.startsWith("node.kubernetes.io/"));
}

/** The annotations that name the pools of a Node. */
export function claimsOf({ metadata }: LiveNode): readonly string[] {
  return Object.keys(metadata.annotations ?? {}).filter((key) => key.startsWith("nodepool.nodes.lailin.xyz/"));
}
