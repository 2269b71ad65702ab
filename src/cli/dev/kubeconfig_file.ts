/** The kubeconfig of a development cluster, as a file that only its owner can read and that goes with the cluster. */
import { directoryOf, joinPath, makeDirectory, removePath, resolvePath, writeFile } from "../../runtime/mod.ts";
import { processFacts } from "../../runtime/mod.ts";
import type { Session } from "../session.ts";

/** Where to write. */
export interface KubeconfigFileOptions {
  /** @default one in a folder of its own, below that for temporary files */
  readonly path: string | undefined;
  readonly session: Session;
}

/** A file that is there until it is disposed of. */
export class KubeconfigFile implements AsyncDisposable {
  readonly path: string;
  /** What goes with it. */
  readonly #removed: string;

  private constructor(path: string, removed: string) {
    this.path = path;
    this.#removed = removed;
  }

  /** Writes one. */
  static async write(text: string, { path, session }: KubeconfigFileOptions): Promise<KubeconfigFile> {
    const folder = ownFolder(session);
    const whole = path === undefined
      ? joinPath(folder, "kubeconfig.yaml")
      : resolvePath(processFacts().workingDirectory, path);
    await makeDirectory(directoryOf(whole));
    await writeFile(whole, text);
    return new KubeconfigFile(whole, path === undefined ? folder : whole);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await removePath(this.#removed);
  }
}

/** Several may run at a time, each in a folder of its own. */
function ownFolder({ operator, environment }: Session): string {
  const { XDG_RUNTIME_DIR, TMPDIR, TEMP } = environment;
  const base = XDG_RUNTIME_DIR ?? TMPDIR ?? TEMP ?? "/tmp";
  return joinPath(base, `${operator.name}-dev-${crypto.randomUUID()}`);
}
