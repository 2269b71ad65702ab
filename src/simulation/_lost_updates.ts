/**
 * LostUpdates: another client changes an object right before the operator writes it: it adds an annotation, and a finalizer if
 * the operator is about to write the finalizers. A write that depends on what was read must not undo that: it names the
 * resourceVersion that was read, or sends only the operator's own fields.
 *
 * Guarantees: reports a violation when the change is gone right after the write. Otherwise the client takes it back at once, so
 * the rest of the run is as without it.
 */
import type { KubeObject } from "../api/mod.ts";
import type { SimulatedServer } from "./_simulated_server.ts";
import type { RunRecorder } from "./_run_recorder.ts";
import type { Violation } from "./violation.ts";

/** Options of {@link LostUpdates}. */
export interface LostUpdatesOptions {
  readonly server: Pick<SimulatedServer, "revision" | "at" | "trySend">;
  /** @default nothing is recorded */
  readonly recorder?: RunRecorder;
}

/** The key of the annotation, and the finalizer. */
const mark = "example.dev/other-client";

interface Change {
  readonly path: string;
  readonly uid: string | undefined;
  readonly hasFinalizer: boolean;
}

/** The changes of another client in a run. */
export class LostUpdates {
  readonly #options: LostUpdatesOptions;
  readonly #violations: Violation[] = [];
  #pending: Change[] = [];

  constructor(options: LostUpdatesOptions) {
    this.#options = options;
  }

  get violations(): readonly Violation[] {
    return this.#violations;
  }

  /** Changes the object of a write. An object that does not exist yet, or that is being deleted, is left alone. @param body of the write */
  async annotate(path: string, body: string): Promise<void> {
    const { server, recorder } = this.#options;
    const { metadata } = server.at(path, true) ?? {};
    if (body === "" || metadata === undefined || metadata.deletionTimestamp !== undefined) return;
    if (this.#pending.some((change) => change.path === path)) return;
    const hasFinalizer = writesFinalizers(body);
    const since = server.revision;
    await server.trySend(path, "PATCH", {
      metadata: {
        annotations: { [mark]: "" },
        ...(hasFinalizer ? { finalizers: [...metadata.finalizers ?? [], mark] } : {}),
      },
    });
    recorder?.note("user", `another client annotates ${path}`, { since, detail: "fault" });
    this.#pending.push({ path, uid: metadata.uid, hasFinalizer });
  }

  /** Checks the next change after the write, and takes it back. @returns false when there is none */
  undoNext(): Promise<true> | false {
    const change = this.#pending.shift();
    return change !== undefined && this.#undo(change);
  }

  async #undo({ path, uid, hasFinalizer }: Change): Promise<true> {
    const { server, recorder } = this.#options;
    const live = server.at(path, true);
    if (live === undefined || live.metadata.uid !== uid) return true;
    const { annotations, finalizers = [] } = live.metadata;
    if (annotations?.[mark] === undefined) this.#report(path, "an annotation");
    if (hasFinalizer && !finalizers.includes(mark)) this.#report(path, "a finalizer");
    const since = server.revision;
    const others = finalizers.filter((one) => one !== mark);
    await server.trySend(path, "PATCH", {
      metadata: {
        annotations: { [mark]: null },
        ...(others.length < finalizers.length ? { finalizers: others } : {}),
      },
    });
    recorder?.note("user", `the other client takes back its change of ${path}`, { since });
    return true;
  }

  #report(path: string, what: string): void {
    const message = `${path} lost ${what} that another client had added since the operator read the object`;
    this.#violations.push({ invariant: "lost-update", message });
  }
}

/** True for a body that replaces the list of finalizers. A JSON patch tests what it has read, or is rejected. */
function writesFinalizers(body: string): boolean {
  const { metadata }: Partial<KubeObject> = JSON.parse(body);
  return metadata?.finalizers !== undefined;
}
