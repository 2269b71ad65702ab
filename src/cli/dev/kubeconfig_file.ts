/**
 * The kubeconfig of a development cluster, as a file that only its owner can read and that goes with the cluster.
 *
 * Guarantees: a file that is there already is only replaced when an earlier development cluster left it; what somebody
 * else has put in its place meanwhile is not removed.
 */
import {
  directoryOf,
  findText,
  joinPath,
  makeDirectory,
  processFacts,
  removePath,
  resolvePath,
  writeFile,
} from "../../runtime/mod.ts";
import { CommandError, exitCode, type Session } from "../command/mod.ts";

/** Where to write. */
interface KubeconfigFileOptions {
  /** @default one in a folder of its own, below that for temporary files */
  readonly path: string | undefined;
  /** The context's name: who has it in a kubeconfig wrote that kubeconfig. */
  readonly name: string;
  readonly session: Session;
}

/** A file that is there until it is disposed of. */
export class KubeconfigFile implements AsyncDisposable {
  readonly path: string;
  readonly #text: string;
  /** A folder that goes with it. */
  readonly #folder: string | undefined;

  private constructor(path: string, text: string, folder: string | undefined) {
    this.path = path;
    this.#text = text;
    this.#folder = folder;
  }

  /** Writes one. @throws CommandError when somebody else's file is there, or the disk does not take it */
  static async write(text: string, { path, name, session }: KubeconfigFileOptions): Promise<KubeconfigFile> {
    const folder = path === undefined ? ownFolder(session) : undefined;
    const whole = folder === undefined
      ? resolvePath(processFacts().workingDirectory, path ?? "")
      : joinPath(folder, "kubeconfig.yaml");
    try {
      if (folder === undefined) await assertOurs(whole, name);
      await makeDirectory(directoryOf(whole));
      await writeFile(whole, text);
    } catch (error) {
      if (folder !== undefined) await removePath(folder).catch(() => {});
      throw error instanceof CommandError ? error : cannotWrite(whole, error);
    }
    return new KubeconfigFile(whole, text, folder);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (await findText(this.path).catch(() => undefined) !== this.#text) return;
    await removePath(this.#folder ?? this.path);
  }
}

/** A kubeconfig at home is worth more than a flag that names it by mistake. */
async function assertOurs(path: string, name: string): Promise<void> {
  const text = await findText(path);
  if (text === undefined || contextIn(text) === name) return;
  throw new CommandError(`Cannot write kubeconfig "${path}": another file is there already`, {
    code: exitCode.failed,
    advice: "Name one with --write-kubeconfig that is not there yet; it is removed at the end",
  });
}

function contextIn(text: string): unknown {
  try {
    const config: { readonly "current-context"?: unknown } | null = JSON.parse(text);
    return config?.["current-context"];
  } catch {
    return undefined; // YAML: not as this program writes it
  }
}

function cannotWrite(path: string, error: unknown): CommandError {
  const reason = error instanceof Error ? error.message : String(error);
  const advice = "Name another place with --write-kubeconfig";
  return new CommandError(`Cannot write kubeconfig "${path}": ${reason}`, {
    code: exitCode.failed,
    advice,
    cause: error,
  });
}

/** Several may run at a time, each in a folder of its own. */
function ownFolder({ operator, environment }: Session): string {
  const { XDG_RUNTIME_DIR, TMPDIR, TEMP } = environment;
  const base = XDG_RUNTIME_DIR ?? TMPDIR ?? TEMP ?? "/tmp";
  return joinPath(base, `${operator.name}-dev-${crypto.randomUUID()}`);
}
