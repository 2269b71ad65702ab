/** Connection: the cluster a command works on, and what its messages need to know about it. */
import type { Client } from "../client/mod.ts";

/** A cluster and who we are there. Dispose it to close its connections. */
export interface Connection extends Disposable {
  readonly client: Client;
  /** A client with connections of its own, for what must not wait behind other requests. */
  separate(): Client;
  /** The context's namespace, or the pod's. */
  readonly namespace: string;
  /** True when this process is a pod that uses its service account. */
  readonly isInCluster: boolean;
  /** The API server's URL. */
  readonly server: string;
  /** How messages name the user: `user "kind-a"`. */
  readonly who: string;
  /** What may be wrong with the credentials, as advice; asked when they were refused. */
  adviseOnCredentials(): Promise<string>;
}
