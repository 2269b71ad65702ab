/**
 * KnownPods: the Pods that were seen and not yet reported gone, kept in a file between two runs. A Pod that was deleted
 * while nobody watched is then reported at the next start.
 *
 * Guarantees: the file is replaced as a whole, and only its owner can read it; it is written at the start, so that a file
 * that cannot be is noticed at once, and when everything else has come to its end. A killed run leaves what the start
 * wrote. Pods of namespaces that a run does not look at stay in the file.
 */
import { type EventSource, findText, type Runnable, splitKey, writeFile } from "../../mod.ts";

/** Printable ASCII on both sides of one slash: more is no name of a Pod. */
const wellFormed = /^[!-.0-~]{1,253}\/[!-.0-~]{1,253}$/;

export class KnownPods {
  readonly #path: string;
  readonly #namespaces: readonly string[];
  readonly #keys: Set<string>;

  private constructor(path: string, namespaces: readonly string[], keys: readonly string[]) {
    this.#path = path;
    this.#namespaces = namespaces;
    this.#keys = new Set(keys);
  }

  /**
   * Reads the file of an earlier run; none is as good as an empty one.
   *
   * @param namespaces those that this run looks at; empty: all
   * @throws Error when the file is not what an earlier run wrote, or cannot be written
   */
  static async open(path: string, namespaces: readonly string[]): Promise<KnownPods> {
    const text = await findText(path).catch((error: unknown) => {
      throw new Error(`Cannot read known Pods: ${messageOf(error)}`, { cause: error });
    });
    const lines = (text ?? "").split("\n");
    const bad = lines.findIndex((line) => line !== "" && !wellFormed.test(line));
    if (bad >= 0) throw new Error(`Cannot read known Pods: line ${bad + 1} of "${path}" is not namespace/name`);
    const known = new KnownPods(path, namespaces, lines.filter((line) => line !== ""));
    await known.save();
    return known;
  }

  /** Has every Pod looked at that may have gone meanwhile, once the cache is in step. */
  get source(): EventSource {
    return {
      name: knownSource,
      run: async (enqueue, signal) => {
        for (const key of this.#keys) if (this.#isInView(key)) enqueue(key);
        await aborted(signal);
      },
    };
  }

  /** Saves when the controllers have ended. */
  get saver(): Runnable {
    return {
      name: "known Pods",
      run: async ({ stop }) => {
        await aborted(stop);
        await this.save();
      },
    };
  }

  /** Takes note of what was printed about a Pod. */
  note(key: string, exists: boolean): void {
    if (exists) this.#keys.add(key);
    else this.#keys.delete(key);
  }

  /** Writes the file. */
  async save(): Promise<void> {
    const lines = [...this.#keys].filter((key) => wellFormed.test(key)).sort().map((key) => `${key}\n`);
    try {
      await writeFile(this.#path, lines.join(""));
    } catch (error) {
      throw new Error(`Cannot write known Pods: ${messageOf(error)}`, { cause: error });
    }
  }

  #isInView(key: string): boolean {
    const { namespace = "" } = splitKey(key);
    return this.#namespaces.length === 0 || this.#namespaces.includes(namespace);
  }
}

/** Names the source in causes. */
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
