/** TestServer: an ApiServer in memory for tests, with a virtual clock, a seed, and short functions for requests. */
import { seededRandom, VirtualClock } from "../../async/mod.ts";
import { families } from "./test_kinds.ts";
import { ApiServer, type ApiServerOptions } from "../api_server.ts";

/** A complete response. */
export interface TestResponse {
  readonly code: number;
  /** The body if it is JSON, else undefined. */
  // deno-lint-ignore no-explicit-any
  readonly body: any;
  readonly text: string;
  readonly headers: Headers;
}

/** The optional parts of a request. */
export interface RequestExtras {
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

export const configMaps = "/api/v1/namespaces/default/configmaps";
export const foos = "/apis/example.com/v1/namespaces/default/foos";
export const mergePatch = { headers: { "content-type": "application/merge-patch+json" } };
export const jsonPatch = { headers: { "content-type": "application/json-patch+json" } };
export const strategicPatch = { headers: { "content-type": "application/strategic-merge-patch+json" } };
export const applyPatch = { headers: { "content-type": "application/apply-patch+yaml" } };

/** An API server with the kinds of test_kinds.ts, and its client. */
export class TestServer implements Disposable {
  readonly clock = new VirtualClock();
  readonly api: ApiServer;
  /** Unexpected errors of the server. */
  readonly errors: unknown[] = [];

  constructor(options: ApiServerOptions = {}) {
    this.api = new ApiServer({
      families,
      clock: this.clock,
      random: seededRandom(1),
      onError: (error) => this.errors.push(error),
      ...options,
    });
  }

  /** Sends a request and reads the response. @param body an object is sent as JSON, a text unchanged */
  async send(method: string, path: string, body?: unknown, extra: RequestExtras = {}): Promise<TestResponse> {
    const response = await this.open(method, path, body, extra);
    const text = await response.text();
    return { code: response.status, body: parsed(text), text, headers: response.headers };
  }

  /** Sends a request; the caller reads the body of the response. */
  open(method: string, path: string, body?: unknown, extra: RequestExtras = {}): Promise<Response> {
    const { headers = {}, signal } = extra;
    const request = new Request(`http://in.memory${path}`, {
      method,
      headers: {
        "user-agent": "test/1",
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
    return this.api.fetch(request);
  }

  /** Opens a watch. @param path with its query */
  async watch(path: string, extra: RequestExtras = {}): Promise<TestWatch> {
    return new TestWatch(await this.open("GET", path, undefined, extra));
  }

  createConfigMap(name: string, more: object = {}, metadata: object = {}): Promise<TestResponse> {
    return this.send("POST", configMaps, { metadata: { name, ...metadata }, ...more });
  }

  createFoo(name: string, spec: object = {}, metadata: object = {}): Promise<TestResponse> {
    const object = { apiVersion: "example.com/v1", kind: "Foo", metadata: { name, ...metadata }, spec };
    return this.send("POST", foos, object);
  }

  [Symbol.dispose](): void {
    this.api[Symbol.dispose]();
  }
}

/** An open watch. */
export class TestWatch {
  readonly response: Response;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #decoder = new TextDecoder();
  #rest = "";

  constructor(response: Response) {
    this.response = response;
    if (response.body === null) throw new Error("the watch has no body");
    this.#reader = response.body.getReader();
  }

  /** The next event; undefined at the end of the stream. */
  // deno-lint-ignore no-explicit-any
  async next(): Promise<any> {
    while (!this.#rest.includes("\n")) {
      const { done, value } = await this.#reader.read();
      if (done) return undefined;
      this.#rest += this.#decoder.decode(value, { stream: true });
    }
    const end = this.#rest.indexOf("\n");
    const line = this.#rest.slice(0, end);
    this.#rest = this.#rest.slice(end + 1);
    return JSON.parse(line);
  }

  /** The next events as `ADDED a@5`. */
  async take(count: number): Promise<readonly string[]> {
    const events: string[] = [];
    for (let taken = 0; taken < count; taken++) {
      const event = await this.next();
      if (event === undefined) return [...events, "end"];
      const { name = "", resourceVersion } = event.object.metadata;
      events.push(`${event.type} ${name}@${resourceVersion}`);
    }
    return events;
  }

  cancel(): Promise<void> {
    return this.#reader.cancel();
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
