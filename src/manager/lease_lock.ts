/**
 * LeaseLock: a Lease (coordination.k8s.io/v1) as the one place where replicas write down who leads. Reads and writes
 * it; who may write what and when is the business of the elector.
 *
 * Guarantees: a write changes exactly the version that was last read or written, or fails with a conflict; labels,
 * annotations and fields that we do not know stay as they are; a 403 is a LeaseForbiddenError that names the rule.
 */
import { builtin, type KubeObject } from "../api/mod.ts";
import { type Client, isForbidden, isNotFound } from "../client/mod.ts";
import { LeaseForbiddenError, type LeaseVerb } from "./lease_forbidden_error.ts";

/** What a Lease says about who leads. */
export interface LeaseRecord {
  /** Identity of the leader, "" when there is none. */
  readonly holder: string;
  /** Seconds after the last renewal until others may take it; undefined when the Lease does not say. */
  readonly durationSeconds: number | undefined;
  /** How often leadership went from one holder to another. */
  readonly transitions: number;
  /** RFC 3339, by the holder's clock: for people, never for decisions. */
  readonly acquireTime: string | undefined;
  /** RFC 3339, by the holder's clock: for people; that it changes is what counts. */
  readonly renewTime: string | undefined;
}

/** Options of a {@link LeaseLock}. */
export interface LeaseLockOptions {
  /** Must not be fenced: the Lease is what opens the fence. */
  readonly client: Client;
  readonly namespace: string;
  readonly name: string;
}

export class LeaseLock {
  readonly #options: LeaseLockOptions;
  readonly #key: string;
  #lease: builtin.Lease | undefined;

  constructor(options: LeaseLockOptions) {
    this.#options = options;
    this.#key = `${options.namespace}/${options.name}`;
  }

  /** `Lease "namespace/name"`: what messages call it. */
  get description(): string {
    return `Lease "${this.#key}"`;
  }

  /** The record as it was last read or written; undefined when there was no Lease. */
  get record(): LeaseRecord | undefined {
    return this.#lease === undefined ? undefined : recordOf(this.#lease);
  }

  /** Asks the server. Undefined when there is no Lease. */
  async read(signal: AbortSignal): Promise<LeaseRecord | undefined> {
    const { client } = this.#options;
    try {
      this.#lease = await client.get(builtin.Lease, this.#key, { signal });
    } catch (error) {
      if (!isNotFound(error)) throw this.#explained(error, "get");
      this.#lease = undefined;
    }
    return this.record;
  }

  /**
   * Replaces what was last read or written; creates the Lease when there was none.
   *
   * @throws ApiError, `isConflict` or `isAlreadyExists` when somebody else was quicker.
   */
  async write(record: LeaseRecord, signal: AbortSignal): Promise<void> {
    const { client, namespace, name } = this.#options;
    const lease = this.#lease;
    try {
      this.#lease = lease === undefined
        ? await client.create(builtin.Lease, { metadata: { namespace, name }, spec: specOf(record) }, { signal })
        : await client.update(builtin.Lease, { ...lease, spec: { ...lease.spec, ...specOf(record) } }, { signal });
    } catch (error) {
      throw this.#explained(error, lease === undefined ? "create" : "update");
    }
  }

  /** What Events about the Lease regard; undefined before one was read or written. */
  get object(): KubeObject | undefined {
    return this.#lease;
  }

  #explained(error: unknown, verb: LeaseVerb): unknown {
    const { namespace, name } = this.#options;
    return isForbidden(error) ? new LeaseForbiddenError({ verb, namespace, name, cause: error }) : error;
  }
}

function recordOf(lease: builtin.Lease): LeaseRecord {
  // A Lease that somebody made by hand may have no spec at all.
  const spec: Partial<builtin.Lease["spec"]> = lease.spec ?? {};
  return {
    holder: spec.holderIdentity ?? "",
    durationSeconds: spec.leaseDurationSeconds,
    transitions: spec.leaseTransitions ?? 0,
    acquireTime: spec.acquireTime,
    renewTime: spec.renewTime,
  };
}

function specOf(record: LeaseRecord): builtin.Lease["spec"] {
  return {
    holderIdentity: record.holder,
    leaseDurationSeconds: record.durationSeconds,
    leaseTransitions: record.transitions,
    acquireTime: record.acquireTime,
    renewTime: record.renewTime,
  };
}
