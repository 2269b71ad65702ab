/**
 * ApiProxy: an HTTPS proxy between the binary and the API server that sees every request and can inject faults: hold
 * a request or its response, delay it, respond instead of the server, or disconnect the binary.
 *
 * It terminates TLS on both sides. Its certificate is signed by the control plane's CA, which the binary verifies, and
 * the bearer token is forwarded. Requests and responses are streamed, so watches work. Proxies of one test share
 * one clock and one process, so their requests can be ordered.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { type ControlPlane, patienceMs, until } from "../controlplane/mod.ts";

/** One request. */
export interface SeenRequest {
  readonly method: string;
  /** Includes the query. */
  readonly path: string;
  /** When it arrived, by performance.now(). */
  readonly at: number;
  /** Its body, once it was read; "" without a body. */
  readonly body: string;
  /** The status of the response and its time; undefined before the response. */
  readonly response: { readonly status: number; readonly at: number } | undefined;
}

/** Selects requests. */
export type RequestMatch = (request: SeenRequest) => boolean;

/** A request that is held back. */
export interface Hold {
  /** Resolves when such a request, or its response, has arrived; rejects when none came. */
  readonly arrived: Promise<void>;
  /** Forwards it. */
  release(): void;
}

/**
 * How the binary is disconnected. "refusing": connections are closed and no new ones are accepted. "silent": connections
 * stay open, and requests are stored without a response; they reach the server when the connection is restored, as with a
 * network that sends lost packets again.
 */
export type Cut = "refusing" | "silent";

interface MutableRequest extends SeenRequest {
  body: string;
  response: SeenRequest["response"];
}

interface Trap {
  readonly matches: RequestMatch;
  readonly side: "request" | "response";
  readonly caught: () => Promise<void>;
}

/** The action for each request that matches, until it is disposed. */
interface Rule {
  readonly matches: RequestMatch;
  /** A response instead of the server's. */
  readonly apply: () => Promise<Response | undefined>;
}

type Pair = { readonly certificate: string; readonly key: string };

/** The proxy; dispose it to end all connections. */
export class ApiProxy implements AsyncDisposable {
  readonly #requests: MutableRequest[] = [];
  readonly #upstream: string;
  readonly #pair: Pair;
  readonly #client: Deno.HttpClient;
  readonly #traps = new Set<Trap>();
  readonly #rules = new Set<Rule>();
  readonly #timers = new Set<ReturnType<typeof setTimeout>>();
  #server: Deno.HttpServer<Deno.NetAddr>;
  #end = new AbortController();
  #kubeconfig = "";
  /** Resolved while requests may pass. */
  #passage = openPassage();

  private constructor(controlPlane: ControlPlane, pair: Pair) {
    this.#upstream = controlPlane.server;
    this.#pair = pair;
    this.#client = Deno.createHttpClient({ caCerts: [controlPlane.ca], http2: false });
    this.#server = this.#serve(0);
  }

  /** Starts a proxy on a free port of the loopback address. */
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

  /** All requests so far, in the order of their arrival. */
  get requests(): readonly SeenRequest[] {
    return this.#requests;
  }

  /** The requests that change objects; access reviews are excluded. */
  get writes(): readonly SeenRequest[] {
    return this.#requests.filter(({ method, path }) => method !== "GET" && !/\/[a-z]+reviews(\?|$)/.test(path));
  }

  /** Holds the next request that matches, or its response after the server has committed the request. */
  hold(matches: RequestMatch, side: Trap["side"] = "request"): Hold {
    const arrived = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    const fail = () => {
      const last = this.#requests.slice(-20).map(({ method, path }) => `\n${method} ${path}`).join("");
      arrived.reject(
        new Error(`Cannot hold a request: none matched within ${patienceMs} ms; the last ones were${last}`),
      );
    };
    const timer = setTimeout(fail, patienceMs);
    this.#timers.add(timer);
    arrived.promise.catch(() => {}); // a test that has failed before does not wait for it
    const caught = () => {
      clearTimeout(timer);
      arrived.resolve();
      return released.promise;
    };
    this.#traps.add({ matches, side, caught });
    return { arrived: arrived.promise, release: () => released.resolve() };
  }

  /** Delays all requests that match, until it is disposed. */
  delay(ms: number, matches: RequestMatch): Disposable {
    return this.#rule({ matches, apply: async () => void await sleep(ms) });
  }

  /** Responds to all requests that match instead of the server, until it is disposed. */
  respond(response: () => Response, matches: RequestMatch): Disposable {
    return this.#rule({ matches, apply: () => Promise.resolve(response()) });
  }

  /** Disconnects the binary. */
  async cut(how: Cut): Promise<void> {
    if (how === "silent") {
      this.#passage = Promise.withResolvers();
      return;
    }
    this.#end.abort();
    await this.#server.finished;
  }

  /** Restores the connection. */
  heal(): void {
    this.#passage.resolve();
    if (!this.#end.signal.aborted) return;
    this.#end = new AbortController();
    this.#server = this.#serve(this.#server.addr.port);
  }

  /** Waits until no request that changes objects and `matches` has arrived for `quietMs`. */
  async quiet(quietMs: number, matches: RequestMatch = () => true): Promise<void> {
    let [count, since] = [-1, 0];
    await until(`see ${quietMs} ms without a write`, () => {
      const seen = this.writes.filter(matches).length;
      if (seen !== count) [count, since] = [seen, performance.now()];
      const isQuiet = performance.now() - since >= quietMs;
      return isQuiet ? { kind: "found", value: undefined } : { kind: "pending", state: `${count} writes were seen` };
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#end.abort();
    this.#passage.resolve();
    await this.#server.finished;
    this.#client.close();
  }

  #serve(port: number): Deno.HttpServer<Deno.NetAddr> {
    return Deno.serve({
      hostname: "127.0.0.1",
      port,
      cert: this.#pair.certificate,
      key: this.#pair.key,
      signal: this.#end.signal,
      onListen: () => {},
      onError: () => new Response(null, { status: 502 }), // the binary was disconnected meanwhile
    }, (request) => this.#forward(request));
  }

  #rule(rule: Rule): Disposable {
    this.#rules.add(rule);
    return { [Symbol.dispose]: () => void this.#rules.delete(rule) };
  }

  async #forward(request: Request): Promise<Response> {
    const { signal } = this.#end;
    const { pathname, search } = new URL(request.url);
    const { method, headers } = request;
    const at = performance.now();
    const seen: MutableRequest = { method, path: `${pathname}${search}`, at, body: "", response: undefined };
    this.#requests.push(seen);
    const body = request.body === null ? undefined : await request.arrayBuffer();
    if (body !== undefined) seen.body = new TextDecoder().decode(body);
    await this.#holdIfTrapped(seen, "request");
    for (const { matches, apply } of [...this.#rules]) {
      const response = matches(seen) ? await apply() : undefined;
      if (response !== undefined) return response;
    }
    await this.#passage.promise;
    // A named constant, since the DOM's types do not know `client`. When the binary disconnects, the response is cancelled.
    const sent = { method, headers, body, signal, client: this.#client };
    const response = await fetch(`${this.#upstream}${seen.path}`, sent);
    seen.response = { status: response.status, at: performance.now() };
    await this.#holdIfTrapped(seen, "response");
    await this.#passage.promise;
    const stream = response.body?.pipeThrough(new TransformStream({ transform: this.#passOn })) ?? null;
    return new Response(stream, { status: response.status, headers: response.headers });
  }

  readonly #passOn = async (chunk: Uint8Array, controller: TransformStreamDefaultController<Uint8Array>) => {
    await this.#passage.promise;
    controller.enqueue(chunk);
  };

  async #holdIfTrapped(seen: SeenRequest, side: Trap["side"]): Promise<void> {
    for (const trap of this.#traps) {
      if (trap.side !== side || !trap.matches(seen)) continue;
      this.#traps.delete(trap);
      return await trap.caught();
    }
  }
}

function openPassage(): PromiseWithResolvers<void> {
  const passage = Promise.withResolvers<void>();
  passage.resolve();
  return passage;
}
