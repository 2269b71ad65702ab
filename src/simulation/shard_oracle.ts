/**
 * ShardOracle: whether the replicas of a run that divide the keys keep what sharding promises: no object is reconciled, or has
 * its daemon, in two of them at the same time, no slot is without a replica for longer than the lease duration and 5 s, and
 * none writes after its Lease was taken from it. What holds is judged by the Leases on the server and by the clock of the run.
 */
import { builtin, type KubeObject } from "../api/mod.ts";
import {
  claimAnnotation,
  type OperatorController,
  parseSlots,
  type ShardingOptions,
  shardsOf,
  slotCount,
} from "../manager/mod.ts";
import { leaderLease } from "./_baseline.ts";
import type { OperatorProcess } from "./_operator_process.ts";
import type { SimulatedServer } from "./_simulated_server.ts";
import type { Violation } from "./violation.ts";

const { namespace, name: group } = leaderLease;
const leaseCollection = "leases.coordination.k8s.io";

/** The duration of a Lease, and 5 s. */
const maxUnheldMs = 20_000;
/** After a user deletes a Lease, its replica learns of it within this time, and a new replica cannot know of it. */
const unawareMs = 10_000;
/** The others wait so long for a replica that has gone before it claimed a slot of its own: 5 s of silence, and a look. */
const silentMs = 8_000;
/** How often the slots are looked at. */
const everyMs = 1_000;
/** Violations that are reported for one run. */
const maxReported = 5;

interface Lease extends KubeObject {
  readonly spec?: { readonly holderIdentity?: string };
}

/** A replica that was started in the run. */
interface Replica {
  readonly process: OperatorProcess;
  /** Since when it can see the Leases of the others, without a pause. */
  seesSince: number;
  /** When its Lease has changed on the server, and to which version. */
  changedAt: number;
  version: string | undefined;
}

/** A reconcile or a daemon that runs. */
interface Running {
  readonly process: OperatorProcess;
  readonly controller: string;
  readonly uid: string;
  readonly what: "is reconciled" | "has its daemon";
  /** A reconcile whose slot was lost counts as ended. A daemon has the slot until it has returned. */
  readonly hasEnded: () => boolean;
}

export class ShardOracle {
  readonly #server: SimulatedServer;
  readonly #running = new Set<Running>();
  readonly #replicas: Replica[] = [];
  readonly #violations: Violation[] = [];
  /** Since when each slot has no replica; -1 while it has one. */
  readonly #unheldSince: number[] = Array.from({ length: slotCount }, () => 0);
  /** When the last Lease has changed that claims a slot for a replica which cannot renew it. */
  readonly #blockedAt: number[] = [];
  /** When the last Lease has changed of a replica that cannot renew it. */
  #awayAt = -Infinity;
  #observedAt = 0;
  #deletedAt = -Infinity;

  constructor(server: SimulatedServer) {
    this.#server = server;
  }

  get violations(): readonly Violation[] {
    return this.#violations.slice(0, maxReported);
  }

  /** True while a slot has no replica: what its next one does is still to come. */
  get hasUnheldSlot(): boolean {
    return this.#unheldSince.some((since) => since >= 0);
  }

  /** Whether a user has deleted a Lease in this run. */
  get wasDeleted(): boolean {
    return this.#deletedAt > -Infinity;
  }

  /** The options of a replica. */
  shardingOf(id: number): ShardingOptions {
    return { namespace, name: group, identity: `process-${id}` };
  }

  /** The controllers of a process, observed. @param process is called later: it has the controllers */
  observed(
    controllers: readonly OperatorController[],
    process: () => OperatorProcess,
    now: () => number,
  ): readonly OperatorController[] {
    return controllers.map((controller) => {
      const { daemon, name, options, primary } = controller;
      const observe = async <Result>(
        key: string,
        of: Pick<Running, "uid" | "what" | "hasEnded">,
        run: () => Promise<Result>,
      ) => {
        if (options.replicas === "every") return await run();
        const running = { process: process(), controller: name, ...of };
        this.#checkAlone(running, key, now());
        this.#running.add(running);
        return await run().finally(() => this.#running.delete(running));
      };
      return {
        ...controller,
        reconciler: async (request, toolbox) => {
          const run = () => controller.reconciler(request, toolbox);
          const uid = (toolbox.find(primary, request.key) as KubeObject | undefined)?.metadata.uid;
          if (uid === undefined) return await run();
          return await observe(
            request.key,
            { uid, what: "is reconciled", hasEnded: () => toolbox.signal.aborted },
            run,
          );
        },
        daemon: daemon && {
          ...daemon,
          run: async (toolbox, object) => {
            const { uid = "" } = object.current().metadata;
            const of = { uid, what: "has its daemon", hasEnded: () => false } as const;
            await observe(toolbox.request.key, of, () => daemon.run(toolbox, object));
          },
        },
      };
    });
  }

  /** A process sends a write. */
  onWrite(process: OperatorProcess, now: number): void {
    const holder = this.#leaseOf(process)?.spec?.holderIdentity;
    if (holder === `process-${process.id}` || now - this.#deletedAt < unawareMs) return;
    this.#report(`process ${process.id} writes after its Lease was taken from it`);
  }

  /** A process was started. */
  add(process: OperatorProcess, now: number): void {
    this.#replicas.push({ process, seesSince: now, changedAt: now, version: undefined });
  }

  /** Must be called as the clock advances. */
  observe(now: number): void {
    if (now - this.#observedAt < everyMs) return;
    this.#observedAt = now;
    this.#observeReplicas(now);
    const running = this.#replicas.filter(({ process }) => !process.hasEnded);
    // A replica that cannot have seen for so long that a Lease did not change has to wait for longer.
    const seenSince = Math.min(...running.map(({ seesSince }) => seesSince));
    for (let slot = 0; slot < slotCount; slot++) {
      const isHeld = running.some(({ process: { manager } }) => shardsOf(manager)?.holds.has(slot) === true);
      const since = this.#unheldSince[slot] ?? -1;
      if (isHeld) this.#unheldSince[slot] = -1;
      else if (since < 0) this.#unheldSince[slot] = now;
      else if (now > this.#heldUntil(slot, Math.max(since, seenSince))) {
        this.#report(`slot ${slot} has had no replica for ${(now - since) / 1000} s`);
        this.#unheldSince[slot] = now;
      }
    }
  }

  /** Until when a slot must have a replica again. @param since when it has none */
  #heldUntil(slot: number, since: number): number {
    const blockedAt = Math.max(since, this.#deletedAt, this.#blockedAt[slot] ?? 0);
    return Math.max(blockedAt + maxUnheldMs, this.#awayAt + silentMs);
  }

  #observeReplicas(now: number): void {
    for (const replica of this.#replicas) {
      const { process } = replica;
      const lease = this.#leaseOf(process);
      const version = lease?.metadata.resourceVersion;
      if (version !== replica.version) [replica.version, replica.changedAt] = [version, now];
      const { unreachableUntil, leasesUnreachableUntil, renewsUntil } = process;
      const awayUntil = Math.max(unreachableUntil, leasesUnreachableUntil, renewsUntil);
      const isAway = process.hasEnded || process.clock.isPaused || awayUntil > now;
      if (!isAway) continue;
      replica.seesSince = now;
      this.#awayAt = Math.max(this.#awayAt, replica.changedAt);
      if ((lease?.spec?.holderIdentity ?? "") === "") continue;
      for (const slot of parseSlots(lease?.metadata.annotations?.[claimAnnotation] ?? "") ?? []) {
        this.#blockedAt[slot] = Math.max(this.#blockedAt[slot] ?? 0, replica.changedAt);
      }
    }
  }

  /** Deletes the Lease of a process as a user. */
  async deleteLease(process: OperatorProcess, now: number): Promise<void> {
    this.#deletedAt = now;
    await this.#server.client.delete(builtin.Lease, `${namespace}/${leaseOf(process)}`).catch(() => {});
  }

  #checkAlone(running: Running, key: string, now: number): void {
    if (now - this.#deletedAt < maxUnheldMs) return;
    for (const other of this.#running) {
      if (other.uid !== running.uid || other.controller !== running.controller) continue;
      if (other.process === running.process || other.hasEnded()) continue;
      if (other.process.hasEnded || other.process.clock.isPaused) continue;
      const [one, another] = [other, running].map(({ what, process }) => `${what} in process ${process.id}`);
      this.#report(`${key} ${one} and ${another} at the same time`);
    }
  }

  #leaseOf(process: OperatorProcess): Lease | undefined {
    return this.#server.find(leaseCollection, namespace, leaseOf(process));
  }

  #report(message: string): void {
    this.#violations.push({ invariant: "shards", message });
  }
}

function leaseOf({ id }: OperatorProcess): string {
  return `${group}-process-${id}`;
}
