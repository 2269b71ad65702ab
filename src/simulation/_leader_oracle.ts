/**
 * LeaderOracle: which replica holds the Lease of a run, as the server knows it. The renew time is when the Lease changed on the
 * server: the times inside the Lease come from clocks that may be wrong.
 */
import { builtin, type KubeObject } from "../api/mod.ts";
import type { Manager, ManagerElection, OperatorController } from "../manager/mod.ts";
import { leaderLease } from "./_baseline.ts";
import type { OperatorProcess } from "./_operator_process.ts";
import type { SimulatedServer } from "./_simulated_server.ts";

const { namespace, name } = leaderLease;
const leaseCollection = "leases.coordination.k8s.io";

/** After a user deletes the Lease, the leader learns of it by its next renewal, within this time. */
const unawareMs = 10_000;

interface Lease extends KubeObject {
  readonly spec?: {
    readonly holderIdentity?: string;
    readonly leaseDurationSeconds?: number;
  };
}

/** Observes the Lease. */
export class LeaderOracle {
  readonly #server: SimulatedServer;
  /** The controllers that every replica runs, whether it leads or not. */
  readonly #onEvery: ReadonlySet<string>;
  #version: number | undefined;
  #changedAt = 0;
  #deletedAt = -Infinity;

  constructor(server: SimulatedServer, controllers: readonly OperatorController[] = []) {
    this.#server = server;
    this.#onEvery = new Set(controllers.filter(({ options }) => options.replicas === "every").map(({ name }) => name));
  }

  /** True for a request that only the leader may send. */
  concerns(request: Request): boolean {
    if (this.#onEvery.size === 0) return true;
    return !this.#onEvery.has(this.#server.accounts.controllerOf(request) ?? "");
  }

  /** True while a process works on keys that have nothing to do with leadership. */
  hasOtherWork(manager: Pick<Manager, "activity">): boolean {
    if (this.#onEvery.size === 0) return false;
    return manager.activity().some((one) => this.#onEvery.has(one.controller) && one.queued + one.running > 0);
  }

  /** The election options of a replica. */
  electionOf(id: number): ManagerElection {
    return { namespace, name, identity: `process-${id}` };
  }

  /** Must be called before the clock advances. @param now virtual milliseconds */
  observe(now: number): void {
    const version = this.#server.revisionOf(leaseCollection, namespace, name);
    if (version === this.#version) return;
    this.#version = version;
    this.#changedAt = now;
  }

  /** Whether a user has deleted the Lease in this run. */
  get wasDeleted(): boolean {
    return this.#deletedAt > -Infinity;
  }

  /** The identity of another process that holds the Lease. @returns undefined also when the process cannot know it yet */
  otherHolder({ id }: OperatorProcess, now: number): string | undefined {
    this.observe(now);
    if (now - this.#deletedAt < unawareMs) return undefined;
    const { holderIdentity = "", leaseDurationSeconds = 0 } = this.#lease()?.spec ?? {};
    if (holderIdentity === "" || holderIdentity === `process-${id}`) return undefined;
    const hasExpired = this.#changedAt + leaseDurationSeconds * 1_000 < now;
    return hasExpired ? undefined : holderIdentity;
  }

  /** Deletes the Lease as a user. @param now virtual milliseconds */
  async deleteLease(now: number): Promise<void> {
    this.#deletedAt = now;
    await this.#server.client.delete(builtin.Lease, `${namespace}/${name}`).catch(() => {});
  }

  #lease(): Lease | undefined {
    return this.#server.find(leaseCollection, namespace, name);
  }
}
