/**
 * findServerPrograms(): the programs etcd and kube-apiserver, by the convention of envtest of controller-runtime, so that
 * what `setup-envtest` has installed for projects in Go is found as well.
 *
 * For each program the first of these counts: `TEST_ASSET_ETCD` or `TEST_ASSET_KUBE_APISERVER` (a path), the folder of the
 * option `assets`, the folder in `KUBEBUILDER_ASSETS`, `/usr/local/kubebuilder/bin` if it has the program, and the newest
 * version in the folder of `setup-envtest`. A path that a user has named is never replaced by another one.
 */
import {
  directoryEntries,
  type Environment,
  homeDirectory,
  isRegularFile,
  joinPath,
  processFacts,
  readStart,
} from "../../runtime/mod.ts";
import type { ServerPrograms } from "./servers.ts";

/** Options of {@link findServerPrograms}. */
export interface FindProgramsOptions {
  /** The folder of the programs. @default the variables and folders of envtest */
  readonly assets?: string;
  readonly environment: Environment;
}

const usualFolder = "/usr/local/kubebuilder/bin";

/**
 * Finds the programs.
 *
 * @throws Error that says how to get them, when one is missing or is a stand-in of the embedded server
 */
export async function findServerPrograms(options: FindProgramsOptions): Promise<ServerPrograms> {
  return {
    etcd: await findProgram("etcd", "TEST_ASSET_ETCD", options),
    kubeApiServer: await findProgram("kube-apiserver", "TEST_ASSET_KUBE_APISERVER", options),
  };
}

async function findProgram(name: string, variable: string, options: FindProgramsOptions): Promise<string> {
  const { environment } = options;
  const named = environment[variable];
  const folder = options.assets ?? (environment.KUBEBUILDER_ASSETS || undefined);
  if (named !== undefined && named !== "") return await usable(named, name, variable);
  if (folder !== undefined) {
    const origin = options.assets === undefined ? "KUBEBUILDER_ASSETS" : "the option assets";
    return await usable(joinPath(folder, name), name, origin);
  }
  const folders = [usualFolder, ...await installedFolders(environment)];
  for (const each of folders) {
    const path = joinPath(each, name);
    if (await isRegularFile(path) === true && !await isStandIn(path)) return path;
  }
  throw new Error(
    `Cannot find ${name}: neither KUBEBUILDER_ASSETS nor ${variable} is set, and none of ${
      folders.join(", ")
    } has it. ${advice}`,
  );
}

const advice =
  "Install it with setup-envtest: go run sigs.k8s.io/controller-runtime/tools/setup-envtest@latest use, or set KUBEBUILDER_ASSETS to a folder with etcd and kube-apiserver";

async function usable(path: string, name: string, origin: string): Promise<string> {
  if (await isRegularFile(path) !== true) {
    throw new Error(`Cannot find ${name}: there is no file "${path}", which ${origin} names. ${advice}`);
  }
  if (await isStandIn(path)) {
    throw new Error(
      `Cannot start a real ${name}: "${path}", which ${origin} names, starts the embedded server. Use EmbeddedCluster, or name another folder`,
    );
  }
  return path;
}

/** Scripts of `envtest` say so in their first lines (cli/envtest/assets.ts). */
async function isStandIn(path: string): Promise<boolean> {
  return (await readStart(path, 512)).includes("controller envtest");
}

/** The folders of `setup-envtest` for this machine, the newest version first. */
async function installedFolders(environment: Environment): Promise<readonly string[]> {
  const { os, arch } = processFacts();
  const store = storeOf(environment, os);
  if (store === undefined) return [];
  const suffix = `-${os}-${arch}`;
  const versions = (await directoryEntries(store).catch(() => [])).filter((name) => name.endsWith(suffix));
  return versions.toSorted(byVersion).reverse().map((name) => joinPath(store, name));
}

function storeOf(environment: Environment, os: string): string | undefined {
  const home = homeDirectory(environment);
  const base = environment.XDG_DATA_HOME || (home === undefined ? undefined : joinPath(home, ".local", "share"));
  if (os === "darwin") {
    return home === undefined ? undefined : joinPath(home, "Library/Application Support/io.kubebuilder.envtest/k8s");
  }
  return base === undefined ? undefined : joinPath(base, "kubebuilder-envtest", "k8s");
}

function byVersion(a: string, b: string): number {
  return a.localeCompare(b, "en", { numeric: true });
}
