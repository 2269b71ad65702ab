/**
 * The kubeconfig of a development cluster: a file that only its owner can read, and that is removed with the cluster, unless the
 * cluster is kept, too.
 *
 * Guarantees: an existing file is replaced only when an earlier development cluster left it; a file that another program has
 * written in the meantime is not removed.
 */
import {
  directoryOf,
  fileStat,
  findText,
  joinPath,
  makeDirectory,
  processFacts,
  removeEmptyDirectory,
  removePath,
  resolvePath,
  writeFile,
} from "../../runtime/mod.ts";
import { hasControls } from "../../observe/mod.ts";
import { CommandError, exitCode, type Session } from "../command/mod.ts";

/** The file to write. */
interface KubeconfigFileOptions {
  /** @default a file in a new temporary folder */
  readonly path: string | undefined;
  /** The folder that keeps the cluster: without a path, the file stays there. @default the cluster is not kept */
  readonly keptIn?: string;
  /** The name of the context. A kubeconfig whose current context has this name was written here. */
  readonly name: string;
  readonly session: Session;
}

/** A kubeconfig file that is removed at the end of the session. */
export class KubeconfigFile {
  readonly path: string;
  readonly #text: string;
  /** The temporary folder, which is removed with the file. */
  readonly #folder: string | undefined;

  private constructor(path: string, text: string, folder: string | undefined) {
    this.path = path;
    this.#text = text;
    this.#folder = folder;
  }

  /** Writes the file. @throws CommandError when another file exists, or writing fails */
  static async write(text: string, options: KubeconfigFileOptions): Promise<KubeconfigFile> {
    const { path, keptIn, name, session } = options;
    if (path === undefined && keptIn !== undefined) return await KubeconfigFile.#keep(text, keptIn);
    const folder = path === undefined ? await temporaryFolder(session) : undefined;
    const whole = folder === undefined
      ? resolvePath(processFacts().workingDirectory, path ?? "")
      : joinPath(folder, "kubeconfig.yaml");
    const file = new KubeconfigFile(whole, text, folder);
    try {
      if (hasControls(whole)) throw new Error("the path has control characters");
      if (folder === undefined) await assertOurs(whole, name);
      const writing = makeDirectory(directoryOf(whole)).then(() => writeFile(whole, text));
      // The session may end while the file is being written.
      session.atEnd(async () => {
        await writing.catch(() => {});
        await file.#remove();
      });
      await writing;
    } catch (error) {
      throw error instanceof CommandError ? error : cannotWrite(whole, error);
    }
    return file;
  }

  static async #keep(text: string, folder: string): Promise<KubeconfigFile> {
    const path = joinPath(folder, "kubeconfig.yaml");
    try {
      await writeFile(path, text);
    } catch (error) {
      throw cannotWrite(path, error);
    }
    return new KubeconfigFile(path, text, folder);
  }

  async #remove(): Promise<void> {
    if (this.#folder === undefined && await findText(this.path) !== this.#text) return;
    await removePath(this.path).catch(() => {});
    if (this.#folder !== undefined) await removeEmptyDirectory(this.#folder);
  }
}

/** Keeps a wrong --write-kubeconfig from destroying the kubeconfig of the user. */
async function assertOurs(path: string, name: string): Promise<void> {
  const text = await findText(path);
  if (text === undefined || contextIn(text) === name) return;
  throw new CommandError(`Cannot write kubeconfig "${path}": another file exists already`, {
    code: exitCode.failed,
    advice: "Choose a file that does not exist yet; it is removed at the end",
  });
}

function contextIn(text: string): unknown {
  try {
    const config: { readonly "current-context"?: unknown } | null = JSON.parse(text);
    return config?.["current-context"];
  } catch {
    return undefined; // this program writes JSON; YAML is the file of a user
  }
}

function cannotWrite(path: string, error: unknown): CommandError {
  const reason = error instanceof Error ? error.message : String(error);
  const advice = "Choose another file with --write-kubeconfig";
  return new CommandError(`Cannot write kubeconfig "${path}": ${reason}`, {
    code: exitCode.failed,
    advice,
    cause: error,
  });
}

/**
 * Several clusters can run at a time, so that each has its own folder. A variable that names no folder is ignored; a relative
 * path would lead into the working folder.
 */
async function temporaryFolder({ operator, environment }: Session): Promise<string> {
  const name = `${operator.name}-dev-${crypto.randomUUID().slice(0, 18)}`;
  const { XDG_RUNTIME_DIR, TMPDIR, TEMP } = environment;
  for (const base of [XDG_RUNTIME_DIR, TMPDIR, TEMP]) {
    if (base !== undefined && await isFolder(base)) return joinPath(base, name);
  }
  return joinPath("/tmp", name);
}

async function isFolder(path: string): Promise<boolean> {
  if (path === "" || resolvePath("/", path) !== path || hasControls(path)) return false;
  return (await fileStat(path).catch(() => undefined))?.kind === "directory";
}
