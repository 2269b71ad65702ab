/**
 * ForeignObjects: dependents of a controller that temporarily belong to another owner. A user replaces a dependent with an
 * object without an owner ("replace"), or gives it another controller ("takeover"). After 20 s the user undoes this.
 *
 * Guarantees: reports a violation when the operator deletes or changes the object in the meantime.
 * Caveats: the status may change, because the cluster writes it. A change is found by its entry in managedFields, so one
 * that sets the same fields within the second of the previous write is not found.
 */
import { controllerOf, keyOf, type KubeObject, type OwnerReference, printExactJson } from "../api/mod.ts";
import type { Clock } from "../async/mod.ts";
import { type SimulatedServer, userFieldManager } from "./_simulated_server.ts";
import type { RunRecorder } from "./_run_recorder.ts";
import { collectionOfPath } from "./_sent_fields.ts";
import type { Violation } from "./violation.ts";

/** Options of {@link ForeignObjects}. */
export interface ForeignObjectsOptions {
  readonly server: Pick<SimulatedServer, "revision" | "at" | "trySend" | "noteEndOfForeignObject">;
  readonly clock: Clock;
  /** True for a field manager whose task it is to set fields of the objects of others. @default there is none */
  readonly mayWrite?: (manager: string, collection: string) => boolean;
  /** @default nothing is recorded */
  readonly recorder?: RunRecorder;
  /** How long an object stays foreign, in milliseconds. @default 20000 */
  readonly foreignMs?: number;
}

/** Longer than controllers wait to see their own writes (10 s), so that they retry several times. */
const defaultForeignMs = 20_000;

interface ForeignObject {
  readonly path: string;
  /** `Ingress default/shop`. */
  readonly name: string;
  readonly uid: string | undefined;
  /** The field managers when it became foreign, see {@link ForeignObjects.#writersOf}. */
  readonly writers: string;
  readonly until: number;
  /** The original owners; undefined when the object is deleted at the end. */
  readonly owners: readonly OwnerReference[] | undefined;
  /** The operator has sent a deletion. */
  isDeleteRequested: boolean;
}

/** The objects of a run that are foreign at the moment. */
export class ForeignObjects {
  readonly #options: ForeignObjectsOptions;
  readonly #violations: Violation[] = [];
  #present: ForeignObject[] = [];

  constructor(options: ForeignObjectsOptions) {
    this.#options = options;
  }

  get violations(): readonly Violation[] {
    return this.#violations;
  }

  /** True while there is a foreign object. */
  isBusy(): boolean {
    return this.#present.length > 0;
  }

  /** True while the object at this path is foreign. */
  has(path: string): boolean {
    return this.#present.some((foreign) => foreign.path === path);
  }

  /**
   * Puts an object without an owner where the operator is about to write a dependent. An existing dependent is deleted first.
   *
   * @param body of the write
   */
  async replace(path: string, body: string): Promise<void> {
    const { server, recorder } = this.#options;
    const since = server.revision;
    const present = server.at(path, true);
    const dependent = present ?? parseObject(body);
    if (dependent === undefined || controllerOf(dependent) === undefined || this.has(path)) return;
    const { apiVersion, kind, metadata: { name, namespace }, ...rest } = dependent;
    const foreign = { apiVersion, kind, metadata: { name, namespace }, ...rest, status: undefined };
    if (present !== undefined) await server.trySend(path, "DELETE", {});
    await server.trySend(path.slice(0, path.lastIndexOf("/")), "POST", foreign);
    const created = server.at(path, true);
    if (created === undefined || created.metadata.uid === present?.metadata.uid) return;
    recorder?.note("user", `replaces ${path} with a foreign object`, { since, detail: "fault" });
    this.#add(path, created, undefined);
  }

  /** Gives a dependent another controller: the Namespace `default`, or `kube-system` to what `default` controls already. */
  async takeOver(path: string): Promise<void> {
    const { server, recorder } = this.#options;
    const dependent = server.at(path, true);
    const present = dependent && controllerOf(dependent);
    const newOwner = ["default", "kube-system"].map((name) => server.at(`/api/v1/namespaces/${name}`, true))
      .find((namespace) => namespace?.metadata.uid !== present?.uid);
    if (dependent === undefined || present === undefined || newOwner === undefined) return;
    if (this.has(path)) return;
    const { uid = "", name = "" } = newOwner.metadata;
    const owner: OwnerReference = { apiVersion: "v1", kind: "Namespace", name, uid, controller: true };
    const since = server.revision;
    await server.trySend(path, "PATCH", { metadata: { ownerReferences: [owner] } });
    recorder?.note("user", `changes the owner of ${path}`, { since, detail: "fault" });
    const foreign = server.at(path, true);
    if (foreign !== undefined) this.#add(path, foreign, dependent.metadata.ownerReferences ?? []);
  }

  /** Records that the operator sends a deletion. */
  noteDelete(path: string): void {
    for (const foreign of this.#present) if (foreign.path === path) foreign.isDeleteRequested = true;
  }

  /** Checks the next object that is due, and undoes the change. @returns false when no object is due */
  undoNext(): Promise<true> | false {
    if (this.#present.length === 0) return false;
    const now = this.#options.clock.monotonic();
    const due = this.#present.find(({ until }) => until <= now);
    return due !== undefined && this.#undo(due);
  }

  async #undo(due: ForeignObject): Promise<true> {
    const { server, recorder } = this.#options;
    this.#present = this.#present.filter((other) => other !== due);
    const { path, uid, owners } = due;
    const live = server.at(path, true);
    this.#check(due, live);
    server.noteEndOfForeignObject();
    if (live === undefined || live.metadata.uid !== uid) return true;
    const since = server.revision;
    if (owners === undefined) await server.trySend(path, "DELETE", { preconditions: { uid } });
    else await server.trySend(path, "PATCH", { metadata: { ownerReferences: owners } });
    const what = owners === undefined ? `deletes the foreign object ${path}` : `restores the owner of ${path}`;
    recorder?.note("user", what, { since });
    return true;
  }

  #check({ path, name, uid, writers, isDeleteRequested }: ForeignObject, live: KubeObject | undefined): void {
    const isGone = live?.metadata.uid !== uid;
    if (isGone && isDeleteRequested) this.#report(path, name, "deleted");
    if (!isGone && live !== undefined && this.#writersOf(path, live) !== writers) {
      this.#report(path, name, "changed");
    }
  }

  #report(path: string, name: string, what: "deleted" | "changed"): void {
    const message = `${path} was ${what} while it was a foreign object`;
    const [, key = ""] = name.split(" ");
    const object = `${collectionOfPath(path)} ${key}`;
    const consequence = `The ${name}, which belongs to someone else, was ${what}.`;
    this.#violations.push({ invariant: "foreign-objects", message, consequence, object });
  }

  #add(path: string, object: KubeObject, owners: readonly OwnerReference[] | undefined): void {
    const { clock, foreignMs = defaultForeignMs } = this.#options;
    const until = clock.monotonic() + foreignMs;
    clock.timer(foreignMs, () => {});
    const [uid, writers] = [object.metadata.uid, this.#writersOf(path, object)];
    const name = `${object.kind} ${keyOf(object)}`;
    this.#present.push({ path, name, uid, writers, until, owners, isDeleteRequested: false });
  }

  /**
   * The field managers other than the user, with their times and fields. Those of the status are left out, and controllers that
   * declare such writes.
   */
  #writersOf(path: string, { metadata: { managedFields = [] } }: KubeObject): string {
    const { mayWrite = () => false } = this.#options;
    const collection = collectionOfPath(path);
    return printExactJson(
      managedFields.filter(({ manager = "", subresource }) =>
        manager !== userFieldManager && subresource !== "status" && !mayWrite(manager, collection)
      ),
    );
  }
}

function parseObject(text: string): KubeObject | undefined {
  const body: KubeObject | undefined = text === "" ? undefined : JSON.parse(text);
  return body?.metadata === undefined ? undefined : body;
}
