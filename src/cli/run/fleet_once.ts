/**
 * FleetOnce: a Fleet that runs until everything is reconciled, for `run --once --clusters`.
 *
 * Guarantees: a cluster in which the controllers do not work after the time limit is given up and reported; the others do not
 * wait longer for it.
 */
import type { Clock } from "../../async/mod.ts";
import type { Fleet } from "../../fleet/mod.ts";

/** Why a cluster was given up. */
export interface ClusterProblem {
  /** `cluster west`, `fleet`. */
  readonly about: string;
  readonly problem: string;
}

/** Options of {@link FleetOnce}. */
export interface FleetOnceOptions {
  readonly clock: Clock;
  /** How long a cluster may have a problem, in milliseconds. */
  readonly timeoutMs: number;
}

export class FleetOnce {
  readonly #fleet: Fleet;
  readonly #options: FleetOnceOptions;
  /** Since when a cluster has a problem; "" is the fleet itself. */
  readonly #since = new Map<string, number>();

  constructor(fleet: Fleet, options: FleetOnceOptions) {
    this.#fleet = fleet;
    this.#options = options;
  }

  async run(stop: AbortSignal): Promise<void> {
    await this.#fleet.run(stop);
  }

  parked(): ReturnType<Fleet["parked"]> {
    return this.#fleet.parked();
  }

  /** True when the clusters that work have nothing to do, and the others were given up. */
  isIdle(): boolean {
    const given = this.#givenUp();
    return given.has("") || this.#fleet.isIdle({ except: new Set(given.keys()) });
  }

  /** The clusters that were given up. */
  problems(): readonly ClusterProblem[] {
    return [...this.#givenUp()].map(([name, problem]) => ({
      about: name === "" ? "fleet" : `cluster ${name}`,
      problem,
    }));
  }

  /** The problems that have lasted longer than the time limit, by cluster. */
  #givenUp(): ReadonlyMap<string, string> {
    const { clock, timeoutMs } = this.#options;
    const now = clock.monotonic();
    const problems = this.#problems();
    for (const name of this.#since.keys()) if (!problems.has(name)) this.#since.delete(name);
    for (const name of problems.keys()) if (!this.#since.has(name)) this.#since.set(name, now);
    return new Map([...problems].filter(([name]) => now - (this.#since.get(name) ?? now) >= timeoutMs));
  }

  #problems(): ReadonlyMap<string, string> {
    const clusters = this.#fleet.clusters();
    const found = clusters.flatMap(({ name, problem }) => problem === undefined ? [] : [[name, problem] as const]);
    if (clusters.length > 0) return new Map(found);
    const problem = this.#fleet.checks().find(({ name }) => name === "fleet")?.problem();
    return new Map(problem === undefined ? [] : [["", problem]]);
  }
}
