/**
 * Strangers: what somebody else does to the children of a controller for a while, and then takes back: an object of their own in
 * the place of a child ("replace"), another owner that controls it ("takeover"). Until it is taken back the operator may
 * neither delete nor change it; afterwards all must become as without faults.
 */
import { controllerOf, type KubeObject, type OwnerReference } from "../api/mod.ts";
import type { VirtualClock } from "../async/mod.ts";
import type { Stage } from "./_stage.ts";
import type { Trace } from "./trace.ts";
import type { Violation } from "./violation.ts";

/** What strangers need. */
export interface StrangersOptions {
  readonly stage: Stage;
  readonly clock: VirtualClock;
  readonly trace: Trace;
}

/** Long enough that controllers give up waiting and try several times. */
const staysMs = 20_000;

/** Something that is not the operator's for the time being. */
interface Stranger {
  readonly path: string;
  readonly uid: string | undefined;
  /** Who else wrote what of it, when it was made. */
  readonly writers: string;
  readonly until: number;
  /** The owners it gets back; undefined where it goes altogether. */
  readonly owners: readonly OwnerReference[] | undefined;
  /** The operator asked for its deletion. */
  isWanted: boolean;
}

/** Somebody who gets in the way of the operator. */
export class Strangers {
  readonly #options: StrangersOptions;
  readonly #violations: Violation[] = [];
  #present: Stranger[] = [];

  constructor(options: StrangersOptions) {
    this.#options = options;
  }

  /** What the operator did to them. */
  get violations(): readonly Violation[] {
    return this.#violations;
  }

  /** True while somebody is in the way. */
  isBusy(): boolean {
    return this.#present.length > 0;
  }

  /** True while what is there is somebody else's. */
  isTaken(path: string): boolean {
    return this.#present.some((stranger) => stranger.path === path);
  }

  /**
   * Puts an object of its own where the operator is about to write or delete a child, in the place of that child where there
   * is one.
   *
   * @param wanted the body of the write
   */
  async replace(path: string, wanted: string): Promise<void> {
    const present = this.#options.stage.at(path, true);
    const child = present ?? parsed(wanted);
    if (child === undefined || controllerOf(child) === undefined || this.isTaken(path)) return;
    const { apiVersion, kind, metadata: { name, namespace }, ...rest } = child;
    const body = { apiVersion, kind, metadata: { name, namespace }, ...rest, status: undefined };
    if (present !== undefined) await this.#options.stage.meddle(path, "DELETE", {});
    await this.#options.stage.meddle(path.slice(0, path.lastIndexOf("/")), "POST", body);
    const made = this.#options.stage.at(path, true);
    if (made === undefined || made.metadata.uid === present?.metadata.uid) return;
    this.#options.trace.add("somebody", `puts an object of their own in the place of ${path}`, { detail: "a fault" });
    this.#keep(path, made, undefined);
  }

  /** Makes a child somebody else's. */
  async takeOver(path: string): Promise<void> {
    const child = this.#options.stage.at(path, true);
    const usurper = this.#options.stage.at("/api/v1/namespaces/default", true);
    if (child === undefined || controllerOf(child) === undefined || usurper === undefined) return;
    if (this.isTaken(path)) return;
    const { uid = "", name = "" } = usurper.metadata;
    const owner: OwnerReference = { apiVersion: "v1", kind: "Namespace", name, uid, controller: true };
    this.#options.trace.add("somebody", `takes over ${path}`, { detail: "a fault" });
    await this.#options.stage.meddle(path, "PATCH", { metadata: { ownerReferences: [owner] } });
    const taken = this.#options.stage.at(path, true);
    if (taken !== undefined) this.#keep(path, taken, child.metadata.ownerReferences ?? []);
  }

  /** The operator is about to delete something. */
  noteDelete(path: string): void {
    for (const stranger of this.#present) if (stranger.path === path) stranger.isWanted = true;
  }

  /** Takes back what is due. @returns false when nothing is */
  async turn(): Promise<boolean> {
    const now = this.#options.clock.monotonic();
    const due = this.#present.find(({ until }) => until <= now);
    if (due === undefined) return false;
    this.#present = this.#present.filter((other) => other !== due);
    const { path, uid, owners } = due;
    const left = this.#options.stage.at(path, true);
    this.#judge(due, left);
    if (left === undefined || left.metadata.uid !== uid) return true;
    this.#options.trace.add("somebody", owners === undefined ? `deletes ${path} again` : `gives ${path} back`);
    if (owners === undefined) await this.#options.stage.meddle(path, "DELETE", { preconditions: { uid } });
    else await this.#options.stage.meddle(path, "PATCH", { metadata: { ownerReferences: owners } });
    return true;
  }

  #judge({ path, uid, writers, isWanted }: Stranger, left: KubeObject | undefined): void {
    const isGone = left?.metadata.uid !== uid;
    if (isGone && isWanted) this.#violate(`${path} was deleted while it was somebody else's`);
    if (!isGone && left !== undefined && writersOf(left) !== writers) {
      this.#violate(`${path} was changed while it was somebody else's`);
    }
  }

  #violate(message: string): void {
    this.#violations.push({ invariant: "strangers", message });
  }

  #keep(path: string, object: KubeObject, owners: readonly OwnerReference[] | undefined): void {
    const { clock } = this.#options;
    const until = clock.monotonic() + staysMs;
    clock.timer(staysMs, () => {});
    const [uid, writers] = [object.metadata.uid, writersOf(object)];
    this.#present.push({ path, uid, writers, until, owners, isWanted: false });
  }
}

/** What others than the strangers themselves wrote, and when; statuses aside. */
function writersOf({ metadata: { managedFields = [] } }: KubeObject): string {
  return JSON.stringify(
    managedFields.filter(({ manager, subresource }) => manager !== "somebody" && subresource !== "status"),
  );
}

function parsed(text: string): KubeObject | undefined {
  const body: KubeObject | undefined = text === "" ? undefined : JSON.parse(text);
  return body?.metadata === undefined ? undefined : body;
}
