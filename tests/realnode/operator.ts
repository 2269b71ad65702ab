/**
 * The operator of this repository in a cluster of real Nodes: its image imported, its manifests applied as a user applies
 * them. Names are read from the manifests, so that tests hold whatever they are.
 *
 * Guarantees: when an installation is disposed, everything that its manifests created is gone, and the test has failed if
 * the API server has denied a request of its account.
 */
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import type { ControlPlane } from "../controlplane/control_plane.ts";
import { until } from "../controlplane/poll.ts";
import { run } from "../controlplane/run.ts";
import { manifestsFor, type PolicyRule } from "../e2e/_rbac.ts";
import { assertEquals } from "../testing.ts";
import { auditLog } from "./layout.ts";
import type { RealNode } from "./real_node.ts";

/** An object of the manifests, with the fields that tests read. */
export interface ManifestObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly labels?: Labels };
  readonly rules?: readonly PolicyRule[];
  readonly spec?: {
    readonly selector?: { readonly matchLabels?: Labels };
    readonly template?: { readonly spec: { readonly containers: readonly { readonly args?: readonly string[] }[] } };
  };
}

type Labels = Readonly<Record<string, string>>;

/** A Pod, with the fields that tests read. */
export interface OperatorPod {
  readonly metadata: { readonly name: string; readonly namespace: string; readonly deletionTimestamp?: string };
  readonly spec: { readonly nodeName: string };
  readonly status: {
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
    readonly containerStatuses?: readonly ContainerStatus[];
  };
}

/** What kubelet says about a container. */
export interface ContainerStatus {
  readonly containerID?: string;
  readonly restartCount: number;
  readonly ready: boolean;
  readonly state: { readonly terminated?: Terminated };
  readonly lastState: { readonly terminated?: Terminated };
}

/** How a container ended. */
export interface Terminated {
  readonly exitCode: number;
  readonly reason: string;
  readonly startedAt: string;
  readonly finishedAt: string;
}

/** How the operator is installed. */
export interface InstallOptions {
  /** @default all */
  readonly controllers?: readonly string[];
  /** Further flags of `manifests`. @default [] */
  readonly flags?: readonly string[];
  /** Runs before the manifests are applied. @default nothing */
  readonly before?: (operator: Operator) => Promise<void>;
}

const rolloutTimeout = "--timeout=300s";
const root = join(import.meta.dirname ?? ".", "..", "..");

/** The image archive under test: `CONTROLLER_IMAGE`, else what the gate writes. @throws Error that says how to write it */
function archivePath(): string {
  const path = process.env["CONTROLLER_IMAGE"] ?? join(root, "dist", "controller-image.tar");
  if (existsSync(path)) return path;
  throw new Error(
    `Cannot install the operator: there is no image archive "${path}". Run: ./compile.sh && deno run -A src/bin.ts image ` +
      "--binary dist/controller --output dist/controller-image.tar",
  );
}

/** Imports the archive on all Nodes, unless they have it; returns the name of the image. */
async function importOperator(node: RealNode): Promise<string> {
  const archive = archivePath();
  const listed = await run("tar", ["--extract", "--to-stdout", "--file", archive, "index.json"]);
  if (listed.kind === "missing" || listed.code !== 0) throw new Error(`Cannot read the image archive "${archive}"`);
  const index: ImageIndex = JSON.parse(listed.stdout);
  const image = index.manifests[0]?.annotations?.["io.containerd.image.name"];
  if (image === undefined) throw new Error(`Cannot read the image archive "${archive}": it names no image`);
  const [machine] = node.description.machines;
  const present = machine === undefined ? "" : await node.ctr(machine, ["images", "list", "--quiet"]);
  if (!present.split("\n").includes(image)) await node.importImages(archive);
  return image;
}

interface ImageIndex {
  readonly manifests: readonly { readonly annotations?: Labels }[];
}

/** An installation of the operator. */
export class Operator implements AsyncDisposable {
  readonly controlPlane: ControlPlane;
  readonly objects: readonly ManifestObject[];
  readonly #auditLog: string;
  /** Where the audit log ended when this installation began; another one may have had the same account. */
  readonly #auditedBefore: number;

  private constructor(node: RealNode, objects: readonly ManifestObject[]) {
    this.controlPlane = node.controlPlane;
    this.objects = objects;
    this.#auditLog = auditLog(node.description.dir);
    this.#auditedBefore = statSync(this.#auditLog).size;
  }

  /** Imports the image, applies the manifests, and waits until the Pods are ready. */
  static async install(node: RealNode, options: InstallOptions = {}): Promise<Operator> {
    const { controllers = [], flags = [], before } = options;
    const image = await importOperator(node);
    const objects: readonly ManifestObject[] = await manifestsFor([
      ...[...controllers, "--include-crds", `--image=${image}`],
      ...flags,
    ]) as readonly ManifestObject[];
    const operator = new Operator(node, objects);
    try {
      await before?.(operator);
      await operator.apply(objects);
      await operator.rolledOut();
      return operator;
    } catch (error) {
      const state = await operator.explain();
      await operator.#remove();
      throw new Error(`Cannot install the operator: ${error instanceof Error ? error.message : error}\n${state}`);
    }
  }

  /** The one object of a kind. */
  object(kind: string): ManifestObject {
    const found = this.objects.find((object) => object.kind === kind);
    if (found === undefined) throw new Error(`Cannot find a ${kind} in the manifests`);
    return found;
  }

  /** The namespace of the Pods. */
  get namespace(): string {
    return this.object("Deployment").metadata.namespace ?? "";
  }

  /** `system:serviceaccount:NAMESPACE:NAME`. */
  get user(): string {
    const { name, namespace } = this.object("ServiceAccount").metadata;
    return `system:serviceaccount:${namespace}:${name}`;
  }

  /** Runs kubectl in the namespace of the operator. @throws Error when it fails */
  kubectl(...args: readonly string[]): Promise<string> {
    return this.controlPlane.kubectlOutput([...args, `--namespace=${this.namespace}`]);
  }

  /** `kubectl apply -f -`. */
  async apply(objects: readonly unknown[]): Promise<void> {
    const stdin = JSON.stringify({ apiVersion: "v1", kind: "List", items: objects });
    await this.controlPlane.kubectlOutput(["apply", "--filename=-"], { stdin });
  }

  /** Waits until the Deployment runs as it is written. */
  async rolledOut(): Promise<void> {
    await this.kubectl("rollout", "status", `deployment/${this.object("Deployment").metadata.name}`, rolloutTimeout);
  }

  /** The Pods that are not being deleted. */
  async pods(): Promise<readonly OperatorPod[]> {
    const labels = this.object("Deployment").spec?.selector?.matchLabels ?? {};
    const selector = Object.entries(labels).map(([key, value]) => `${key}=${value}`).join(",");
    const text = await this.kubectl("get", "pods", `--selector=${selector}`, "--output=json");
    const { items }: { readonly items: readonly OperatorPod[] } = JSON.parse(text);
    return items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  }

  /** The Pod that holds the Lease; waits until one does that is not `other`. */
  async leader(other?: string): Promise<OperatorPod> {
    return await until(`see a leader${other === undefined ? "" : ` other than ${other}`}`, async () => {
      const leases = await this.holder();
      const pods = await this.pods();
      const leader = pods.find(({ metadata: { name } }) => name !== other && leases.includes(name));
      if (leader !== undefined) return { kind: "found", value: leader };
      return { kind: "pending", state: `the holder was "${leases}"` };
    });
  }

  /** What the Lease's holder calls itself: its Pod, and a part that is new in each process. */
  async holder(): Promise<string> {
    return await this.kubectl("get", "leases", "--output=jsonpath={.items[*].spec.holderIdentity}");
  }

  /** The output of a Pod so far. */
  logs(pod: OperatorPod, ...flags: readonly string[]): Promise<string> {
    return this.kubectl("logs", pod.metadata.name, ...flags);
  }

  /** Requests of the operator's account that the API server denied, as `VERB PATH`. */
  denied(): readonly string[] {
    return this.requests().filter(({ annotations }) => annotations?.["authorization.k8s.io/decision"] === "forbid")
      .map(({ verb, requestURI }) => `${verb} ${requestURI}`);
  }

  /** What the operator's account asked the API server, from its audit log. */
  requests(): readonly AuditEvent[] {
    const lines = readFileSync(this.#auditLog).subarray(this.#auditedBefore).toString().split("\n");
    return lines.filter((line) => line.includes(`"username":"${this.user}"`)).map((line): AuditEvent =>
      JSON.parse(line)
    );
  }

  /** The state of the Pods and the ends of their logs, for a failure. */
  async explain(): Promise<string> {
    const parts = [["get", "pods", "--output=wide"], ["get", "events", "--sort-by=.lastTimestamp"]];
    const texts: string[] = [];
    for (const part of parts) {
      const { stdout, stderr } = await this.controlPlane.kubectl([...part, `--namespace=${this.namespace}`]);
      texts.push(stdout + stderr);
    }
    for (const { metadata } of await this.pods().catch(() => [])) {
      const options = ["logs", metadata.name, "--tail=20", `--namespace=${this.namespace}`];
      const { stdout, stderr } = await this.controlPlane.kubectl(options);
      texts.push(stdout + stderr);
    }
    return texts.join("\n");
  }

  /** Removes the installation. @throws AssertionError when the account was denied something */
  async [Symbol.asyncDispose](): Promise<void> {
    const denied = this.denied();
    await this.#remove();
    assertEquals(denied, []);
  }

  async #remove(): Promise<void> {
    const stdin = JSON.stringify({ apiVersion: "v1", kind: "List", items: [...this.objects].reverse() });
    const options = ["--ignore-not-found", "--wait", "--timeout=300s"];
    await this.controlPlane.kubectlOutput(["delete", "--filename=-", ...options], { stdin });
  }
}

/** A line of the audit log. */
export interface AuditEvent {
  readonly verb: string;
  readonly requestURI: string;
  /** The authorizer's decision is one of them. An admission plugin may refuse what it allowed, also with 403. */
  readonly annotations?: Labels;
}
