/**
 * One plan for each class of bugs in the corpus: the fault that reveals such a bug, at the point of our own controllers that
 * comes nearest to it. regressions_test.ts runs them, and checks that no class is without a plan.
 *
 * Caveats: our controllers call no external system and allocate nothing; Nodes stand for the one, and labels for the other.
 */
import type { Fault } from "../../src/simulation/mod.ts";

/** Where a class of bugs would show. */
export interface ClassPlan {
  /** The class, as an operator of the corpus names it. */
  readonly class: string;
  readonly controller: string;
  readonly workload: string;
  readonly fault?: Fault;
}

const crash = { kind: "crash", moment: "committed", downMs: 1_000 } as const;
const stale = { kind: "stale", thawMs: 20_000 } as const;
const foo = { controller: "foo" } as const;
const ingress = { controller: "ingress" } as const;
const nodepool = { controller: "nodepool" } as const;
const ecsbinding = { controller: "ecsbinding" } as const;

/** Plans for the classes of the corpus. */
export const classPlans: readonly ClassPlan[] = [
  {
    class: "intermediate state: delete and create again",
    ...foo,
    workload: "delete and create again",
    fault: { ...crash, write: 3 },
  },
  {
    class: "intermediate state: the first child stands for all",
    ...nodepool,
    workload: "create with defaults",
    fault: { ...crash, write: 1 },
  },
  {
    class: "intermediate state: record overwritten before the work",
    ...nodepool,
    workload: "change",
    fault: { ...crash, write: 3 },
  },
  {
    class: "stale state: deletion decided from an old cache",
    ...ingress,
    workload: "change and remove",
    fault: { ...stale, step: 3, back: 3 },
  },
  {
    class: "stale state: scale down by an old cache",
    ...foo,
    workload: "scale",
    fault: { ...stale, step: 2, back: 3 },
  },
  {
    class: "stale state: absence in one cache",
    ...ingress,
    workload: "annotate",
    fault: { ...stale, step: 2, back: 2, only: "services" },
  },
  {
    class: "stale state: allocation from a cache",
    ...ecsbinding,
    workload: "label",
    fault: { kind: "event", event: 2, action: "stall", forMs: 5_000 },
  },
  {
    class: "unobserved state: deletion while the process is down",
    ...foo,
    workload: "create",
    fault: { kind: "restart", step: 1, deletes: 1 },
  },
  {
    class: "unobserved state: a transient annotation",
    ...ingress,
    workload: "change and remove",
    fault: { kind: "event", event: 3, action: "merge", forMs: 5_000 },
  },
  {
    class: "unobserved state: change while the process is down",
    ...nodepool,
    workload: "change",
    fault: { kind: "restart", step: 2, down: true },
  },
  {
    class: "liveness: requeue missing",
    ...foo,
    workload: "a foreign Deployment",
    fault: { kind: "restart", step: 1 },
  },
  {
    class: "liveness: timer only in memory",
    ...foo,
    workload: "create",
    fault: { kind: "crash", write: 1, moment: "before", downMs: 1_000, again: "committed" },
  },
  {
    class: "liveness: changes of a child not watched",
    ...foo,
    workload: "scale",
    fault: { kind: "actor", write: 2, act: "edit" },
  },
  {
    class: "owner recognized by name",
    ...foo,
    workload: "delete and create again",
    fault: { kind: "event", event: 6, action: "merge", forMs: 5_000 },
  },
  {
    class: "AlreadyExists taken for success",
    ...foo,
    workload: "create",
    fault: { kind: "actor", write: 1, act: "replace" },
  },
  {
    class: "conflict taken for success",
    ...ecsbinding,
    workload: "label",
    fault: { kind: "answer", of: "write", request: 1, code: 409 },
  },
  {
    class: "errors ignored",
    ...ingress,
    workload: "annotate",
    fault: { kind: "reset", write: 1, committed: false },
  },
  {
    class: "finalizer added after the work",
    ...nodepool,
    workload: "create with defaults",
    fault: { kind: "answer", of: "write", request: 1, code: 503 },
  },
  {
    class: "finalizer removed too early",
    ...nodepool,
    workload: "delete, and a deleted Node",
    fault: { ...crash, write: 4 },
  },
  {
    class: "finalizer never removed",
    ...nodepool,
    workload: "delete, and a deleted Node",
    fault: { kind: "answer", of: "write", request: 4, code: 504, committed: true },
  },
  {
    class: "finalizers overwritten",
    ...nodepool,
    workload: "create with defaults",
    fault: { kind: "actor", write: 1, act: "annotate" },
  },
  {
    class: "cleanup by the newest spec",
    ...nodepool,
    workload: "delete in the middle",
    fault: { ...crash, write: 2 },
  },
  {
    class: "adoption without a look at the owner",
    ...foo,
    workload: "create",
    fault: { kind: "actor", write: 1, act: "takeover" },
  },
  {
    class: "deletes objects of others with the same label",
    ...ingress,
    workload: "change and remove",
    fault: { kind: "actor", write: 3, act: "replace" },
  },
  {
    class: "owner reference to another namespace",
    ...ingress,
    workload: "change in the middle",
    fault: { kind: "actor", write: 1, act: "takeover" },
  },
  {
    class: "update instead of patch",
    ...foo,
    workload: "scale",
    fault: { kind: "actor", write: 3, act: "annotate" },
  },
  {
    class: "generateName after a lost answer",
    ...foo,
    workload: "create",
    fault: { kind: "reset", write: 1, committed: true },
  },
  {
    class: "order of a list without order",
    ...nodepool,
    workload: "change",
    fault: { kind: "restart", step: 1 },
  },
  {
    class: "observedGeneration before the work",
    ...foo,
    workload: "scale",
    fault: { ...crash, write: 2 },
  },
  {
    class: "observedGeneration of another read",
    ...foo,
    workload: "scale",
    fault: { kind: "slow", write: 2, forMs: 20_000 },
  },
  { class: "hot loop: status written on each pass", ...foo, workload: "scale" },
  { class: "misoperation: a removed value stays", ...nodepool, workload: "change" },
  { class: "misoperation: no rollback from a bad state", ...foo, workload: "pause and resume" },
  { class: "misoperation: the child of a changed name is leaked", ...ecsbinding, workload: "another Node" },
  {
    class: "two controllers with one field",
    ...foo,
    workload: "replicas of others",
    fault: { kind: "actor", write: 2, act: "edit" },
  },
  {
    class: "two controllers with one list",
    ...ecsbinding,
    workload: "label",
    fault: { kind: "actor", write: 1, act: "annotate" },
  },
  {
    class: "state only in memory: a choice",
    ...ecsbinding,
    workload: "another Node",
    fault: { kind: "restart", step: 2 },
  },
  {
    class: "state only in memory: work to be done",
    ...nodepool,
    workload: "delete, and a deleted Node",
    fault: { kind: "crash", write: 3, moment: "before", downMs: 1_000 },
  },
  {
    class: "external system called twice",
    ...nodepool,
    workload: "create with defaults",
    fault: { kind: "answer", of: "write", request: 2, code: 504, committed: true },
  },
  {
    class: "external object leaked",
    ...ecsbinding,
    workload: "a deleted Node",
    fault: { ...stale, step: 3, back: 2 },
  },
  {
    class: "cache read right after a delete or create",
    ...foo,
    workload: "delete and create again",
    fault: { kind: "event", event: 2, action: "stall", forMs: 5_000 },
  },
];
