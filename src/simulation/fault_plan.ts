/**
 * FaultPlan: which faults happen at which points of a run, as plain data. A plan can be printed, stored in a file, shrunk and
 * run again. Points are counted from 1: the operator's n-th write (without Events and Leases), its n-th read, the n-th watch
 * event that it receives, the n-th step of the workload, and with several replicas the n-th write of the Lease.
 *
 * Guarantees: {@link faultSchemas} is the only list of faults: the type, the check of `simulate --plan` and the table in
 * docs/SIMULATION.md follow from it. A fault at a point that a run does not reach has no effect.
 */
import { z } from "zod";

/** When a process ends that is about to write: before the write, or before or after the operator gets the response. */
export const crashMoments = ["before", "committed", "answered"] as const;

/** What happens to a watch event, or to its stream. */
export const eventActions = ["merge", "stall", "duplicate", "cut", "corrupt", "gone", "error"] as const;

/**
 * What a user does to the object of a write. Right after the write: deletes it, edits it, or gives it another controller for
 * 20 s ("takeover"). Right before the write: puts an object without an owner in its place for 20 s ("replace"), or adds an
 * annotation, and a finalizer to a list of finalizers that is about to be written ("annotate").
 */
export const userActions = ["delete", "edit", "replace", "takeover", "annotate"] as const;

/** What is wrong with a member of a fleet, or with the way to it. */
export const memberStates = ["lost", "silent", "slow", "lying", "disengaged"] as const;

const count = z.int().min(1);

/** A point by what happens there, for programs whose requests have other numbers in each run. */
const namedPoint = z.object({
  /** Of a request: create, patch, delete ... Of a watch event: ADDED, MODIFIED, DELETED. */
  verb: z.string(),
  /** `deployments.apps`, with the subresource: `deployments.apps/status`. */
  resource: z.string(),
  /** `namespace/name`. @default any object */
  name: z.string().optional(),
  /** The first one is 1. */
  occurrence: count,
  /** Counts from the start of this step of the workload on. @default from the start of the run */
  step: z.int().min(1).optional(),
});

const point = z.union([count, namedPoint]);
const ms = z.int().min(0).max(86_400_000);

/** All kinds of faults, with their fields and a description. */
export const faultSchemas = [
  z.object({
    kind: z.literal("crash"),
    write: point,
    moment: z.enum(crashMoments),
    /** The process starts again after this time. */
    downMs: ms,
    /** A second crash around the next write. */
    again: z.enum(crashMoments).optional(),
  }).describe(
    "The process ends before a write, after the write but before its response, or before its next request. " +
      "With `again`, it ends once more around the next write.",
  ),
  z.object({
    kind: z.literal("restart"),
    /** The restart follows this step, once everything has settled. */
    step: count,
    /** The process is down while the step happens, and starts after it. */
    down: z.boolean().optional(),
    /** While the process is down, a user deletes this dependent: its number from 1, in the order of collections and names. */
    deletes: count.optional(),
  }).describe(
    "The process restarts when everything has settled after a step, so that it knows only what the server has. With `down`, " +
      "it misses the step; with `deletes`, a user deletes a dependent in the meantime.",
  ),
  z.object({
    kind: z.literal("stale"),
    /** The restart follows this step. */
    step: count,
    /** How many changes the server is behind. */
    back: z.int().min(0),
    thawMs: ms,
    /** What the server has just stored when it stops to keep up; `back` does not count then. */
    at: namedPoint.optional(),
    /** Limits it to one collection (`deployments.apps`), as each has its own watch cache. */
    only: z.string().optional(),
    /** The next step does not wait until the server has caught up. */
    early: z.boolean().optional(),
  }).describe(
    "The process restarts on a server whose lists and watches show an older revision for 20 s. " +
      "With `only`, this affects one collection. With `early`, the next step comes during that time.",
  ),
  z.object({
    kind: z.literal("answer"),
    of: z.enum(["write", "read"]),
    request: point,
    code: z.literal([409, 410, 429, 500, 503, 504]),
    /** The server executes the request, and only the response is replaced. */
    committed: z.boolean().optional(),
    retryAfterSeconds: z.int().min(0).optional(),
  }).describe(
    "A request gets the response 409, 410, 429, 500 or 503, or 504 although the server has executed it (`committed`).",
  ),
  z.object({ kind: z.literal("reset"), write: point, committed: z.boolean() })
    .describe("The connection breaks before a write arrives, or before its response arrives (`committed`)."),
  z.object({ kind: z.literal("slow"), write: point, forMs: ms })
    .describe("The response to a write takes 20 s; the reconciler waits for it."),
  z.object({ kind: z.literal("event"), event: point, action: z.enum(eventActions), forMs: ms }).describe(
    "A watch event is delayed (`stall`), merged with the following ones (`merge`), sent twice (`duplicate`), followed by " +
      "the end of the stream (`cut`), corrupted (`corrupt`), or replaced by a 500 (`error`) or by a 410 (`gone`, which also " +
      "compacts the history for all watches of the collection).",
  ),
  z.object({
    kind: z.literal("partition"),
    write: point,
    forMs: ms,
    /** Limits it to the requests about Leases. */
    only: z.literal("leases").optional(),
  }).describe(
    "From this write on, no request arrives for 20 s, and all watches break. With several replicas also only the requests " +
      "about Leases (`only`): the process goes on, and cannot renew.",
  ),
  z.object({
    kind: z.literal("scale"),
    write: point,
    by: z.enum(["join", "leave"]),
    /** The replica that joined leaves after this time; the one that left starts again. */
    forMs: ms,
  }).describe(
    "With sharded replicas: before a write, another replica starts and leaves in order after 30 s (`join`), or the replica " +
      "that is about to write leaves in order and starts again after 30 s (`leave`).",
  ),
  z.object({ kind: z.literal("actor"), write: point, act: z.enum(userActions) }).describe(
    "A user deletes or edits the object of a write, puts a foreign object in its place right before the write " +
      "(`replace`), or gives it another controller (`takeover`). The last two are undone after 20 s. With `annotate`, another " +
      "client adds an annotation or a finalizer right before the write, which must not undo it.",
  ),
  z.object({
    kind: z.literal("skew"),
    /** Before this step. */
    step: count,
    /** Moves the wall clock of every process. */
    byMs: z.int(),
    /** The speed of the first process's wall clock, for `forMs`. */
    rate: z.number().min(0).max(1_000).optional(),
    forMs: ms.optional(),
  }).describe(
    "The wall clock of all processes jumps by an hour, or that of one process runs at a fifth of its speed or five times " +
      "as fast for a minute (`rate`).",
  ),
  z.object({
    kind: z.literal("member"),
    /** Before this step. */
    step: count,
    state: z.enum(memberStates),
    /** @default for good */
    forMs: ms.optional(),
  }).describe(
    "In a fleet (`--clusters`), before a step and for 120 s: the API server of the first member is gone (`lost`), loses every " +
      "packet (`silent`), takes 2 s for each request and each part of a response (`slow`), another program answers nonsense " +
      "at its address (`lying`), or the provider does not report the member (`disengaged`). `lost` also for good.",
  ),
  z.object({ kind: z.literal("lease"), write: point })
    .describe("With several replicas: a user deletes the Lease before this write."),
  z.object({ kind: z.literal("renewal"), renewal: point, committed: z.boolean(), forMs: ms }).describe(
    "With several replicas: a write of the Lease, or its response (`committed`), takes 12 s. The write arrives even if the " +
      "process no longer waits for it.",
  ),
  z.object({
    kind: z.literal("pause"),
    of: z.enum(["write", "renewal"]),
    request: point,
    forMs: ms,
    /** Moves the wall clock of the process during the pause. */
    wallByMs: z.int().optional(),
  }).describe(
    "The process stops for 20 s when it is about to send a write or a renewal of the Lease (as with SIGSTOP or swapping). " +
      "With several replicas also while its wall clock is set back by an hour.",
  ),
] as const;

/** A point that is named by what happens there: the second DELETE of an object, for example. */
export type NamedPoint = Readonly<z.output<typeof namedPoint>>;

/** A point of a run: its number, or what happens there. */
export type FaultPoint = number | NamedPoint;

/** What happens at a point. */
export type PointName = Pick<Required<NamedPoint>, "verb" | "resource" | "name">;

type EachReadonly<Value> = Value extends unknown ? Readonly<Value> : never;

/** One fault. */
export type Fault = EachReadonly<z.output<(typeof faultSchemas)[number]>>;

/** The name of a kind of fault. */
export type FaultKind = Fault["kind"];

/** The faults of one kind, or of several. */
export type FaultOf<Kind extends FaultKind> = Extract<Fault, { kind: Kind }>;

export type CrashMoment = (typeof crashMoments)[number];
export type EventAction = (typeof eventActions)[number];
export type UserAction = (typeof userActions)[number];

type Kinds<Schemas extends readonly z.ZodType<Fault>[]> = {
  [Index in keyof Schemas]: z.output<Schemas[Index]>["kind"];
};

/** The kinds of faults, in the order of {@link faultSchemas}. */
// map() of a tuple has the type of an array; its elements keep their places.
export const faultKinds = faultSchemas.map(({ shape }) => shape.kind.value) as unknown as Readonly<
  Kinds<typeof faultSchemas>
>;

/** The faults of one run. */
export interface FaultPlan {
  readonly faults: readonly Fault[];
}

/** Checks a plan that was read from JSON. */
export const faultPlanSchema: z.ZodType<FaultPlan> = z.object({
  faults: z.array(z.discriminatedUnion("kind", faultSchemas)),
});

/** The plan without faults. */
export const noFaults: FaultPlan = { faults: [] };

/** Describes a fault in one line. */
export function faultText(fault: Fault): string {
  switch (fault.kind) {
    case "crash":
      return `crash ${momentText[fault.moment]} ${pointText("write", fault.write)}${
        fault.again === undefined ? "" : `, and again ${momentText[fault.again]} the next write`
      }`;
    case "restart":
      return restartText(fault);
    case "stale":
      return `restart after step ${fault.step} on a server that ${behindText(fault)}${
        fault.only === undefined ? "" : ` for ${fault.only}`
      }${fault.early === true ? ", and the next step at once" : ""}`;
    case "answer":
      return `response ${fault.code} to ${pointText(fault.of, fault.request)}${
        fault.committed === true ? ", which was executed" : ""
      }`;
    case "reset":
      return `connection reset ${fault.committed ? "after" : "before"} ${pointText("write", fault.write)}`;
    case "slow":
      return `${pointText("write", fault.write)} takes ${fault.forMs} ms`;
    case "event":
      return `${fault.action} at ${pointText("watch event", fault.event)}`;
    case "partition":
      return `network partition ${fault.only === undefined ? "" : "from the Leases "}from ` +
        `${pointText("write", fault.write)} on, for ${fault.forMs} ms`;
    case "scale":
      return `${fault.by === "join" ? "another replica joins" : "the replica leaves"} before ${
        pointText("write", fault.write)
      }, for ${fault.forMs} ms`;
    case "actor":
      return `a user ${actionText[fault.act]} the object of ${pointText("write", fault.write)}`;
    case "skew":
      return `wall clock ${signed(fault.byMs)} before step ${fault.step}${
        fault.rate === undefined ? "" : `, then ${fault.rate} times as fast for ${fault.forMs} ms`
      }`;
    case "member":
      return `the first member is ${fault.state} from step ${fault.step} on, ${
        fault.forMs === undefined ? "for good" : `for ${fault.forMs} ms`
      }`;
    case "lease":
      return `Lease deleted before ${pointText("write", fault.write)}`;
    case "renewal":
      return `${fault.committed ? "the response to " : ""}${
        pointText("renewal", fault.renewal)
      } takes ${fault.forMs} ms`;
    case "pause":
      return `process paused for ${fault.forMs} ms before ${pointText(fault.of, fault.request)}${
        fault.wallByMs === undefined ? "" : `, wall clock ${signed(fault.wallByMs)}`
      }`;
    default:
      return fault satisfies never;
  }
}

/** `write 3`, `the second delete of pods default/web-0`. */
function pointText(what: string, point: FaultPoint): string {
  if (typeof point === "number") return `${what} ${point}`;
  const { verb, resource, name = "", step } = point;
  const object = `${resource}${name === "" ? "" : ` ${name}`}`;
  return `${ordinal(point.occurrence)} ${verb} of ${object}${step === undefined ? "" : ` in step ${step}`}`;
}

function ordinal(number: number): string {
  return ["the first", "the second", "the third"][number - 1] ?? `number ${number}:`;
}

function restartText({ step, down, deletes }: FaultOf<"restart">): string {
  if (down === true) return `the process is down during step ${step}`;
  if (deletes === undefined) return `restart after step ${step}`;
  return `restart after step ${step}, while a user deletes dependent ${deletes}`;
}

function behindText({ back, at }: FaultOf<"stale">): string {
  return at === undefined ? `is ${back} changes behind` : `shows the state after ${pointText("change", at)}`;
}

const momentText: Readonly<Record<CrashMoment, string>> = {
  before: "before",
  committed: "before the response to",
  answered: "after the response to",
};

const actionText: Readonly<Record<UserAction, string>> = {
  delete: "deletes",
  edit: "edits",
  replace: "replaces",
  takeover: "takes over",
  annotate: "annotates",
};

function signed(ms: number): string {
  return `${ms < 0 ? "-" : "+"}${Math.abs(ms)} ms`;
}

/** Faults at a write. */
export type WriteFault = FaultOf<
  "crash" | "reset" | "slow" | "partition" | "scale" | "actor" | "lease" | "pause" | "answer"
>;

/** Faults at a write of the Lease. */
export type RenewalFault = FaultOf<"renewal" | "pause">;
