/**
 * ApiProxy: an HTTPS proxy between the binary and the API server, that sees every request and can hold one back.
 *
 * It ends TLS on both sides, so it is a server certificate of the control plane's own authority that the binary checks,
 * and a bearer token that passes through. Requests and answers are streamed, so watches work. With a request held, a
 * test knows that a reconcile is under way, and for how long.
 */
import { once } from "node:events";
import { createServer, request as sendRequest } from "node:https";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { ControlPlane } from "../controlplane/mod.ts";
import { until } from "../controlplane/mod.ts";

/** One request that came through. */
export interface SeenRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
}

/** A request that is held back before it reaches the server. */
export interface Hold {
  /** Resolves when such a request has come. */
  readonly arrived: Promise<void>;
  /** Lets it go on to the server. */
  release(): void;
}

interface Trap {
  readonly matches: (request: SeenRequest) => boolean;
  readonly caught: () => Promise<void>;
}

/** The proxy; dispose it to end all connections. */
export class ApiProxy implements AsyncDisposable {
  /** All requests so far, in the order in which they came. */
  readonly requests: SeenRequest[] = [];
  /** A kubeconfig whose server is this proxy. */
  readonly kubeconfig: string;
  readonly #server: Server;
  readonly #upstream: { readonly port: string; readonly ca: string };
  #trap: Trap | undefined;

  private constructor(server: Server, kubeconfig: string, upstream: { readonly port: string; readonly ca: string }) {
    this.#server = server;
    this.kubeconfig = kubeconfig;
    this.#upstream = upstream;
    server.on("request", (incoming, outgoing) => void this.#forward(incoming, outgoing));
  }

  /** Starts one on a free port of the loopback address. */
  static async start(controlPlane: ControlPlane): Promise<ApiProxy> {
    const pair = await controlPlane.certificateAuthority.issue({
      commonName: "proxy",
      usage: "server",
      hosts: ["127.0.0.1"],
    });
    const server = createServer({ cert: pair.certificate, key: pair.key });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const kubeconfig = await controlPlane.kubeconfigFor({ user: "token", server: `https://127.0.0.1:${port}` });
    return new ApiProxy(server, kubeconfig, { port: new URL(controlPlane.server).port, ca: controlPlane.ca });
  }

  /** The requests that change something. */
  get writes(): readonly SeenRequest[] {
    return this.requests.filter(({ method }) => method !== "GET");
  }

  /** Holds the next request that matches. */
  hold(matches: (request: SeenRequest) => boolean): Hold {
    const arrived = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    this.#trap = {
      matches,
      caught: () => {
        arrived.resolve();
        return released.promise;
      },
    };
    return { arrived: arrived.promise, release: () => released.resolve() };
  }

  /** Waits until no request that changes something has come for `quietMs`. */
  async quiet(quietMs: number): Promise<void> {
    let [count, since] = [-1, 0];
    await until(`see ${quietMs} ms without a write`, () => {
      if (this.writes.length !== count) [count, since] = [this.writes.length, performance.now()];
      const isQuiet = performance.now() - since >= quietMs;
      return isQuiet ? { kind: "found", value: undefined } : { kind: "pending", state: `${count} writes were seen` };
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  async #forward(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const seen = { method: incoming.method ?? "", path: incoming.url ?? "" };
    this.requests.push(seen);
    if (this.#trap?.matches(seen)) {
      const { caught } = this.#trap;
      this.#trap = undefined;
      await caught();
    }
    const upstream = sendRequest({
      host: "127.0.0.1",
      port: this.#upstream.port,
      ca: this.#upstream.ca,
      method: seen.method,
      path: seen.path,
      headers: incoming.headers,
      agent: false,
    });
    upstream.on("response", (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      outgoing.flushHeaders();
      answer.pipe(outgoing);
      answer.on("error", () => outgoing.destroy());
    });
    upstream.on("error", () => outgoing.destroy());
    outgoing.on("close", () => upstream.destroy());
    incoming.pipe(upstream);
  }
}
