/**
 * FaultIndex: the faults of a plan by their points. A run asks it at each point, by the number of the point and by what happens
 * there.
 *
 * Guarantees: each fault is returned once. Without named points in the plan, nothing is counted.
 */
import type {
  Fault,
  FaultOf,
  FaultPlan,
  FaultPoint,
  NamedPoint,
  PointName,
  RenewalFault,
  WriteFault,
} from "./fault_plan.ts";

/** The faults of one kind of point. */
class FaultsAt<F extends Fault> {
  readonly #numbered = new Map<number, F[]>();
  /** By name and occurrence, see {@link nameOf}. */
  readonly #named = new Map<string, F[]>();
  readonly #occurrences = new Map<string, number>();
  #step = 0;

  add(point: FaultPoint, fault: F): void {
    if (typeof point === "number") return addTo(this.#numbered, point, fault);
    addTo(this.#named, `${point.occurrence} ${nameOf(point, point.step)}`, fault);
  }

  startStep(step: number): void {
    this.#step = step;
  }

  take(number: number, point?: PointName): readonly F[] {
    const faults = takeFrom(this.#numbered, number);
    if (this.#named.size === 0 || point === undefined) return faults;
    const ofAny = { ...point, name: "" };
    const names = [point, ofAny].flatMap((one) => [nameOf(one), nameOf(one, this.#step)]);
    const named = [...new Set(names)].flatMap((one) => {
      const occurrence = (this.#occurrences.get(one) ?? 0) + 1;
      this.#occurrences.set(one, occurrence);
      return takeFrom(this.#named, `${occurrence} ${one}`);
    });
    return [...faults, ...named];
  }
}

function nameOf({ verb, resource, name = "" }: Omit<NamedPoint, "occurrence">, step = 0): string {
  return `${step} ${verb} ${resource} ${name}`;
}

function takeFrom<Key, Value>(map: Map<Key, Value[]>, key: Key): readonly Value[] {
  const values = map.get(key) ?? [];
  map.delete(key);
  return values;
}

function addTo<Key, Value>(map: Map<Key, Value[]>, key: Key, value: Value): void {
  const present = map.get(key);
  if (present === undefined) map.set(key, [value]);
  else present.push(value);
}

/** The kinds of points that have names. */
export type PointKind = "write" | "renewal" | "read" | "event";

/** Called when a run passes a point. */
export type OnPoint = (kind: PointKind, point: PointName) => void;

/** The faults of a plan by their points. Each is returned once. */
export class FaultIndex {
  readonly #writes = new FaultsAt<WriteFault>();
  readonly #renewals = new FaultsAt<RenewalFault>();
  readonly #reads = new FaultsAt<FaultOf<"answer">>();
  readonly #events = new FaultsAt<FaultOf<"event">>();
  readonly #restarts = new FaultsAt<FaultOf<"stale">>();
  readonly #ordinaryRestarts = new FaultsAt<FaultOf<"restart">>();
  readonly #jumps = new FaultsAt<FaultOf<"skew">>();
  readonly #members = new FaultsAt<FaultOf<"member">>();
  readonly #onPoint: OnPoint;
  #applied = 0;

  /** @param onPoint called at each point that has a name */
  constructor({ faults }: FaultPlan, onPoint: OnPoint = () => {}) {
    this.#onPoint = onPoint;
    for (const fault of faults) this.#add(fault);
  }

  /** The number of faults whose point was reached. */
  get applied(): number {
    return this.#applied;
  }

  /** Named points can count from here. @param step from 1 */
  startStep(step: number): void {
    for (const faults of [this.#writes, this.#renewals, this.#reads, this.#events]) faults.startStep(step);
  }

  atWrite(write: number, point?: PointName): readonly WriteFault[] {
    if (point !== undefined) this.#onPoint("write", point);
    const faults = this.#count(this.#writes.take(write, point));
    for (const fault of faults) {
      if (fault.kind !== "crash" || fault.again === undefined) continue;
      const { downMs, again: moment } = fault;
      this.#writes.add(write + 1, { kind: "crash", write: write + 1, moment, downMs });
    }
    return faults;
  }

  atRenewal(renewal: number, point?: PointName): readonly RenewalFault[] {
    if (point !== undefined) this.#onPoint("renewal", point);
    return this.#count(this.#renewals.take(renewal, point));
  }

  atRead(read: number, point?: PointName): readonly FaultOf<"answer">[] {
    if (point !== undefined) this.#onPoint("read", point);
    return this.#count(this.#reads.take(read, point));
  }

  atEvent(event: number, point?: PointName): readonly FaultOf<"event">[] {
    if (point !== undefined) this.#onPoint("event", point);
    return this.#count(this.#events.take(event, point));
  }

  beforeStep(step: number): readonly FaultOf<"skew">[] {
    return this.#count(this.#jumps.take(step));
  }

  /** The faults of a member of a fleet that begin with a step. */
  membersAt(step: number): readonly FaultOf<"member">[] {
    return this.#count(this.#members.take(step));
  }

  afterStep(step: number): readonly FaultOf<"stale">[] {
    return this.#count(this.#restarts.take(step));
  }

  /** The restarts on a server that is not behind. */
  restartsAt(step: number): readonly FaultOf<"restart">[] {
    return this.#count(this.#ordinaryRestarts.take(step));
  }

  #count<F>(faults: readonly F[]): readonly F[] {
    this.#applied += faults.length;
    return faults;
  }

  #add(fault: Fault): void {
    switch (fault.kind) {
      case "answer":
        return (fault.of === "write" ? this.#writes : this.#reads).add(fault.request, fault);
      case "event":
        return this.#events.add(fault.event, fault);
      case "stale":
        return this.#restarts.add(fault.step, fault);
      case "restart":
        return this.#ordinaryRestarts.add(fault.step, fault);
      case "skew":
        return this.#jumps.add(fault.step, fault);
      case "member":
        return this.#members.add(fault.step, fault);
      case "renewal":
        return this.#renewals.add(fault.renewal, fault);
      case "pause":
        return fault.of === "renewal"
          ? this.#renewals.add(fault.request, fault)
          : this.#writes.add(fault.request, fault);
      default:
        return this.#writes.add(fault.write, fault);
    }
  }
}
