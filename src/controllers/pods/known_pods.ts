/**
 * KnownPods: the Pods that exist, as far as they were reported, in a file between two runs. A Pod that was deleted while the
 * controller did not run is reported at the next start.
 *
 * Guarantees: the file is replaced atomically, and only its owner can read it; it is written at the start, so that an error
 * is reported at once, and after the controllers have stopped. A killed run leaves the file of its start. Pods of other
 * namespaces stay in the file.
 */
import { type EventSource, type Runnable, type RunSetup, splitKey } from "../../mod.ts";

/** `namespace/name` in printable ASCII: every key of a Pod matches. */
const wellFormed = /^[!-.0-~]{1,253}\/[!-.0-~]{1,253}$/;

/** Options of {@link KnownPods.open}: the namespaces that this run watches (empty: all), and access to files. */
type KnownPodsOptions = Pick<RunSetup, "namespaces" | "files">;

export class KnownPods {
  readonly #path: string;
  readonly #options: KnownPodsOptions;
  readonly #keys: Set<string>;

  private constructor(path: string, keys: readonly string[], options: KnownPodsOptions) {
    this.#path = path;
    this.#options = options;
    this.#keys = new Set(keys);
  }

  /**
   * Reads the file of an earlier run, if there is one.
   *
   * @throws Error when an earlier run did not write the file, or it cannot be read or written
   */
  static async open(path: string, options: KnownPodsOptions): Promise<KnownPods> {
    const text = await options.files.findText(path).catch((error: unknown) => {
      throw new Error(`Cannot read known Pods: ${messageOf(error)}`, { cause: error });
    });
    const lines = (text ?? "").split("\n");
    const bad = lines.findIndex((line) => line !== "" && !wellFormed.test(line));
    if (bad >= 0) throw new Error(`Cannot read known Pods: line ${bad + 1} of "${path}" is not namespace/name`);
    const known = new KnownPods(path, lines.filter((line) => line !== ""), options);
    await known.save();
    return known;
  }

  /** An event source that enqueues every known Pod once, after the cache has synced: some may have been deleted. */
  get source(): EventSource {
    return {
      name: knownSource,
      run: async (enqueue, signal) => {
        for (const key of this.#keys) if (this.#isWatched(key)) enqueue(key);
        await aborted(signal);
      },
    };
  }

  /** A Runnable that saves after the controllers have stopped. */
  get saver(): Runnable {
    return {
      name: "known Pods",
      run: async ({ stop }) => {
        await aborted(stop);
        await this.save();
      },
    };
  }

  /** Records what was printed about a Pod. */
  record(key: string, exists: boolean): void {
    if (exists) this.#keys.add(key);
    else this.#keys.delete(key);
  }

  /** Writes the file. */
  async save(): Promise<void> {
    const lines = [...this.#keys].filter((key) => wellFormed.test(key)).sort().map((key) => `${key}\n`);
    try {
      await this.#options.files.writeText(this.#path, lines.join(""));
    } catch (error) {
      throw new Error(`Cannot write known Pods: ${messageOf(error)}`, { cause: error });
    }
  }

  #isWatched(key: string): boolean {
    const { namespace = "" } = splitKey(key);
    const { namespaces } = this.#options;
    return namespaces.length === 0 || namespaces.includes(namespace);
  }
}

/** The name of the event source in the causes of a reconcile. */
export const knownSource = "known-pods";

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
