/** The Lease of a run with several replicas: who holds it, as the server knows it. */
import { builtin, type KubeObject } from "../api/mod.ts";
import type { ManagerElection } from "../manager/mod.ts";
import type { OperatorProcess } from "./_operator_process.ts";
import type { Stage } from "./_stage.ts";

const namespace = "default";
const name = "simulation";

interface Lease extends KubeObject {
  readonly spec?: {
    readonly holderIdentity?: string;
    readonly renewTime?: string;
    readonly leaseDurationSeconds?: number;
  };
}

/** Looks at the Lease. */
export class LeaseWatch {
  readonly #stage: Stage;

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  /** How a replica takes part. */
  electionOf(id: number): ManagerElection {
    return { namespace, name, identity: `process-${id}` };
  }

  /** Who else leads; undefined when nobody does, or the replica itself. */
  otherHolder({ id }: OperatorProcess, now: number): string | undefined {
    const lease: Lease | undefined = this.#stage.find("leases.coordination.k8s.io", namespace, name);
    const { holderIdentity = "", renewTime = "", leaseDurationSeconds = 0 } = lease?.spec ?? {};
    if (holderIdentity === "" || holderIdentity === `process-${id}`) return undefined;
    const isOver = Date.parse(renewTime) + leaseDurationSeconds * 1_000 < now;
    return isOver ? undefined : holderIdentity;
  }

  /** Somebody deletes it. */
  async seize(): Promise<void> {
    await this.#stage.client.delete(builtin.Lease, `${namespace}/${name}`).catch(() => {});
  }
}
