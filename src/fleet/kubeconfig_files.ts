/**
 * kubeconfigContexts(), kubeconfigFolder(): clusters whose kubeconfigs are files of this machine. The files are read again
 * every ten seconds, so that a context or a file that is added, changed or removed engages, reconnects or disengages its
 * cluster. A folder can be a Secret that is mounted into the Pod.
 *
 * Guarantees: a file that cannot be used is reported as a problem of its clusters, and tried again; others are not affected. A
 * cluster is gone when two looks miss it: a file that is being written is empty, incomplete or absent for a moment.
 */
import { systemClock } from "../async/mod.ts";
import { type KubeconfigOverrides, loadClusterAccess, loadKubeconfig } from "../client/mod.ts";
import {
  directoryEntries,
  type Environment,
  environment as processEnvironment,
  fileStat,
  findText,
  homeDirectory,
  joinPath,
  processFacts,
} from "../runtime/mod.ts";
import type { ClusterProvider, FleetCluster } from "./cluster_provider.ts";
import { connectionOf, type ConnectOptions, revisionOf } from "./kubeconfig_connection.ts";

/** Options of {@link kubeconfigContexts}. */
export interface KubeconfigContextsOptions extends ConnectOptions {
  /** The contexts. @default all contexts of the kubeconfig */
  readonly contexts?: readonly string[];
  /** The path of the kubeconfig. @default KUBECONFIG, then ~/.kube/config */
  readonly kubeconfig?: string;
}

/** Milliseconds between two looks at the files. With the second look, a change is seen within ten seconds. */
const lookEveryMs = 9_000;
/** Milliseconds until the second look. */
const lookAgainMs = 1_000;

/** Ten times the largest kubeconfig that we know of. */
const maxFileBytes = 4 * 1024 * 1024;

/**
 * A provider of the clusters in a kubeconfig: one for each context, with the name of the context.
 *
 * @example
 * ```ts
 * import { kubeconfigContexts } from "@pintle/controller";
 *
 * const provider = kubeconfigContexts({ contexts: ["kind-east", "kind-west"] });
 * console.assert(provider.name === "contexts of the kubeconfig");
 * ```
 */
export function kubeconfigContexts(options: KubeconfigContextsOptions = {}): ClusterProvider {
  return polled("contexts of the kubeconfig", options, async () => {
    const { contexts, kubeconfig: path, environment = processEnvironment() } = options;
    const place = { environment, home: homeDirectory(environment), workingDirectory: processFacts().workingDirectory };
    const kubeconfig = await loadKubeconfig({ path, ...place });
    return (contexts ?? [...kubeconfig.contexts.keys()]).map((name) => {
      const context = kubeconfig.contexts.get(name);
      const { cluster = "", user = "" } = context?.value ?? {};
      const entries = [context, kubeconfig.clusters.get(cluster), kubeconfig.users.get(user)];
      return clusterOf(
        { name, revision: revisionOf(entries), overrides: { kubeconfig: path, context: name } },
        options,
      );
    });
  });
}

/** Options of {@link kubeconfigFolder}. */
export type KubeconfigFolderOptions = ConnectOptions;

/**
 * A provider of the clusters of a folder: one for each file, with the current context of the file. The name is that of the
 * file without `.yaml`, `.yml`, `.conf` or `.kubeconfig`. Files whose names begin with a dot are ignored.
 *
 * @param path The folder. It need not exist yet.
 * @example
 * ```ts
 * import { kubeconfigFolder } from "@pintle/controller";
 *
 * console.assert(kubeconfigFolder("/etc/fleet").name === "kubeconfigs in /etc/fleet");
 * ```
 */
export function kubeconfigFolder(path: string, options: KubeconfigFolderOptions = {}): ClusterProvider {
  return polled(`kubeconfigs in ${path}`, options, async () => {
    const clusters: FleetCluster[] = [];
    for (const file of await directoryEntries(path)) {
      const kubeconfig = joinPath(path, file);
      if (file.startsWith(".") || !(await isCandidate(kubeconfig))) continue;
      const name = file.replace(/\.(ya?ml|conf|kubeconfig)$/, "");
      const revision = revisionOf(await findText(kubeconfig, { maxBytes: maxFileBytes }).catch(String));
      clusters.push(clusterOf({ name, revision, overrides: { kubeconfig } }, options));
    }
    return clusters;
  });
}

/** False for folders, pipes and links to nothing. What cannot be looked at, as a link to itself, is a problem of its cluster. */
async function isCandidate(path: string): Promise<boolean> {
  try {
    return (await fileStat(path))?.kind === "file";
  } catch {
    return true;
  }
}

/** Reports the clusters at once, and again when they have changed. */
function polled(
  name: string,
  { clock = systemClock }: ConnectOptions,
  look: () => Promise<readonly FleetCluster[]>,
): ClusterProvider {
  return {
    name,
    async *watch(signal) {
      let reported: string | undefined;
      let names: readonly string[] = [];
      while (!signal.aborted) {
        let clusters = await look();
        if (names.some((name) => !clusters.some((cluster) => cluster.name === name))) {
          await clock.sleep(lookAgainMs, signal).catch(() => undefined);
          if (signal.aborted) return;
          clusters = await look();
        }
        names = clusters.map(({ name }) => name);
        const state = JSON.stringify(clusters.map(({ name, revision }) => [name, revision]));
        if (state !== reported) yield clusters;
        reported = state;
        await clock.sleep(lookEveryMs, signal).catch(() => undefined);
      }
    },
  };
}

interface FileCluster {
  readonly name: string;
  readonly revision: string;
  readonly overrides: KubeconfigOverrides;
}

function clusterOf({ name, revision, overrides }: FileCluster, options: ConnectOptions): FleetCluster {
  return {
    name,
    revision,
    async connect() {
      const environment: Environment = options.environment ?? processEnvironment();
      const home = homeDirectory(environment);
      const { workingDirectory } = processFacts();
      return await connectionOf(await loadClusterAccess({ overrides, environment, home, workingDirectory }), options);
    },
  };
}
