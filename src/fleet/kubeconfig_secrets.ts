/**
 * kubeconfigSecrets(), clusterApiClusters(): clusters whose kubeconfigs are in Secrets of the hub.
 *
 * Guarantees: a changed Secret replaces the connection of its cluster only; a broken one is reported with an Event about it.
 * The kubeconfigs may hold data only (`loadStoredAccess`). Of the Secrets of Cluster API, only kubeconfigs are kept in memory.
 */
import {
  builtin,
  type Infer,
  keyOf,
  type KubeObject,
  type LabelSelector,
  type Resource,
  untypedResource,
} from "../api/mod.ts";
import { scope } from "../async/mod.ts";
import { type Client, Discovery, loadStoredAccess } from "../client/mod.ts";
import { environment as processEnvironment, fromBase64 } from "../runtime/mod.ts";
import type { ClusterProvider, FleetCluster } from "./cluster_provider.ts";
import { connectionOf, type ConnectOptions, revisionOf } from "./kubeconfig_connection.ts";
import { watchedObjects } from "./watched_objects.ts";

type Secret = Infer<typeof builtin.Secret>;

/** Options of {@link kubeconfigSecrets}. */
export interface KubeconfigSecretsOptions extends ConnectOptions {
  /** The namespace of the Secrets. Whoever may write Secrets there decides where the operator works. */
  readonly namespace: string;
  /** The labels that a Secret must have. @default all Secrets with a kubeconfig */
  readonly labelSelector?: LabelSelector;
}

/**
 * A provider of the clusters whose kubeconfigs are in Secrets of a namespace, under the key `kubeconfig` or `value`. The name
 * of the Secret is the name of the cluster; Secrets without such a key are ignored. A Secret that is created, changed or
 * deleted engages, reconnects or disengages its cluster. The hub must allow to list and watch these Secrets.
 *
 * @param client Reads the Secrets of the hub.
 * @example
 * ```ts
 * import { kubeconfigSecrets } from "@pintle/controller";
 * import { Client } from "@pintle/controller/client";
 *
 * const client = new Client(() => Promise.reject(new Error("there is no server in an example")));
 * const provider = kubeconfigSecrets(client, { namespace: "fleet", labelSelector: { matchLabels: { fleet: "yes" } } });
 * console.assert(provider.name === 'Secrets in namespace "fleet"');
 * ```
 */
export function kubeconfigSecrets(client: Client, options: KubeconfigSecretsOptions): ClusterProvider {
  const { namespace, labelSelector, ...connect } = options;
  return {
    name: `Secrets in namespace "${namespace}"`,
    async *watch(signal) {
      const { clock } = connect;
      for await (const secrets of watchedObjects(client, builtin.Secret, { namespace, labelSelector, clock, signal })) {
        yield secrets.flatMap((secret) => {
          const data = kubeconfigIn(secret);
          return data === undefined ? [] : [clusterOf(secret, { name: secret.metadata.name ?? "", data, connect })];
        });
      }
    },
  };
}

/** Options of {@link clusterApiClusters}. */
export interface ClusterApiOptions extends ConnectOptions {
  /** The namespace of the Clusters. @default all */
  readonly namespace?: string;
}

/** Found by its group and kind: the version depends on the release of Cluster API. */
const capi = { group: "cluster.x-k8s.io", kind: "Cluster" };
const clusterNameLabel = "cluster.x-k8s.io/cluster-name";
const kubeconfigSuffix = "-kubeconfig";

/**
 * A provider of the clusters that Cluster API has created: those whose control plane is initialized and which are not being
 * deleted, with the kubeconfig of their Secret `<cluster>-kubeconfig`. The name is `namespace/name`. The hub must allow to
 * list and watch clusters.cluster.x-k8s.io and Secrets.
 *
 * @param client Reads the objects of the hub.
 * @example
 * ```ts
 * import { clusterApiClusters } from "@pintle/controller";
 * import { Client } from "@pintle/controller/client";
 *
 * const client = new Client(() => Promise.reject(new Error("there is no server in an example")));
 * console.assert(clusterApiClusters(client, { namespace: "clusters" }).name === 'Clusters in namespace "clusters"');
 * ```
 */
export function clusterApiClusters(client: Client, options: ClusterApiOptions = {}): ClusterProvider {
  const { namespace, ...connect } = options;
  return {
    name: namespace === undefined ? "Clusters of Cluster API" : `Clusters in namespace "${namespace}"`,
    async *watch(signal) {
      const found = await new Discovery(client, { clock: connect.clock }).findKind(capi, signal);
      if (found === undefined) {
        throw new Error("Cannot watch Clusters: the hub does not serve clusters.cluster.x-k8s.io");
      }
      const { group, version, kind, plural, scope: kindScope } = found.resource;
      const Cluster = untypedResource({ group, version, kind, plural, scope: kindScope });
      const { clock } = connect;
      const watched = { namespace, clock };
      const clusters = new LatestList(client, Cluster, watched);
      const secrets = new LatestList(client, builtin.Secret, { ...watched, reduce: keepKubeconfig });
      yield* joined(clusters, secrets, { signal, connect });
    },
  };
}

/** The newest list of a kind. */
class LatestList<R extends Resource> {
  readonly #client: Client;
  readonly #resource: R;
  readonly #options: Omit<Parameters<typeof watchedObjects>[2], "signal">;
  items: readonly Infer<R>[] | undefined;

  constructor(client: Client, resource: R, options: Omit<Parameters<typeof watchedObjects>[2], "signal">) {
    this.#client = client;
    this.#resource = resource;
    this.#options = options;
  }

  async follow(signal: AbortSignal, onChange: () => void): Promise<void> {
    for await (const items of watchedObjects(this.#client, this.#resource, { ...this.#options, signal })) {
      this.items = items;
      onChange();
    }
  }
}

/** The clusters, after each change of a Cluster or of a Secret. */
async function* joined(
  clusters: LatestList<Resource<KubeObject>>,
  secrets: LatestList<typeof builtin.Secret>,
  { signal, connect }: { readonly signal: AbortSignal; readonly connect: ConnectOptions },
): AsyncGenerator<readonly FleetCluster[]> {
  using watching = scope(signal);
  let changed = Promise.withResolvers<void>();
  const onChange = () => changed.resolve();
  const following = Promise.all([clusters, secrets].map((list) => list.follow(watching.signal, onChange)));
  let failure: { readonly error: unknown } | undefined;
  const ended = following.catch((error: unknown) => failure = { error }).then(onChange);
  try {
    while (!watching.signal.aborted) {
      await changed.promise;
      if (failure !== undefined) throw failure.error;
      changed = Promise.withResolvers<void>();
      const { items } = secrets;
      if (clusters.items === undefined || items === undefined) continue;
      const byKey = new Map(items.map((secret) => [String(keyOf(secret)), secret]));
      yield clusters.items.filter(isReady).flatMap((cluster) => {
        const key = keyOf(cluster);
        const secret = byKey.get(`${key}${kubeconfigSuffix}`);
        const data = secret && kubeconfigIn(secret);
        return secret && data ? [clusterOf(secret, { name: key, data, connect, regarding: cluster })] : [];
      });
    }
  } finally {
    watching.abort();
    await ended;
  }
}

/** Secrets of Cluster API with keys of certificate authorities are not kept in memory. */
function keepKubeconfig(object: KubeObject): KubeObject {
  const { name = "", labels } = object.metadata;
  if (name.endsWith(kubeconfigSuffix) && labels?.[clusterNameLabel] !== undefined) return object;
  const { apiVersion, kind, metadata } = object;
  return { apiVersion, kind, metadata };
}

/** The control plane is initialized: a field of v1beta2, and of v1beta1. */
function isReady(cluster: KubeObject & { readonly status?: unknown }): boolean {
  if (cluster.metadata.deletionTimestamp !== undefined) return false;
  const status: object = typeof cluster.status === "object" && cluster.status !== null ? cluster.status : {};
  const initialization: unknown = Reflect.get(status, "initialization");
  const isInitialized = typeof initialization === "object" && initialization !== null &&
    Reflect.get(initialization, "controlPlaneInitialized") === true;
  return isInitialized || Reflect.get(status, "controlPlaneReady") === true;
}

/** The kubeconfig of a Secret, in base64; undefined if it has none. */
function kubeconfigIn({ data = {} }: Pick<Secret, "data">): string | undefined {
  return data.kubeconfig ?? data.value;
}

interface StoredCluster {
  readonly name: string;
  /** In base64. */
  readonly data: string;
  readonly connect: ConnectOptions;
  /** The object that is the cluster: another one of its name is another cluster. @default none, Events are about the Secret */
  readonly regarding?: KubeObject;
}

function clusterOf(secret: Secret, { name, data, connect, regarding }: StoredCluster): FleetCluster {
  const { apiVersion, kind, metadata } = secret;
  const uid = regarding?.metadata.uid;
  return {
    name,
    revision: revisionOf([uid, data]),
    regarding: regarding ?? { apiVersion, kind, metadata },
    async connect() {
      const text = new TextDecoder().decode(fromBase64(data));
      const { environment = processEnvironment() } = connect;
      const access = await loadStoredAccess(text, { origin: `Secret ${keyOf(secret)}`, environment });
      return await connectionOf(access, { ...connect, uid });
    },
  };
}
