/** Lets the lines of a watch through to the operator, and does to them what the plan says. */
import { errorStatus } from "./_answers.ts";
import type { OperatorProcess } from "./_operator_process.ts";
import type { WatchLine, WatchPipe } from "./_watch_pipe.ts";
import type { EventAction, Fault } from "./fault_plan.ts";
import type { TraceActor, TraceEntry } from "./trace.ts";

/** What delivering needs of the gate. */
export interface Delivering {
  /** Virtual time. */
  now(): number;
  /** Counts an event. @returns its number */
  nextEvent(): number;
  /** The last one was not let through after all. */
  uncount(): void;
  /** A fault makes a list necessary. */
  relist(): void;
  /** The server forgets what was before a change. */
  compact(resource: string, version: string | undefined): void;
  stall(pipe: WatchPipe, forMs: number): void;
  faultsAt(event: number): readonly Extract<Fault, { kind: "event" }>[];
  note(actor: TraceActor, what: string, entry: Partial<TraceEntry>): void;
}

/** Lets through what waits. */
export function deliver(
  { process, pipe }: { readonly process: OperatorProcess; readonly pipe: WatchPipe },
  gate: Delivering,
): void {
  const lines = pipe.take(gate.now());
  for (const [index, line] of lines.entries()) {
    if (!isChange(line)) {
      pipe.send([line]);
      continue;
    }
    const event = gate.nextEvent();
    const { namespace, name, resourceVersion } = line.object.metadata;
    const key = namespace === undefined ? name : `${namespace}/${name}`;
    const what = `${line.type} ${pipe.resource} ${key}`;
    const [fault] = gate.faultsAt(event);
    if (fault === undefined) {
      gate.note("operator", what, { process: process.id, detail: `event ${event}`, resourceVersion });
      pipe.send([line]);
      continue;
    }
    gate.note("fault", what, { process: process.id, detail: `${fault.action} at event ${event}`, resourceVersion });
    const harm = { line, rest: lines.slice(index + 1), action: fault.action, forMs: fault.forMs };
    if (!harmed(pipe, harm, gate)) return;
  }
  pipe.endIfOver();
}

interface Harm {
  readonly line: WatchLine;
  readonly rest: readonly WatchLine[];
  readonly action: EventAction;
  readonly forMs: number;
}

/** @returns false when the rest of the lines is not to be let through now */
function harmed(pipe: WatchPipe, { line, rest, action, forMs }: Harm, gate: Delivering): boolean {
  switch (action) {
    case "stall":
    case "merge":
      pipe.prepend([line, ...rest]);
      gate.uncount();
      pipe.merges = action === "merge";
      gate.stall(pipe, forMs);
      return false;
    case "duplicate":
      pipe.send([line, line]);
      return true;
    case "cut":
      pipe.send([line]);
      pipe.end({ kind: "closed" });
      return false;
    case "corrupt":
      pipe.sendText(JSON.stringify(line).slice(0, 40));
      pipe.end({ kind: "closed" });
      return false;
    case "gone":
    case "error":
      gate.relist();
      if (action === "gone") gate.compact(pipe.resource, line.object.metadata.resourceVersion);
      pipe.sendText(`${JSON.stringify({ type: "ERROR", object: errorStatus(action === "gone" ? 410 : 500) })}\n`);
      pipe.end({ kind: "closed" });
      return false;
    default:
      return action satisfies never;
  }
}

function isChange({ type, isInitial }: WatchLine): boolean {
  return !isInitial && (type === "ADDED" || type === "MODIFIED" || type === "DELETED");
}
