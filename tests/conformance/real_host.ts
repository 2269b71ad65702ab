/** RealHost: a real kube-apiserver for conformance cases, with the token of a member of system:masters. */
import type { ControlPlane } from "../controlplane/mod.ts";
import { kubectlOf } from "./kubectl.ts";
import type { Host } from "./transcript.ts";

/** The headers of every request of a case: the user agent names the field manager. */
export const commonHeaders: Readonly<Record<string, string>> = { "user-agent": "conformance/1.0" };

/** Connections to one control plane. */
export class RealHost implements Host, Disposable {
  readonly #controlPlane: ControlPlane;
  readonly #client: Deno.HttpClient;
  readonly kubectl;

  constructor(controlPlane: ControlPlane) {
    this.#controlPlane = controlPlane;
    this.kubectl = kubectlOf(controlPlane.description.binaries.kubectl, controlPlane.kubeconfig);
    this.#client = Deno.createHttpClient({ caCerts: [controlPlane.ca] });
  }

  readonly send = (path: string, init: RequestInit): Promise<Response> => {
    const headers = new Headers({ ...commonHeaders, authorization: `Bearer ${this.#controlPlane.token}` });
    for (const [name, value] of new Headers(init.headers)) headers.set(name, value);
    const options: RequestInit & { readonly client: Deno.HttpClient } = { ...init, headers, client: this.#client };
    return fetch(`${this.#controlPlane.server}${path}`, options);
  };

  [Symbol.dispose](): void {
    this.#client.close();
  }
}
