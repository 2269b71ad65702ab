/**
 * TestCluster: what a test needs of a cluster, the same for the embedded one (`embedded_cluster.ts`) and for a real API server
 * (`real_cluster.ts`); `startCluster()` starts one of them.
 */
import type { Client, Transport } from "../client/mod.ts";
import type { ManagerOptions, OperatorController } from "../manager/mod.ts";
import { toBase64 } from "../runtime/mod.ts";
import type { KubeletPace } from "./kubelet.ts";

/** Options that every {@link TestCluster} has. */
export interface TestClusterOptions {
  /** Controllers of the test: their kinds are served, and their webhooks are called in this process. @default none */
  readonly controllers?: readonly OperatorController[];
  /** The namespaces that the Manager of the controllers works on. @default all */
  readonly namespaces?: readonly string[];
  /** That Manager selects its namespaces by labels, so that it lists and watches Namespaces. @default false */
  readonly selectsNamespaces?: boolean;
  /** Runs the simulated nodes and the controllers of Deployments, namespaces and so on. @default true */
  readonly workloads?: boolean;
  /** The number of simulated nodes. @default 3 */
  readonly nodes?: number;
  /** How long Pods take to start and to complete. */
  readonly pace?: KubeletPace;
  /** The name of context, cluster and user in the kubeconfig, and of the webhook configurations. @default "pintle-dev" */
  readonly name?: string;
  /** The namespace of that context. @default "default" */
  readonly namespace?: string;
  /** Called with internal errors of the server and of the simulated nodes. */
  readonly onError: (error: unknown) => void;
}

/**
 * A running cluster of a test, embedded or real. Dispose it to stop what it has started.
 *
 * @example
 * ```ts
 * import { Namespace } from "@pintle/controller";
 * import { EmbeddedCluster, type TestCluster } from "@pintle/controller/testing";
 *
 * const hasNamespace = async (cluster: TestCluster, name: string) =>
 *   (await cluster.client.find(Namespace, name)) !== undefined;
 * await using cluster = await EmbeddedCluster.start({ workloads: false, onError: console.error });
 * console.assert(await hasNamespace(cluster, "kube-system"));
 * ```
 */
export interface TestCluster extends AsyncDisposable {
  /** The address of the API server: `https://127.0.0.1:PORT`. */
  readonly url: string;
  /** A kubeconfig with the address, certificate authority and credentials. It is a secret: do not log it. */
  readonly kubeconfig: string;
  /** A client with the rights of an administrator. */
  readonly client: Client;
  /** The transport of that client. */
  readonly transport: Transport;
  /** For a Manager that runs the `controllers`, each of which may only do what it declares. */
  readonly managerOptions: Pick<ManagerOptions, "client" | "transportFor" | "strictAccess">;
}

/** The parts of a kubeconfig. */
export interface KubeconfigParts {
  /** The name of cluster, user and context. */
  readonly name: string;
  /** @default "default" */
  readonly namespace?: string;
  readonly url: string;
  /** PEM text. */
  readonly ca: string;
  readonly token: string;
}

/** A kubeconfig as JSON, which is valid YAML, with the same entries that kind writes. */
export function kubeconfigText({ name, namespace = "default", url, ca, token }: KubeconfigParts): string {
  const data = toBase64(ca);
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name, cluster: { server: url, "certificate-authority-data": data } }],
    users: [{ name, user: { token } }],
    contexts: [{ name, context: { cluster: name, user: name, namespace } }],
    "current-context": name,
  };
  return `${JSON.stringify(config, undefined, 2)}\n`;
}
