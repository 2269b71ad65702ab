/**
 * MemberProcess: one process of a fleet's operator, as one of its members sees it: the Manager of that cluster, and the faults
 * between the two. What is about the whole process, such as its clock and its end, is that of the OperatorProcess.
 */
import type { Manager } from "../manager/mod.ts";
import type { OperatorProcess, ProcessClock } from "./_operator_process.ts";
import type { ProxiedProcess, StaleView } from "./_proxied_process.ts";

export class MemberProcess implements ProxiedProcess {
  readonly owner: OperatorProcess;
  staleView: StaleView | undefined;
  unreachableUntil = 0;
  crashesNext = false;
  readonly #cluster: string;

  constructor(owner: OperatorProcess, cluster: string) {
    this.owner = owner;
    this.#cluster = cluster;
  }

  get id(): number {
    return this.owner.id;
  }

  get hasEnded(): boolean {
    return this.owner.hasEnded;
  }

  get clock(): ProcessClock {
    return this.owner.clock;
  }

  /** False while it does not work in the cluster. */
  get isWorking(): boolean {
    return !this.hasEnded && this.owner.managerOf(this.#cluster) !== undefined;
  }

  /** The Manager of the cluster. @throws Error while it does not work in the cluster */
  get manager(): Manager {
    const manager = this.owner.managerOf(this.#cluster);
    if (manager !== undefined) return manager;
    throw new Error(`Cannot use process ${this.id} in "${this.#cluster}": it does not work there`);
  }

  /** The Leases are in the hub. */
  get leasesUnreachableUntil(): number {
    return this.owner.leasesUnreachableUntil;
  }

  set leasesUnreachableUntil(until: number) {
    this.owner.leasesUnreachableUntil = until;
  }

  get renewsUntil(): number {
    return this.owner.renewsUntil;
  }

  set renewsUntil(until: number) {
    this.owner.renewsUntil = until;
  }

  pause(wallByMs: number): void {
    this.owner.pause(wallByMs);
  }

  async resume(): Promise<void> {
    await this.owner.resume();
  }
}
