/**
 * Reconciler: the raw, level-based form of what a controller does. `builder.ts` wraps the comfortable form,
 * `reconcile(ctx)`, into this one.
 *
 * It is told which object to look at and never what happened: it reads the present state and moves it towards the
 * wanted one, so a lost, doubled or merged event cannot mislead it.
 */
import type { KubeObject, ObjectKey } from "../api/mod.ts";
import type { Result } from "./result.ts";
import type { Toolbox } from "./toolbox.ts";

/** The object to look at. */
export interface Request {
  readonly key: ObjectKey;
  /** Absent for cluster-scoped objects. */
  readonly namespace?: string;
  readonly name: string;
}

/** Why a key was put into the queue; several reasons may have collapsed into one reconcile. */
export interface Cause {
  /** `deployments.apps`, or the name of a source that is no kind. */
  readonly source: string;
  readonly change: "added" | "updated" | "deleted" | "resync" | "retry" | "requeue";
  readonly key: string;
  readonly resourceVersion?: string;
}

/** Brings the object named by the request to its wanted state. */
export type Reconciler = (request: Request, toolbox: Toolbox) => Promise<Result>;

/** What may be done about an object in an Event: its type says whether somebody should worry. */
export type EventType = "Normal" | "Warning";

/** An Event about an object, before it is aggregated and written. */
export interface EventNote {
  readonly regarding: KubeObject;
  readonly type: EventType;
  /** CamelCase word for programs. */
  readonly reason: string;
  /** A sentence for people, at most 1 KiB. */
  readonly note: string;
  /** What the controller was doing. @default "Reconcile" */
  readonly action?: string;
}

/** Where Events go. Never throws and never waits: an Event must not hold up a reconcile. */
export interface EventSink {
  record(event: EventNote): void;
}
