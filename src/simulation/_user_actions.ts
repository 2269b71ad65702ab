/**
 * UserActions: what users do to the objects of the operator's writes during a run, what they take back after it, and whether the
 * operator leaves their own objects alone.
 *
 * Guarantees: two actions at the same object do not meet: a foreign object does not belong to the operator, so it is left alone.
 */
import type { Clock } from "../async/mod.ts";
import { ForeignObjects } from "./_foreign_objects.ts";
import { LostUpdates } from "./_lost_updates.ts";
import type { RunRecorder } from "./_run_recorder.ts";
import type { SimulatedServer } from "./_simulated_server.ts";
import { type StepServer, UserObjects } from "./_user_objects.ts";
import type { UserAction } from "./fault_plan.ts";
import type { Violation } from "./violation.ts";

/** The server of a run, as its users see it. */
export type UsersServer =
  & Pick<SimulatedServer, "revision" | "at" | "trySend" | "changeAsUser" | "noteEndOfForeignObject">
  & StepServer;

/** Options of {@link UserActions}. */
export interface UserActionsOptions {
  /** True for a collection of dependents: the operator may delete only those that it controls. */
  readonly isDependentKind: (collection: string) => boolean;
  /** True for a field manager whose task it is to set fields of the objects of others. @default there is none */
  readonly mayWrite?: (manager: string, collection: string) => boolean;
  readonly server: UsersServer;
  readonly clock: Clock;
  /** How long an object stays foreign, in milliseconds. @default 20000 */
  readonly foreignMs?: number;
  /** @default nothing is recorded */
  readonly recorder?: RunRecorder;
}

/** The users of a run. */
export class UserActions {
  readonly #server: UsersServer;
  readonly #foreign: ForeignObjects;
  readonly #lostUpdates: LostUpdates;
  readonly #objects: UserObjects;

  constructor(options: UserActionsOptions) {
    this.#server = options.server;
    this.#foreign = new ForeignObjects(options);
    this.#lostUpdates = new LostUpdates(options);
    this.#objects = new UserObjects(options.server, options.isDependentKind);
  }

  violations(): readonly Violation[] {
    return [...this.#foreign.violations, ...this.#lostUpdates.violations, ...this.#objects.violations()];
  }

  /** True while an action is to be taken back. */
  isBusy(): boolean {
    return this.#foreign.isBusy();
  }

  /** Records that the operator sends a deletion. */
  noteDelete(path: string): void {
    this.#foreign.noteDelete(path);
    this.#objects.noteDelete(path);
  }

  /** Changes the object of a write. @param body of the write */
  async act(action: UserAction, path: string, body: string): Promise<void> {
    switch (action) {
      case "replace":
        return await this.#foreign.replace(path, body);
      case "takeover":
        return await this.#foreign.takeOver(path);
      case "annotate":
        return await this.#lostUpdates.annotate(path, body);
      default:
        return this.#foreign.has(path) ? undefined : await this.#server.changeAsUser(action, path, body);
    }
  }

  /** Takes back what was to last for one write only. Call it before anything else passes. @returns false when there is nothing */
  undoAfterWrite(): Promise<true> | false {
    return this.#lostUpdates.undoNext();
  }

  /** Takes back the next action whose time is over. @returns false when there is none */
  undoNext(): Promise<true> | false {
    return this.#foreign.undoNext();
  }
}
