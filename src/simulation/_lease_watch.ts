/**
 * The Lease of a run with several replicas: who holds it, as the server knows it. When it was renewed is when it changed on the
 * server: the times in it are those of clocks that may be wrong.
 */
import { builtin, type KubeObject } from "../api/mod.ts";
import type { ManagerElection } from "../manager/mod.ts";
import type { OperatorProcess } from "./_operator_process.ts";
import type { Stage } from "./_stage.ts";

const namespace = "default";
const name = "simulation";
/** Whoever held a Lease that somebody deleted hears of it by the next renewal, which may take as long as this. */
const unawareMs = 10_000;

interface Lease extends KubeObject {
  readonly spec?: {
    readonly holderIdentity?: string;
    readonly leaseDurationSeconds?: number;
  };
}

/** Looks at the Lease. */
export class LeaseWatch {
  readonly #stage: Stage;
  #version: string | undefined;
  #changedAt = 0;
  #seizedAt = -Infinity;

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  /** How a replica takes part. */
  electionOf(id: number): ManagerElection {
    return { namespace, name, identity: `process-${id}` };
  }

  /** To be called whenever time is about to pass. @param now virtual milliseconds */
  look(now: number): void {
    const version = this.#lease()?.metadata.resourceVersion;
    if (version === this.#version) return;
    this.#version = version;
    this.#changedAt = now;
  }

  /** Whether somebody has taken it away. */
  get wasSeized(): boolean {
    return this.#seizedAt > -Infinity;
  }

  /** Who else leads; undefined when nobody does, or the replica itself, or when nobody can know yet. */
  otherHolder({ id }: OperatorProcess, now: number): string | undefined {
    this.look(now);
    if (now - this.#seizedAt < unawareMs) return undefined;
    const { holderIdentity = "", leaseDurationSeconds = 0 } = this.#lease()?.spec ?? {};
    if (holderIdentity === "" || holderIdentity === `process-${id}`) return undefined;
    const isOver = this.#changedAt + leaseDurationSeconds * 1_000 < now;
    return isOver ? undefined : holderIdentity;
  }

  /** Somebody deletes it. @param now virtual milliseconds */
  async seize(now: number): Promise<void> {
    this.#seizedAt = now;
    await this.#stage.client.delete(builtin.Lease, `${namespace}/${name}`).catch(() => {});
  }

  #lease(): Lease | undefined {
    return this.#stage.find("leases.coordination.k8s.io", namespace, name);
  }
}
