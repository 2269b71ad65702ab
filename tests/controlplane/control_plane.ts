/**
 * A real Kubernetes control plane for tests: etcd, kube-apiserver and kube-controller-manager on the loopback address,
 * with certificates, users and kubectl, in a temporary folder.
 *
 * `start()` creates one that ends when it is disposed, or when this process ends for any reason. `attach()` uses
 * one that another process (with.ts) owns, and cannot stop it. The servers are started by the code of `RealCluster`
 * (src/cluster/control_plane); users, certificates and kubectl are a test's view of a cluster, without code of Pintle.
 */
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import process from "node:process";
import { randomUUID } from "node:crypto";
import { ControlPlaneServers, loopback } from "../../src/cluster/control_plane/mod.ts";
import { logPath } from "../../src/runtime/mod.ts";
import { freePort } from "../free_port.ts";
import { type Binaries, buildControlPlane } from "./build.ts";
import { CertificateAuthority } from "./certificate_authority.ts";
import { type Component, type Description, descriptionPath, descriptionVariable } from "./description.ts";
import { readDescription, writeDescription } from "./description.ts";
import { contextName, fillFolder, kubeconfigPath, writePrivate } from "./folder.ts";
import { type Credentials, kubeconfigText } from "./kubeconfig.ts";
import { patienceMs } from "./poll.ts";
import type { ControlPlaneOptions, KubeconfigOptions, KubectlOptions, KubectlResult } from "./options.ts";
import { run } from "./run.ts";

const dayMs = 86_400_000;
/** A free port may be taken before a server binds it; if this happens twice, the cause is another one. */
const portAttempts = 3;

/** A control plane that runs. */
export class ControlPlane implements AsyncDisposable {
  readonly description: Description;
  /** Signs certificates that this control plane accepts. */
  readonly certificateAuthority: CertificateAuthority;
  readonly #servers: ControlPlaneServers | undefined;

  private constructor(
    description: Description,
    authority: CertificateAuthority,
    servers: ControlPlaneServers | undefined,
  ) {
    this.description = description;
    this.certificateAuthority = authority;
    this.#servers = servers;
  }

  /**
   * Starts a control plane and waits until it is ready.
   *
   * @throws Error when the programs are unavailable, or when one of them ends early, with the end of its log.
   */
  static async start(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
    const binaries = options.binaries ?? await builtBinaries();
    for (let attempt = 1;; attempt++) {
      try {
        return await ControlPlane.#startOnce(binaries, options);
      } catch (error) {
        if (attempt === portAttempts || !String(error).includes("address already in use")) throw error;
      }
    }
  }

  /**
   * The control plane that another process owns.
   *
   * @param path Its description. @default what PINTLE_CONTROL_PLANE names
   */
  static async attach(path: string | undefined = process.env[descriptionVariable]): Promise<ControlPlane> {
    if (path === undefined) throw new Error(`Cannot attach to a control plane: ${descriptionVariable} is not set`);
    const description = readDescription(path);
    const pki = (file: string) => readFileSync(join(description.dir, "pki", file), "utf8");
    const authority = await CertificateAuthority.load({ certificate: pki("ca.crt"), key: pki("ca.key") });
    return new ControlPlane(description, authority, undefined);
  }

  static async #startOnce(binaries: Binaries, options: ControlPlaneOptions): Promise<ControlPlane> {
    const { apiServerArgs = [], manifests = [], startTimeoutMs = patienceMs } = options;
    const [etcd, apiServer] = [await freePort(), await freePort()];
    const dir = mkdtempSync(join(tmpdir(), "pintle-controlplane-"));
    const server = `https://${loopback}:${apiServer}`;
    const description: Description = { dir, server, binaries, token: randomUUID(), nobodyToken: randomUUID() };
    const authority = await CertificateAuthority.create("kubernetes");
    const ca = authority.certificate;
    const ports = { etcd, apiServer };
    const { token } = description;
    const servers = new ControlPlaneServers({
      dir,
      programs: binaries,
      ports,
      ca,
      token,
      apiServerArgs,
      startTimeoutMs,
    });
    const controlPlane = new ControlPlane(description, authority, servers);
    try {
      await fillFolder(description, authority);
      await servers.start(() => controlPlane.#applyAll(manifests));
      writeDescription(description);
      return controlPlane;
    } catch (error) {
      await controlPlane[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** The API server's https URL. */
  get server(): string {
    return this.description.server;
  }

  /** The folder of everything it has on disk. */
  get dir(): string {
    return this.description.dir;
  }

  /** Path of the administrator's kubeconfig, in the shape that kind writes, with a client certificate. */
  get kubeconfig(): string {
    return kubeconfigPath(this.dir);
  }

  /** PEM of the authority that signed the API server's certificate. */
  get ca(): string {
    return this.certificateAuthority.certificate;
  }

  /** Bearer token of a member of system:masters. */
  get token(): string {
    return this.description.token;
  }

  /** The environment for a command that uses this control plane, with its kubectl first in the PATH. */
  get environment(): Readonly<Record<string, string>> {
    return {
      ...kubectlEnvironment(this.dir),
      KUBECONFIG: this.kubeconfig,
      PATH: `${this.description.binaries.dir}${delimiter}${process.env["PATH"] ?? ""}`,
      [descriptionVariable]: descriptionPath(this.dir),
    };
  }

  /** The output of a component so far. */
  logs(component: Component): string {
    return readFileSync(logPath(this.dir, component), "utf8");
  }

  /** Writes a kubeconfig for another user or credential; it is deleted with the control plane. */
  async kubeconfigFor(options: KubeconfigOptions): Promise<string> {
    const { ca = "own", server = this.server, namespace } = options;
    const path = join(this.dir, "kubeconfig", randomUUID());
    const trusted = ca === "wrong" ? (await CertificateAuthority.create("kubernetes")).certificate : this.ca;
    const credentials = await this.#credentials(options, `${path}.token`);
    const fields = { name: contextName, server, namespace, credentials, ca: ca === "system" ? undefined : trusted };
    writePrivate(path, kubeconfigText(fields));
    return path;
  }

  /** Runs kubectl; the caller checks the exit code. */
  async kubectl(args: readonly string[], options: KubectlOptions = {}): Promise<KubectlResult> {
    const { stdin, kubeconfig = this.kubeconfig } = options;
    const { kubectl } = this.description.binaries;
    const env = { ...kubectlEnvironment(this.dir), KUBECONFIG: kubeconfig };
    const result = await run(kubectl, args, { env, ...(stdin === undefined ? {} : { stdin }) });
    if (result.kind === "missing") throw new Error(`Cannot run kubectl: there is no "${kubectl}"`);
    return { code: result.code, stdout: result.stdout, stderr: result.stderr };
  }

  /**
   * Runs kubectl and returns what it printed.
   *
   * @throws Error with its stderr when it fails.
   */
  async kubectlOutput(args: readonly string[], options: KubectlOptions = {}): Promise<string> {
    const { code, stdout, stderr } = await this.kubectl(args, options);
    if (code !== 0) throw new Error(`Cannot run kubectl ${args.join(" ")}: exit code ${code}\n${stderr.trim()}`);
    return stdout;
  }

  /** Stops kube-apiserver; its data stays. */
  async stopApiServer(): Promise<void> {
    await this.#owned("stop").stopApiServer();
  }

  /** Starts kube-apiserver again, on the same port, and waits until it is ready. */
  async startApiServer(): Promise<void> {
    await this.#owned("start").startApiServer();
  }

  /** Ends all processes and removes the folder. An attached control plane is left as it is. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#servers?.[Symbol.asyncDispose]();
  }

  #owned(action: string): ControlPlaneServers {
    if (this.#servers !== undefined) return this.#servers;
    throw new Error(`Cannot ${action} kube-apiserver: another process owns this control plane`);
  }

  async #applyAll(manifests: readonly string[]): Promise<void> {
    for (const path of manifests) await this.kubectlOutput(["apply", "--server-side", "-f", path]);
  }

  async #credentials(options: KubeconfigOptions, tokenPath: string): Promise<Credentials> {
    const { user = "admin", tokenFile = false } = options;
    if (user === "admin" || user === "expired") {
      const notAfter = new Date(Date.now() + (user === "expired" ? -1 : 1) * dayMs);
      const notBefore = new Date(Date.now() - 2 * dayMs);
      const subject = { commonName: "kubernetes-admin", organizations: ["system:masters"] };
      const pair = await this.certificateAuthority.issue({ ...subject, notBefore, notAfter });
      return { kind: "certificate", pair };
    }
    const token = user === "token" ? this.token : this.description.nobodyToken;
    if (!tokenFile) return { kind: "token", token };
    writePrivate(tokenPath, token);
    return { kind: "tokenFile", path: tokenPath };
  }
}

async function builtBinaries(): Promise<Binaries> {
  const outcome = await buildControlPlane();
  if (outcome.kind === "ready") return outcome.binaries;
  throw new Error(`Cannot start a control plane: ${outcome.reason}`);
}

/** Separates kubectl's cache from those of other servers on the same port, and from the user's settings. */
function kubectlEnvironment(dir: string): Readonly<Record<string, string>> {
  return { KUBECACHEDIR: join(dir, "kubectl-cache"), KUBERC: "off" };
}
