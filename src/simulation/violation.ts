/**
 * The invariants that every run must keep, and how a broken one is reported.
 *
 * Guarantees: {@link invariants} is the only list of them: the type, the messages between processes and the table in
 * docs/SIMULATION.md follow from it.
 */

/** All invariants, with what they promise. */
export const invariants = [
  {
    name: "end-state",
    promise: "Every field of every object is as without faults, and each status describes the newest generation " +
      "(invariants I1, I4).",
  },
  {
    name: "object-lifecycle",
    promise: "Every object was created and deleted as often as without faults (invariant I2).",
  },
  {
    name: "declared-state",
    promise: "What exists at the end depends on what users have declared, not on the changes before.",
  },
  { name: "foreign-objects", promise: "Objects of other owners are neither deleted nor changed (invariant I3)." },
  { name: "lost-update", promise: "No write undoes what another client has changed since the object was read." },
  {
    name: "quiescence",
    promise: "Everything settles, and nothing is written in the minute after that (invariant I5).",
  },
  { name: "one-leader", promise: "No process writes while another one holds the Lease (invariant I6)." },
  {
    name: "shards",
    promise:
      "With sharded replicas: no object is reconciled or has its daemon in two processes at the same time, no slot is " +
      "without a process for longer than the lease duration and 5 s after the last crash, and no process writes after " +
      "its Lease was taken from it.",
  },
  {
    name: "isolation",
    promise:
      "In a fleet, a member with a problem delays no other one: what the others get within 1 s after a step, they " +
      "get within 2 s. Nothing is written in a member that is not engaged.",
  },
  { name: "process-exit", promise: "No process ends, unless a fault ends it or it loses the Lease (invariant I7)." },
  {
    name: "list-count",
    promise:
      "A collection is listed once per start, and once more for each fault that makes it necessary (invariant I8).",
  },
  { name: "cache-contents", promise: "At the end, the caches hold the objects of the server (invariant I9)." },
  {
    name: "activations",
    promise: "At the end, a kind with an activation is watched if and only if its condition holds.",
  },
  {
    name: "handler-events",
    promise:
      "For each object, handlers get the events add, update and delete in this order, no update changes the UID, and at " +
      "the end the handlers know the objects of the server.",
  },
  {
    name: "own-writes",
    promise: "No read of a process is older than the process's own newest write (behaviour 64).",
  },
  {
    name: "retry-count",
    promise: "A success forgets the failures of its key, so the next failure is retried at once.",
  },
  {
    name: "declared-access",
    promise: "No request of a controller is denied because the controller did not declare it (security 7).",
  },
  {
    name: "leaked-object",
    promise: "What a program has created for an object does not stay when that object is deleted, unless it stays " +
      "without faults, too.",
  },
  { name: "starved-key", promise: "No key is given up." },
  { name: "never", promise: "No state exists at any moment that the author has forbidden with `never()`." },
  { name: "eventually", promise: "At the end, everything is true that the author has stated with `eventually()`." },
] as const;

/** The name of an invariant. */
export type Invariant = (typeof invariants)[number]["name"];

/** The names, for example for a schema. */
export const invariantNames: readonly Invariant[] = invariants.map(({ name }) => name);

/** A broken invariant. */
export interface Violation {
  readonly invariant: Invariant;
  readonly message: string;
  /** What it means for a user, in one sentence. @default follows from the invariant */
  readonly consequence?: string;
  /** The object that it is about, if it is one: `configmaps default/web`. */
  readonly object?: string;
  /** Nothing happened too often, only something too rarely, so it may still happen. @default false */
  readonly isOnlyMissing?: boolean;
}
