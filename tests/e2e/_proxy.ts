/**
 * ApiProxy: an HTTPS proxy between the binary and the API server, that sees every request and can hold one back.
 *
 * It ends TLS on both sides, so it is a server certificate of the control plane's own authority that the binary checks,
 * and a bearer token that passes through. Requests and answers are streamed, so watches work. With a request held, a
 * test knows that a reconcile is under way, and for how long.
 */
import { type ControlPlane, until } from "../controlplane/mod.ts";

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
  readonly #upstream: string;
  readonly #client: Deno.HttpClient;
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly #end = new AbortController();
  #kubeconfig = "";
  #trap: Trap | undefined;

  private constructor(controlPlane: ControlPlane, pair: { readonly certificate: string; readonly key: string }) {
    this.#upstream = controlPlane.server;
    this.#client = Deno.createHttpClient({ caCerts: [controlPlane.ca], http2: false });
    this.#server = Deno.serve({
      hostname: "127.0.0.1",
      port: 0,
      cert: pair.certificate,
      key: pair.key,
      signal: this.#end.signal,
      onListen: () => {},
    }, (request) => this.#forward(request));
  }

  /** Starts one on a free port of the loopback address. */
  static async start(controlPlane: ControlPlane): Promise<ApiProxy> {
    const { certificateAuthority } = controlPlane;
    const pair = await certificateAuthority.issue({ commonName: "proxy", usage: "server", hosts: ["127.0.0.1"] });
    const proxy = new ApiProxy(controlPlane, pair);
    const server = `https://127.0.0.1:${proxy.#server.addr.port}`;
    proxy.#kubeconfig = await controlPlane.kubeconfigFor({ user: "token", server });
    return proxy;
  }

  /** A kubeconfig whose server is this proxy. */
  get kubeconfig(): string {
    return this.#kubeconfig;
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
    this.#end.abort();
    await this.#server.finished;
    this.#client.close();
  }

  async #forward(request: Request): Promise<Response> {
    const { pathname, search } = new URL(request.url);
    const seen = { method: request.method, path: `${pathname}${search}` };
    this.requests.push(seen);
    if (this.#trap?.matches(seen)) {
      const { caught } = this.#trap;
      this.#trap = undefined;
      await caught();
    }
    const { method, headers } = request;
    const body = request.body === null ? undefined : await request.arrayBuffer();
    // A named constant, since the DOM's types do not know `client`. When the binary goes away the answer is cancelled.
    const sent = { method, headers, body, signal: this.#end.signal, client: this.#client };
    const answer = await fetch(`${this.#upstream}${seen.path}`, sent);
    return new Response(answer.body, { status: answer.status, headers: answer.headers });
  }
}
