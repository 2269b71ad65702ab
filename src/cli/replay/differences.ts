/** What a replay finds: differences between the recording and this program, and what it cannot compare. */
import type { EntryId, EventEntry, ReconcileEndEntry } from "../../observe/mod.ts";
import type { SentWrite } from "./replayed_requests.ts";

/** An Event that a reconciler has recorded. */
export type SentEvent = Pick<EventEntry, "type" | "reason" | "note" | "object">;

/** How a reconcile has ended. */
export type EndedReconcile = Pick<ReconcileEndEntry, "outcome" | "afterMs" | "error">;

/** What differs. Of `recorded` and `replayed` one may be absent: one side does nothing of that kind. */
export type DifferentPart =
  | { readonly part: "write"; readonly recorded?: SentWrite; readonly replayed?: SentWrite }
  | { readonly part: "outcome"; readonly recorded: EndedReconcile; readonly replayed: EndedReconcile }
  | { readonly part: "event"; readonly recorded?: SentEvent; readonly replayed?: SentEvent }
  /** What a controller decided about a change: `rejected`, `no key`, or the keys. */
  | { readonly part: "decision"; readonly object: string; readonly recorded: string; readonly replayed: string };

/** One difference. */
export type Difference = DifferentPart & {
  /** Milliseconds since the epoch, in the recording. */
  readonly at: number;
  readonly controller: string;
  /** Of the reconciled object. */
  readonly key: string;
  /** The entry of the recording that differs, or after which this program does something else. */
  readonly entry: EntryId;
  /** The entry whose causes led here. */
  readonly cause: EntryId;
};

/** A reconcile that cannot be compared. */
export interface NotCompared {
  readonly at: number;
  readonly controller: string;
  readonly key: string;
  readonly entry: EntryId;
  /** As the rest of a sentence: `it reads Secret "default/a", whose data is in no recording`. */
  readonly reason: string;
}
