/**
 * Cluster: one LeaseServer and the replicas of a test, each on a machine and a network of its own, under one true time.
 */
import { seededRandom, VirtualClock } from "../async/mod.ts";
import { Client } from "../client/mod.ts";
import { logger } from "../observe/mod.ts";
import { LeaseServer, type Link, pass } from "./_lease_server.ts";
import { SkewedClock } from "./_skewed_clock.ts";
import { LeaderElector, type LeaderElectorOptions } from "./leader_elector.ts";
import type { Leadership } from "./leadership.ts";

/** A replica, and what a test moves of its machine. */
export interface Replica {
  readonly elector: LeaderElector;
  readonly clock: SkewedClock;
  readonly link: Link;
  readonly stop: AbortController;
}

/** What a replica may have of its own. */
export type ReplicaOptions = Partial<Omit<LeaderElectorOptions, "clock">> & { readonly clock?: SkewedClock };

/** One server and as many replicas as a test wants, under one true time. */
export class Cluster {
  readonly base = new VirtualClock();
  readonly server = new LeaseServer();

  replica(identity: string, options: ReplicaOptions = {}): Replica {
    const clock = options.clock ?? new SkewedClock(this.base);
    const link: Link = { isCut: false, latencyMs: 0, lossRate: 0, refusal: undefined };
    const random = seededRandom(identity.length + 7);
    const client = new Client(this.server.over(link, { base: this.base, clock, random }), { clock });
    const log = logger("test");
    const parts = { client, namespace: "shop", name: "operator", identity, random, log, ...options, clock };
    return { elector: new LeaderElector(parts), clock, link, stop: new AbortController() };
  }

  /** A replica that leads already. */
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

  /** Advances until `promise` settles, and no longer than `ms`. */
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

  get spec(): Readonly<Record<string, unknown>> {
    return this.server.lease?.spec ?? {};
  }
}

/** Why a term was lost. */
export function lossOf(leadership: Leadership): string | undefined {
  return leadership.lost?.loss.kind;
}
