/** A whole Kubernetes in memory for tests of its parts: a virtual clock, a seed, and requests in few words. */
import { seededRandom, VirtualClock } from "../../async/mod.ts";
import { kubernetesApi } from "../kubernetes_api.ts";
import type { User } from "../model/mod.ts";

/** An answer, read whole. */
export interface KubernetesAnswer {
  readonly code: number;
  // deno-lint-ignore no-explicit-any
  readonly body: any;
}

/** Somebody who may do everything. */
export const rigAdmin: User = {
  name: "admin",
  uid: "",
  groups: ["system:masters", "system:authenticated"],
  extra: new Map(),
};

/** A server with RBAC, and who talks to it. */
export class KubernetesRig implements Disposable {
  readonly clock = new VirtualClock();
  readonly errors: unknown[] = [];
  readonly #api = kubernetesApi({
    clock: this.clock,
    random: seededRandom(1),
    tokens: new Map([["admin", rigAdmin], ["jane", { ...rigAdmin, name: "jane", groups: ["system:authenticated"] }]]),
    onError: (error) => this.errors.push(error),
  });

  /** Sends a request as the admin, unless the headers say otherwise, and reads the answer. */
  async send(
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<KubernetesAnswer> {
    const request = new Request(`http://in.memory${path}`, {
      method,
      headers: {
        authorization: "Bearer admin",
        "user-agent": "rig/1",
        ...(body === undefined ? undefined : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const response = await this.#api.server.fetch(request);
    const text = await response.text();
    return { code: response.status, body: text.startsWith("{") ? JSON.parse(text) : text };
  }

  /** Creates an object. @throws Error when it is refused */
  // deno-lint-ignore no-explicit-any
  async create(path: string, body: object): Promise<any> {
    const answer = await this.send("POST", path, body);
    if (answer.code !== 201) throw new Error(`Cannot create ${path}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  [Symbol.dispose](): void {
    this.#api.server[Symbol.dispose]();
  }
}
