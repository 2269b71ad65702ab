/**
 * Compacted: what the server does not remember any more. A watch that was told 410 cannot be taken up again where it was,
 * neither by the one that was told nor by others: who tries is told 410 again, as after a compaction of etcd.
 *
 * The storage keeps its history all the same, because the oracles read it.
 */

/** Versions of each collection from before its last compaction are gone. */
export class Compacted {
  readonly #oldest = new Map<string, number>();

  /** Forgets all changes of a collection before the one that made `version`. */
  before(resource: string, version: string | undefined): void {
    const oldest = Number(version ?? 0);
    if (oldest > (this.#oldest.get(resource) ?? 0)) this.#oldest.set(resource, oldest);
  }

  /** True when a watch of the collection asks to go on from a version that is gone. */
  refuses(resource: string, { url }: Pick<Request, "url">): boolean {
    const oldest = this.#oldest.get(resource);
    if (oldest === undefined) return false;
    const { searchParams } = new URL(url);
    const version = Number(searchParams.get("resourceVersion") ?? 0);
    // Who asks for the state as well takes any that is not older.
    const goesOn = searchParams.get("watch") === "true" && searchParams.get("sendInitialEvents") !== "true";
    return goesOn && version > 0 && version < oldest;
  }
}
