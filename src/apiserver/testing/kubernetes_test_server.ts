/** KubernetesTestServer: kubernetesApi() in memory for tests, with a virtual clock, a seed, and short functions for requests. */
import { seededRandom, VirtualClock } from "../../async/mod.ts";
import { type KubernetesApi, kubernetesApi } from "../kubernetes_api.ts";
import type { User } from "../model/mod.ts";
import { ObjectStorage } from "../storage/mod.ts";

/** A complete response. */
export interface KubernetesTestResponse {
  readonly code: number;
  readonly headers: Headers;
  // deno-lint-ignore no-explicit-any
  readonly body: any;
}

/** A user who may do everything. */
export const testAdmin: User = {
  name: "admin",
  uid: "",
  groups: ["system:masters", "system:authenticated"],
  extra: new Map(),
};

/** An API server with RBAC, and its clients `admin` and `jane`. */
export class KubernetesTestServer implements Disposable {
  readonly clock = new VirtualClock();
  readonly errors: unknown[] = [];
  readonly #api: KubernetesApi;

  /** @param storage of the server @default an empty storage */
  constructor(storage: ObjectStorage = new ObjectStorage()) {
    this.#api = kubernetesApi({
      clock: this.clock,
      random: seededRandom(1),
      storage,
      tokens: new Map([["admin", testAdmin], ["jane", {
        ...testAdmin,
        name: "jane",
        groups: ["system:authenticated"],
      }]]),
      onError: (error) => this.errors.push(error),
    });
  }

  /** Sends a request as it is. */
  fetch(request: Request): Promise<Response> {
    return this.#api.server.fetch(request);
  }

  /** Sends a request, as admin by default, and reads the response. */
  async send(
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<KubernetesTestResponse> {
    const request = new Request(`http://in.memory${path}`, {
      method,
      headers: {
        authorization: "Bearer admin",
        "user-agent": "test/1",
        ...(body === undefined ? undefined : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined
        ? {}
        : { body: typeof body === "string" || body instanceof Uint8Array ? body as BodyInit : JSON.stringify(body) }),
    });
    const response = await this.#api.server.fetch(request);
    const text = await response.text();
    return { code: response.status, headers: response.headers, body: text.startsWith("{") ? JSON.parse(text) : text };
  }

  /** Creates an object. @throws Error when the server rejects it */
  // deno-lint-ignore no-explicit-any
  async create(path: string, body: object): Promise<any> {
    const response = await this.send("POST", path, body);
    if (response.code !== 201) throw new Error(`Cannot create ${path}: ${JSON.stringify(response.body)}`);
    return response.body;
  }

  [Symbol.dispose](): void {
    this.#api.server[Symbol.dispose]();
  }
}
