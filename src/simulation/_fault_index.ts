/** The faults of a plan, found by the point of the run they belong to. Each is given out once. */
import type { Fault, FaultPlan } from "./fault_plan.ts";

type FaultOf<Kind extends Fault["kind"]> = Extract<Fault, { kind: Kind }>;

/** Faults at a write. */
export type WriteFault = FaultOf<"crash" | "reset" | "slow" | "partition" | "actor" | "lease" | "pause" | "answer">;

/** Faults at a write of the Lease. */
export type RenewalFault = FaultOf<"renewal" | "pause">;

/** The faults that have not happened yet. */
export class FaultIndex {
  readonly #writes = new Map<number, WriteFault[]>();
  readonly #renewals = new Map<number, RenewalFault[]>();
  readonly #reads = new Map<number, FaultOf<"answer">[]>();
  readonly #events = new Map<number, FaultOf<"event">[]>();
  readonly #restarts = new Map<number, FaultOf<"stale">[]>();
  readonly #jumps = new Map<number, FaultOf<"skew">[]>();

  constructor({ faults }: FaultPlan) {
    for (const fault of faults) {
      switch (fault.kind) {
        case "answer":
          add(fault.of === "write" ? this.#writes : this.#reads, fault.request, fault);
          break;
        case "event":
          add(this.#events, fault.event, fault);
          break;
        case "stale":
          add(this.#restarts, fault.step, fault);
          break;
        case "skew":
          add(this.#jumps, fault.step, fault);
          break;
        case "renewal":
          add(this.#renewals, fault.renewal, fault);
          break;
        case "pause":
          if (fault.of === "renewal") add(this.#renewals, fault.request, fault);
          else add(this.#writes, fault.request, fault);
          break;
        case "crash": {
          const { write, moment, downMs, again } = fault;
          add(this.#writes, write, { kind: "crash", write, moment, downMs });
          if (again !== undefined) {
            add(this.#writes, write + 1, { kind: "crash", write: write + 1, moment: again, downMs });
          }
          break;
        }
        default:
          add(this.#writes, fault.write, fault);
      }
    }
  }

  atWrite(write: number): readonly WriteFault[] {
    return taken(this.#writes, write);
  }

  atRenewal(renewal: number): readonly RenewalFault[] {
    return taken(this.#renewals, renewal);
  }

  atRead(read: number): readonly FaultOf<"answer">[] {
    return taken(this.#reads, read);
  }

  atEvent(event: number): readonly FaultOf<"event">[] {
    return taken(this.#events, event);
  }

  beforeStep(step: number): readonly FaultOf<"skew">[] {
    return taken(this.#jumps, step);
  }

  afterStep(step: number): readonly FaultOf<"stale">[] {
    return taken(this.#restarts, step);
  }
}

function add<T>(map: Map<number, T[]>, point: number, fault: T): void {
  const present = map.get(point);
  if (present === undefined) map.set(point, [fault]);
  else present.push(fault);
}

function taken<T>(map: Map<number, T[]>, point: number): readonly T[] {
  const faults = map.get(point);
  if (faults === undefined) return [];
  map.delete(point);
  return faults;
}
