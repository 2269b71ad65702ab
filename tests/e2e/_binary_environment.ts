/**
 * BinaryEnvironment: runs the cases of `tests/cases` on a real control plane, with the compiled binary.
 */
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, type ClusterTransport, clusterTransport, loadClusterAccess } from "../../src/client/mod.ts";
import type {
  Case,
  CaseEnvironment,
  Probe,
  Program,
  ProgramResult,
  RecordingProxy,
  RunOptions,
} from "../cases/environment.ts";
import { type ControlPlane, until } from "../controlplane/mod.ts";
import { controlPlaneTest, createNamespace } from "../controlplane/test.ts";
import { Binary, runBinary } from "./_binary.ts";
import { ApiProxy } from "./_proxy.ts";

/** The environment of one case, in its own namespace. */
export class BinaryEnvironment implements CaseEnvironment, AsyncDisposable {
  readonly client: Client;
  readonly namespace: string;
  readonly suffix: string = randomBytes(4).toString("hex");
  readonly folder: string;
  readonly #controlPlane: ControlPlane;
  readonly #transport: ClusterTransport;
  readonly #proxies = new Map<RecordingProxy, ApiProxy>();
  readonly #undo: (() => Promise<unknown>)[] = [];

  private constructor(
    controlPlane: ControlPlane,
    transport: ClusterTransport,
    made: { readonly namespace: string; readonly folder: string },
  ) {
    this.#controlPlane = controlPlane;
    this.#transport = transport;
    this.client = new Client(transport);
    this.namespace = made.namespace;
    this.folder = made.folder;
  }

  static async open(controlPlane: ControlPlane): Promise<BinaryEnvironment> {
    const { kubeconfig } = controlPlane;
    const access = await loadClusterAccess({ environment: {}, overrides: { kubeconfig }, workingDirectory: "/" });
    const namespace = await createNamespace(controlPlane);
    const folder = await mkdtemp(join(tmpdir(), "pintle-case-"));
    return new BinaryEnvironment(controlPlane, clusterTransport(access), { namespace, folder });
  }

  async call(args: readonly string[]): Promise<ProgramResult> {
    return await runBinary(args, { kubeconfig: this.#controlPlane.kubeconfig });
  }

  run(args: readonly string[], options: RunOptions = {}): Program {
    const { proxy, stdout = "kept" } = options;
    const kubeconfig = proxy === undefined ? this.#controlPlane.kubeconfig : this.#proxies.get(proxy)?.kubeconfig;
    if (kubeconfig === undefined) throw new Error("Cannot use the proxy: it belongs to another environment");
    return new Binary(["run", ...args], { kubeconfig, ...(stdout === "full" ? { stdoutFile: "/dev/full" } : {}) });
  }

  async startProxy(): Promise<RecordingProxy> {
    const proxy = await ApiProxy.start(this.#controlPlane);
    this.#proxies.set(proxy, proxy);
    return proxy;
  }

  async until<T>(action: string, probe: () => Probe<T> | Promise<Probe<T>>): Promise<T> {
    return await until(action, probe);
  }

  after(undo: () => Promise<unknown>): void {
    this.#undo.push(undo);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const undo of this.#undo.toReversed()) await undo();
    for (const proxy of this.#proxies.values()) await proxy[Symbol.asyncDispose]();
    this.#transport[Symbol.dispose]();
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** Registers the cases of a controller as tests. @param kinds whose CRDs are installed first */
export function binaryTests(cases: readonly Case[], ...kinds: readonly string[]): void {
  for (const { name, needs, run } of cases) {
    controlPlaneTest(name, async (controlPlane) => {
      await using environment = await BinaryEnvironment.open(controlPlane);
      if (kinds.length > 0) await environment.call(["install-crds", ...kinds]);
      await run(environment);
    }, { needs });
  }
}
