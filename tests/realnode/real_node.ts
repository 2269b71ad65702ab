/**
 * Real Nodes for tests: etcd, kube-apiserver, kube-controller-manager, kube-scheduler, kube-proxy, and for each Node a
 * kubelet and a containerd, in net, mount, pid, uts, ipc and cgroup namespaces of their own.
 *
 * Guarantees: nothing of the machine is changed, and nothing is left when it is disposed, or when this process ends for
 * any reason: everything hangs on one pipe (keeper.sh). The API server is reached through `controlPlane`, which is the
 * view of it that the tests on a control plane have.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { connect, createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import process from "node:process";
import { getFromApi } from "../controlplane/api_request.ts";
import { CertificateAuthority } from "../controlplane/certificate_authority.ts";
import { ControlPlane } from "../controlplane/control_plane.ts";
import { type Description, descriptionPath, writeDescription } from "../controlplane/description.ts";
import { type Probe, until } from "../controlplane/poll.ts";
import { run } from "../controlplane/run.ts";
import { firstDaemons, furtherDaemons } from "./daemons.ts";
import { fillNodeFolder } from "./folder.ts";
import { apiSocket, containerdSocket, type Machine, machines, type NodeDescription, nodeVariable } from "./layout.ts";
import { readNodeDescription, writeNodeDescription } from "./layout.ts";
import type { NodePrograms } from "./programs.ts";

/** How real Nodes are started. */
export interface RealNodeOptions {
  readonly programs: NodePrograms;
  /** @default 2 */
  readonly nodes?: number;
  /** Milliseconds for each part of the start. @default 300_000 */
  readonly startTimeoutMs?: number;
}

const logTailLines = 15;

/** What only the process that started the node has. */
interface Owned {
  readonly keeper: ChildProcess;
  readonly server: Server;
}

/** A cluster of real Nodes that runs. */
export class RealNode implements AsyncDisposable {
  readonly description: NodeDescription;
  /** Its API server, kubectl and users. */
  readonly controlPlane: ControlPlane;
  readonly #owned: Owned | undefined;

  private constructor(description: NodeDescription, controlPlane: ControlPlane, owned: Owned | undefined) {
    this.description = description;
    this.controlPlane = controlPlane;
    this.#owned = owned;
  }

  /**
   * Starts Nodes and waits until they are ready.
   *
   * @throws Error when a daemon ends early, with the end of its log.
   */
  static async start({ programs, nodes = 2, startTimeoutMs = 300_000 }: RealNodeOptions): Promise<RealNode> {
    const dir = mkdtempSync(join(tmpdir(), "pintle-node-"));
    const description: NodeDescription = { dir, id: basename(dir), machines: machines(nodes), programs };
    const { server, url } = await listen(apiSocket(dir));
    const api = controlPlaneDescription(description, url);
    const authority = await CertificateAuthority.create("kubernetes");
    await fillNodeFolder(description, api, authority);
    writeDescription(api);
    writeNodeDescription(description);
    const keeper = spawn("sh", [join(import.meta.dirname ?? ".", "keeper.sh"), dir], {
      stdio: ["pipe", "ignore", "inherit"],
      detached: true,
    });
    const controlPlane = await ControlPlane.attach(descriptionPath(dir));
    const node = new RealNode(description, controlPlane, { keeper, server });
    try {
      await node.#start(startTimeoutMs);
      return node;
    } catch (error) {
      await node[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** The Nodes that another process owns. @param dir Their folder. @default what PINTLE_REAL_NODE names */
  static async attach(dir: string | undefined = process.env[nodeVariable]): Promise<RealNode> {
    if (dir === undefined) throw new Error(`Cannot attach to a real node: ${nodeVariable} is not set`);
    return new RealNode(readNodeDescription(dir), await ControlPlane.attach(descriptionPath(dir)), undefined);
  }

  /** The environment for a command that uses this node. */
  get environment(): Readonly<Record<string, string>> {
    return { ...this.controlPlane.environment, [nodeVariable]: this.description.dir };
  }

  /** Runs `ctr` on the containerd of a Node, in the namespace of Kubernetes. @throws Error when it fails. */
  async ctr(machine: Machine, args: readonly string[]): Promise<string> {
    const { dir, programs } = this.description;
    const options = ["--address", containerdSocket(dir, machine), "--namespace", "k8s.io"];
    const answer = await run(join(programs.containerd, "ctr"), [...options, ...args]);
    if (answer.kind === "missing") throw new Error("Cannot run ctr: it is missing");
    if (answer.code === 0) return answer.stdout;
    throw new Error(`Cannot run ctr ${args.join(" ")} on ${machine.name}: ${answer.stderr.trim()}`);
  }

  /** Imports an image archive on every Node; its images can be used with pull policy IfNotPresent. */
  async importImages(archive: string): Promise<void> {
    for (const machine of this.description.machines) await this.ctr(machine, ["images", "import", archive]);
  }

  /** The Node of that name. */
  machine(name: string): Machine {
    const found = this.description.machines.find((machine) => machine.name === name);
    if (found === undefined) throw new Error(`Cannot find Node ${name}: it is not of this cluster`);
    return found;
  }

  /** Ends everything and removes the folder. Nodes of another process are left as they are. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#owned === undefined) return;
    const { keeper, server } = this.#owned;
    const ended = new Promise<number | null>((resolve) => keeper.once("exit", resolve));
    server.close();
    keeper.stdin?.end();
    const code = keeper.exitCode ?? await ended;
    if (code !== 0) throw new Error(`Cannot remove the cgroups of ${this.description.id}: something is left in them`);
  }

  async #start(timeoutMs: number): Promise<void> {
    const { dir } = this.description;
    const wait = (action: string, probe: () => Probe<true> | Promise<Probe<true>>) =>
      until(action, () => {
        this.#assertRunning();
        return probe();
      }, { timeoutMs });
    await wait("make the namespaces of a real node", () => found(existsSync(join(dir, "up")), "they are not there"));
    for (const { name } of firstDaemons(this.description)) this.#command(`start ${name}`);
    await wait("start kube-apiserver", () => this.#answers("/readyz"));
    for (const machine of this.description.machines) {
      await wait(
        `start containerd of ${machine.name}`,
        () => found(existsSync(containerdSocket(dir, machine)), "there is no socket"),
      );
    }
    for (const { name } of furtherDaemons(this.description)) this.#command(`start ${name}`);
    for (const { name } of this.description.machines) {
      await wait(`see Node ${name} ready`, () => this.#answers(`/api/v1/nodes/${name}`, isReady));
    }
    const account = "/api/v1/namespaces/default/serviceaccounts/default";
    await wait("see the service account default/default", () => this.#answers(account));
  }

  #command(line: string): void {
    this.#owned?.keeper.stdin?.write(`${line}\n`);
  }

  /** @throws Error with the end of the log when the node or one of its daemons has ended. */
  #assertRunning(): void {
    const { dir } = this.description;
    const [name] = this.#owned?.keeper.exitCode === null ? readdirSync(join(dir, "ended")) : ["init"];
    if (name === undefined) return;
    const log = join(dir, "log", `${name}.log`);
    const tail = existsSync(log) ? readFileSync(log, "utf8").trimEnd().split("\n").slice(-logTailLines) : [];
    throw new Error(`Cannot keep ${name} of a real node running; the end of its log:\n${tail.join("\n")}`);
  }

  async #answers(path: string, accepts: (body: string) => boolean = () => true): Promise<Probe<true>> {
    const { server, ca, token } = this.controlPlane;
    const answer = await getFromApi(`${server}${path}`, { ca, token });
    switch (answer.kind) {
      case "unreachable":
        return { kind: "pending", state: `the API server was unreachable: ${answer.reason}` };
      case "answered":
        return found(
          answer.status === 200 && accepts(answer.body),
          `${path} answered ${answer.status}: ${answer.body}`,
        );
      default:
        return answer satisfies never;
    }
  }
}

function controlPlaneDescription({ dir, programs }: NodeDescription, server: string): Description {
  const path = (name: string) => join(programs.controlPlane, name);
  const binaries = {
    dir: programs.controlPlane,
    etcd: path("etcd"),
    kubeApiServer: path("kube-apiserver"),
    kubeControllerManager: path("kube-controller-manager"),
    kubectl: path("kubectl"),
  };
  return { dir, server, binaries, token: randomUUID(), nobodyToken: randomUUID() };
}

/** Leads connections to a free port of this machine to the socket. */
async function listen(socket: string): Promise<{ readonly server: Server; readonly url: string }> {
  const server = createServer((outside) => {
    const inside = connect(socket);
    outside.pipe(inside).pipe(outside);
    for (const end of [outside, inside]) {
      end.on("error", () => {
        outside.destroy();
        inside.destroy();
      });
    }
  });
  server.unref();
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("Cannot listen: there is no port");
  return { server, url: `https://127.0.0.1:${address.port}` };
}

function found(is: boolean, state: string): Probe<true> {
  return is ? { kind: "found", value: true } : { kind: "pending", state };
}

function isReady(body: string): boolean {
  const node: { readonly status?: { readonly conditions?: readonly { type: string; status: string }[] } } = JSON.parse(
    body,
  );
  return node.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") ?? false;
}
