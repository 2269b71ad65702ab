/**
 * EmbeddedHost: the embedded API server for conformance cases, in memory. Cases that need controllers get those
 * of src/cluster that kube-controller-manager also has: no scheduler, no kubelet and no nodes, as in tests/controlplane.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { kubernetesApi } from "../../src/apiserver/mod.ts";
import type { User } from "../../src/apiserver/model/mod.ts";
import { Client } from "../../src/client/mod.ts";
import { clusterControllers, GarbageCollector, SigningAuthority } from "../../src/cluster/mod.ts";
import { Manager } from "../../src/manager/mod.ts";
import { serve, type Server } from "../../src/runtime/mod.ts";
import { CertificateAuthority } from "../controlplane/mod.ts";
import { kubeconfigText } from "../controlplane/kubeconfig.ts";
import type { ConformanceCase } from "./conformance_case.ts";
import { kubectlOf } from "./kubectl.ts";
import { commonHeaders } from "./real_host.ts";
import type { ClientSubject, RunKubectl } from "./case_run.ts";
import type { Host } from "./transcript.ts";

/** The user of the token in tests/controlplane. */
const admin: User = {
  name: "admin",
  uid: "admin",
  groups: ["system:masters", "system:authenticated"],
  extra: new Map(),
};

/** Controllers that tests/controlplane does not run. */
const absent: ReadonlySet<string> = new Set([
  "kubelet",
  "default-scheduler",
  "local-path-provisioner",
  "service-lb-controller",
]);

let created: Promise<SigningAuthority> | undefined;

/** One authority for all servers of the process. */
function authority(): Promise<SigningAuthority> {
  created ??= SigningAuthority.create({ now: Date.now(), lifetimeMs: 3_650 * 86_400_000 });
  return created;
}

/** One embedded server. */
export class EmbeddedHost implements Host, AsyncDisposable {
  readonly #api = kubernetesApi({
    tokens: new Map([["admin", admin]]),
    flags: new Map([["authorization-mode", "[Node,RBAC]"]]),
  });
  readonly #stop = new AbortController();
  #controllers: Promise<void> = Promise.resolve();
  #hasControllers = false;
  #listener: Server | undefined;
  #folder: string | undefined;
  kubectl: RunKubectl | undefined;

  /** Starts a server for a case. @param kubectl the program, for a case that runs it */
  static async start(subject: ConformanceCase, kubectl?: string): Promise<EmbeddedHost> {
    const { needsControllers = false, needsKubectl = false } = subject;
    const host = new EmbeddedHost();
    host.#hasControllers = needsControllers;
    if (needsControllers) host.#controllers = host.#runControllers();
    if (needsKubectl && kubectl !== undefined) await host.#listen(kubectl);
    return host;
  }

  readonly send = (path: string, init: RequestInit, subject?: ClientSubject): Promise<Response> => {
    const headers = new Headers({ ...commonHeaders, accept: "*/*" });
    if (subject === undefined) headers.set("authorization", "Bearer admin");
    for (const [name, value] of new Headers(init.headers)) headers.set(name, value);
    const request = new Request(`http://in.memory${path}`, { ...init, headers });
    if (subject === undefined) return this.#api.server.fetch(request);
    const { commonName, organizations } = subject;
    return this.#api.server.fetch(request, {
      clientName: commonName,
      clientOrganizations: organizations,
      clientFingerprint: "0".repeat(64),
    });
  };

  async makeAccount(namespace: string): Promise<void> {
    if (this.#hasControllers) return;
    const body = JSON.stringify({ apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "default" } });
    await this.send(`/api/v1/namespaces/${namespace}/serviceaccounts`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    });
  }

  /** Serves over TLS, for kubectl. */
  async #listen(kubectl: string): Promise<void> {
    const authority = await CertificateAuthority.create("conformance");
    const pair = await authority.issue({
      commonName: "kubernetes",
      usage: "server",
      hosts: ["127.0.0.1", "localhost"],
    });
    this.#listener = await serve({
      handler: (request) => this.#api.server.fetch(request),
      tls: { cert: pair.certificate, key: pair.key },
      onError: (error) => console.error(error),
    });
    this.#folder = mkdtempSync(join(tmpdir(), "pintle-conformance-"));
    const path = join(this.#folder, "kubeconfig");
    const text = kubeconfigText({
      name: "kind-kind",
      server: `https://127.0.0.1:${this.#listener.port}`,
      ca: authority.certificate,
      credentials: { kind: "token", token: "admin" },
      namespace: undefined,
    });
    writeFileSync(path, text, { mode: 0o600 });
    this.kubectl = kubectlOf(kubectl, path);
  }

  async #runControllers(): Promise<void> {
    const token = (request: Request) => {
      const headers = new Headers(request.headers);
      headers.set("authorization", "Bearer admin");
      headers.set("user-agent", "kube-controller-manager/1.36");
      return this.#api.server.fetch(new Request(request, { headers }));
    };
    const client = new Client(token);
    const manager = new Manager({ client, name: "conformance", gracefulShutdownTimeoutMs: 0 });
    const signingAuthority = await authority();
    for (const definition of clusterControllers({ signingAuthority })) {
      if (!absent.has(definition.name)) manager.add(definition);
    }
    await manager.addRunnable(new GarbageCollector({ client }));
    await manager.run(this.#stop.signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#controllers.catch(() => undefined);
    await this.#listener?.close();
    if (this.#folder !== undefined) rmSync(this.#folder, { recursive: true, force: true });
    this.#api.server[Symbol.dispose]();
  }
}
