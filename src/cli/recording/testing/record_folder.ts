/** A temporary folder for the files of one `--record`. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The folder. Dispose it to remove it. */
export class RecordFolder implements AsyncDisposable {
  readonly root: string;
  /** The path for `--record`. */
  readonly path: string;

  private constructor(root: string, name: string) {
    this.root = root;
    this.path = join(root, name);
  }

  static async make(name = "incident.jsonl"): Promise<RecordFolder> {
    return new RecordFolder(await mkdtemp(join(tmpdir(), "pintle-record-")), name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.root, { recursive: true, force: true });
  }
}
