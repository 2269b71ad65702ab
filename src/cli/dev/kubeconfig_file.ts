/** The kubeconfig of a development cluster, as a file that only its owner can read and that goes with the cluster. */
import {
  directoryOf,
  homeDirectory,
  joinPath,
  makeDirectory,
  removePath,
  resolvePath,
  writeFile,
} from "../../runtime/mod.ts";
import { processFacts } from "../../runtime/mod.ts";
import type { Session } from "../session.ts";

/** Where to write. */
export interface KubeconfigFileOptions {
  /** @default one of its own below the user's cache folder */
  readonly path: string | undefined;
  readonly session: Session;
}

/** A file that is there until it is disposed of. */
export class KubeconfigFile implements AsyncDisposable {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  /** Writes one. */
  static async write(text: string, { path, session }: KubeconfigFileOptions): Promise<KubeconfigFile> {
    const whole = path === undefined ? ownPath(session) : resolvePath(processFacts().workingDirectory, path);
    await makeDirectory(directoryOf(whole));
    await writeFile(whole, text);
    return new KubeconfigFile(whole);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await removePath(this.path);
  }
}

/** Several may run at a time. */
function ownPath({ operator, environment }: Session): string {
  const home = homeDirectory(environment) ?? processFacts().workingDirectory;
  const cache = environment.XDG_CACHE_HOME ?? joinPath(home, ".cache");
  return joinPath(cache, operator.name, "dev", `kubeconfig-${crypto.randomUUID().slice(0, 8)}.yaml`);
}
