/** What a Gate is made with, and what it counts. */
import type { Random, VirtualClock } from "../async/mod.ts";
import type { Transport } from "../client/mod.ts";
import type { FaultIndex } from "./_fault_index.ts";
import type { OperatorProcess } from "./_operator_process.ts";
import type { Act } from "./fault_plan.ts";
import type { Trace } from "./trace.ts";

/** What the gate needs. */
export interface GateOptions {
  readonly server: Transport;
  readonly clock: VirtualClock;
  /** Decides what goes first where several could. */
  readonly random: Random;
  readonly faults: FaultIndex;
  readonly trace: Trace;
  /** Ends a process without a word; it is to start again after so long. */
  crash(process: OperatorProcess, downMs: number): void;
  /** Somebody else does something to what was written, or is about to be. */
  act(act: Act, path: string, wanted: string): Promise<void>;
  /** Takes the Lease away. */
  seize(): Promise<void>;
  /** Told of each write that is about to reach the server. */
  onWrite(process: OperatorProcess, request: Request): void;
}

/** How often each kind of point came by. */
export interface PointCounts {
  writes: number;
  /** Writes of the Lease until the last of the other writes. */
  renewals: number;
  reads: number;
  events: number;
  /** Lists of a whole collection, by resource. */
  readonly lists: Map<string, number>;
  /** Faults that make a list necessary, and so did happen. */
  relists: number;
}
