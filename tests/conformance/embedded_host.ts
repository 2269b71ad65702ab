/**
 * EmbeddedHost: the embedded API server as conformance cases see it, in memory. The cases that need controllers get those
 * of src/cluster that kube-controller-manager has too: no scheduler, no kubelet and no nodes, as in tests/controlplane.
 */
import { kubernetesApi } from "../../src/apiserver/mod.ts";
import type { User } from "../../src/apiserver/model/mod.ts";
import { Client } from "../../src/client/mod.ts";
import { clusterControllers, GarbageCollector } from "../../src/cluster/mod.ts";
import { Manager } from "../../src/manager/mod.ts";
import { commonHeaders } from "./real_host.ts";
import type { Host } from "./transcript.ts";

/** Whom the control plane of tests/controlplane knows by its token. */
const admin: User = {
  name: "admin",
  uid: "admin",
  groups: ["system:masters", "system:authenticated"],
  extra: new Map(),
};

/** Whatever tests/controlplane does not run. */
const absent: ReadonlySet<string> = new Set(["kubelet", "scheduler"]);

/** One embedded server. */
export class EmbeddedHost implements Host, AsyncDisposable {
  readonly #api = kubernetesApi({ tokens: new Map([["admin", admin]]) });
  readonly #stop = new AbortController();
  #controllers: Promise<void> = Promise.resolve();
  #hasControllers = false;

  /** Starts one. @param withControllers whether it is to be a cluster */
  static async start(withControllers: boolean): Promise<EmbeddedHost> {
    const host = new EmbeddedHost();
    host.#hasControllers = withControllers;
    if (withControllers) host.#controllers = host.#runControllers();
    return await Promise.resolve(host);
  }

  /** The server itself, for a listener. */
  get fetch(): (request: Request) => Promise<Response> {
    return this.#api.server.fetch;
  }

  readonly send = (path: string, init: RequestInit): Promise<Response> => {
    const headers = new Headers({ ...commonHeaders, accept: "*/*", authorization: "Bearer admin" });
    for (const [name, value] of new Headers(init.headers)) headers.set(name, value);
    return this.#api.server.fetch(new Request(`http://in.memory${path}`, { ...init, headers }));
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

  async #runControllers(): Promise<void> {
    const token = (request: Request) => {
      const headers = new Headers(request.headers);
      headers.set("authorization", "Bearer admin");
      headers.set("user-agent", "kube-controller-manager/1.36");
      return this.#api.server.fetch(new Request(request, { headers }));
    };
    const client = new Client(token);
    const manager = new Manager({ client, name: "conformance", gracefulShutdownTimeoutMs: 0 });
    for (const definition of clusterControllers()) if (!absent.has(definition.name)) manager.add(definition);
    await manager.addRunnable(new GarbageCollector({ client }));
    await manager.run(this.#stop.signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#controllers.catch(() => undefined);
    this.#api.server[Symbol.dispose]();
  }
}
