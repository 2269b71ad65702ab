/** RealHost: a real kube-apiserver for conformance cases, with the token of a member of system:masters. */
import { request } from "node:https";
import { text } from "node:stream/consumers";
import type { ControlPlane } from "../controlplane/mod.ts";
import type { ClientSubject } from "./case_run.ts";
import { kubectlOf } from "./kubectl.ts";
import type { Host } from "./transcript.ts";

/** The headers of every request of a case: the user agent names the field manager. */
export const commonHeaders: Readonly<Record<string, string>> = { "user-agent": "conformance/1.0" };

/** Connections to one control plane. */
export class RealHost implements Host, Disposable {
  readonly #controlPlane: ControlPlane;
  readonly #client: Deno.HttpClient;
  readonly #clients = new Map<string, Deno.HttpClient>();
  readonly kubectl;

  constructor(controlPlane: ControlPlane) {
    this.#controlPlane = controlPlane;
    this.kubectl = kubectlOf(controlPlane.description.binaries.kubectl, controlPlane.kubeconfig);
    this.#client = Deno.createHttpClient({ caCerts: [controlPlane.ca] });
  }

  readonly send = async (path: string, init: RequestInit, subject?: ClientSubject): Promise<Response> => {
    const headers = new Headers({ ...commonHeaders });
    if (subject === undefined) headers.set("authorization", `Bearer ${this.#controlPlane.token}`);
    for (const [name, value] of new Headers(init.headers)) headers.set(name, value);
    const groups = headers.get("impersonate-group")?.split(", ") ?? [];
    if (groups.length > 1 && subject === undefined) return await this.#sendGroups(path, init, headers, groups);
    const client = subject === undefined ? this.#client : await this.#clientOf(subject);
    const options: RequestInit & { readonly client: Deno.HttpClient } = { ...init, headers, client };
    return await fetch(`${this.#controlPlane.server}${path}`, options);
  };

  /** Sends each group in a header of its own, which fetch would join. */
  #sendGroups(path: string, init: RequestInit, headers: Headers, groups: readonly string[]): Promise<Response> {
    const { promise, resolve, reject } = Promise.withResolvers<Response>();
    const { server, ca } = this.#controlPlane;
    const all = { ...Object.fromEntries(headers), "impersonate-group": [...groups] };
    const sent = request(`${server}${path}`, { method: init.method ?? "GET", headers: all, ca }, (answer) => {
      answer.on("error", reject);
      text(answer).then((body) => {
        const type = answer.headers["content-type"];
        resolve(
          new Response(body, {
            status: answer.statusCode ?? 0,
            headers: type === undefined ? {} : { "content-type": type },
          }),
        );
      }, reject);
    });
    sent.on("error", reject);
    sent.end(init.body);
    return promise;
  }

  /** A client with a certificate; equal subjects share one, so that their credential is the same. */
  async #clientOf({ commonName, organizations }: ClientSubject): Promise<Deno.HttpClient> {
    const key = JSON.stringify([commonName, organizations]);
    const known = this.#clients.get(key);
    if (known !== undefined) return known;
    const { certificateAuthority, ca } = this.#controlPlane;
    const pair = await certificateAuthority.issue({ commonName, organizations });
    const client = Deno.createHttpClient({ caCerts: [ca], cert: pair.certificate, key: pair.key });
    this.#clients.set(key, client);
    return client;
  }

  [Symbol.dispose](): void {
    this.#client.close();
    for (const client of this.#clients.values()) client.close();
  }
}
