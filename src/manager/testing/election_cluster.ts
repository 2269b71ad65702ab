/** ElectionCluster: one FakeLeaseServer and the replicas of a test, each with its own clock and network link. */
import { seededRandom, VirtualClock } from "../../async/mod.ts";
import { Client } from "../../client/mod.ts";
import { logger } from "../../observe/mod.ts";
import { LeaderElector, type LeaderElectorOptions, type Leadership } from "../election/mod.ts";
import { FakeLeaseServer, type Link, pass, perfectLink } from "./fake_lease_server.ts";
import { SkewedClock } from "./skewed_clock.ts";

/** A replica, and what a test can change of its machine. */
export interface Replica {
  readonly elector: LeaderElector;
  readonly clock: SkewedClock;
  readonly link: Link;
  readonly stop: AbortController;
}

/** The options of the elector of a replica. */
export type ReplicaOptions = Partial<Omit<LeaderElectorOptions, "clock">> & { readonly clock?: SkewedClock };

export class ElectionCluster {
  /** The true time, from which the clocks of the replicas differ. */
  readonly base = new VirtualClock();
  readonly server = new FakeLeaseServer();

  replica(identity: string, options: ReplicaOptions = {}): Replica {
    const clock = options.clock ?? new SkewedClock(this.base);
    const link = perfectLink();
    const random = seededRandom(identity.length + 7);
    const client = new Client(this.server.over(link, { base: this.base, clock, random }), { clock });
    const log = logger("test");
    const parts = { client, namespace: "shop", name: "operator", identity, random, log, ...options, clock };
    return { elector: new LeaderElector(parts), clock, link, stop: new AbortController() };
  }

  /** A replica that already leads. */
  async leader(
    identity: string,
    options: ReplicaOptions = {},
  ): Promise<Replica & { leadership: Leadership }> {
    const replica = this.replica(identity, options);
    const leadership = await this.within(100, replica.elector.acquire(replica.stop.signal));
    return { ...replica, leadership };
  }

  async pass(ms: number): Promise<void> {
    await pass(this.base, ms);
  }

  /** Advances until `promise` settles. @throws Error when it does not settle within `ms` */
  async within<T>(ms: number, promise: Promise<T>): Promise<T> {
    let isSettled = false;
    const settled = () => isSettled = true;
    promise.then(settled, settled);
    const until = this.base.monotonic() + ms;
    await pass(this.base, 0);
    while (!isSettled) {
      const nextMs = this.base.nextTimerInMs ?? Infinity;
      if (this.base.monotonic() + nextMs > until) throw new Error(`Cannot await: not settled after ${ms} ms`);
      await pass(this.base, nextMs);
    }
    return await promise;
  }

  /** The spec of the Lease on the server. */
  get spec(): Readonly<Record<string, unknown>> {
    return this.server.lease?.spec ?? {};
  }
}

/** Why a term was lost; undefined if it was not. */
export function lossOf(leadership: Leadership): string | undefined {
  return leadership.lost?.loss.kind;
}
