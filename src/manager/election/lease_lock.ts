/**
 * LeaseLock: reads and writes the Lease (coordination.k8s.io/v1) in which the replicas record their leader. The rules for
 * what may be written and when are in `lease_claim.ts`.
 *
 * Guarantees: a write replaces exactly the version that was last read or written, or fails with a conflict; other
 * labels, annotations and unknown fields are kept; a 403 is a LeaseForbiddenError that names the missing rule.
 */
import { builtin, type KubeObject, type StringMap } from "../../api/mod.ts";
import { type Client, isForbidden, isNotFound } from "../../client/mod.ts";

/** The leader according to a Lease. */
export interface LeaseRecord {
  /** Identity of the leader; "" when there is none. */
  readonly holder: string;
  /** Seconds after the last renewal until another process may take the Lease; undefined when the Lease has none. */
  readonly durationSeconds: number | undefined;
  /** How often the holder has changed. */
  readonly transitions: number;
  /** RFC 3339, by the holder's clock. Informative only: no decision depends on it. */
  readonly acquireTime: string | undefined;
  /** RFC 3339, by the holder's clock. Only the fact that it changes matters. */
  readonly renewTime: string | undefined;
}

/** Options of a {@link LeaseLock}. */
export interface LeaseLockOptions {
  /** Must not be fenced, because the fence depends on the Lease. */
  readonly client: Client;
  readonly namespace: string;
  readonly name: string;
  /** As in the options of the elector. @default none is changed */
  readonly annotations?: LeaseAnnotations;
  /** Labels that the Lease has after each write. @default none is changed */
  readonly labels?: StringMap;
  /** True when each process has a Lease with a name of its own, so that no rule can name it. @default false */
  readonly hasOwnName?: boolean;
}

/** Returns annotations of the Lease, which hold while this process leads; undefined removes one. */
export type LeaseAnnotations = () => Readonly<Record<string, string | undefined>>;

export class LeaseLock {
  readonly #options: LeaseLockOptions;
  readonly #key: string;
  #lease: builtin.Lease | undefined;

  constructor(options: LeaseLockOptions) {
    this.#options = options;
    this.#key = `${options.namespace}/${options.name}`;
  }

  /** `Lease "namespace/name"`, for messages. */
  get description(): string {
    return `Lease "${this.#key}"`;
  }

  /** The record that was last read or written; undefined when there was no Lease. */
  get record(): LeaseRecord | undefined {
    return this.#lease === undefined ? undefined : recordOf(this.#lease);
  }

  /** Whom the API server prefers as the next leader, in a coordinated election; undefined if nobody. */
  get preferredHolder(): string | undefined {
    return this.#lease?.spec?.preferredHolder || undefined;
  }

  /** The Lease that was last read or written; undefined when there was none. */
  get object(): KubeObject | undefined {
    return this.#lease;
  }

  /** Reads the Lease from the server. Undefined when there is none. */
  async read(signal: AbortSignal): Promise<LeaseRecord | undefined> {
    const { client } = this.#options;
    try {
      this.#lease = await client.get(builtin.Lease, this.#key, { signal });
    } catch (error) {
      if (!isNotFound(error)) throw this.#withMissingRule(error, "get");
      this.#lease = undefined;
    }
    return this.record;
  }

  /**
   * Replaces the version that was last read or written, or creates the Lease when there was none.
   *
   * @throws ApiError, `isConflict` or `isAlreadyExists` when another client has written the Lease in the meantime.
   */
  async write(record: LeaseRecord, signal: AbortSignal): Promise<void> {
    const { client, namespace, name } = this.#options;
    const lease = this.#lease;
    const metadata = this.#labelled(this.#annotated(lease?.metadata ?? { namespace, name }, record));
    try {
      this.#lease = lease === undefined
        ? await client.create(builtin.Lease, { metadata, spec: specOf(record) }, { signal })
        : await client.update(builtin.Lease, { ...lease, metadata, spec: { ...lease.spec, ...specOf(record) } }, {
          signal,
        });
    } catch (error) {
      throw this.#withMissingRule(error, lease === undefined ? "create" : "update");
    }
  }

  /** With the annotations of a leader; without them in a Lease that is released. */
  #annotated(metadata: builtin.Lease["metadata"], { holder }: LeaseRecord): builtin.Lease["metadata"] {
    const changes = Object.entries(this.#options.annotations?.() ?? {});
    if (changes.length === 0) return metadata;
    const annotations = new Map(Object.entries(metadata.annotations ?? {}));
    for (const [key, value] of changes) {
      if (value === undefined || holder === "") annotations.delete(key);
      else annotations.set(key, value);
    }
    return { ...metadata, annotations: Object.fromEntries(annotations) };
  }

  /** By its labels other processes find the Lease, so a label that a user has removed comes back. */
  #labelled(metadata: builtin.Lease["metadata"]): builtin.Lease["metadata"] {
    const { labels } = this.#options;
    return labels === undefined ? metadata : { ...metadata, labels: { ...metadata.labels, ...labels } };
  }

  #withMissingRule(error: unknown, verb: LeaseVerb): unknown {
    const { namespace, name, hasOwnName } = this.#options;
    return isForbidden(error) ? new LeaseForbiddenError({ verb, namespace, name, hasOwnName, cause: error }) : error;
  }
}

function recordOf(lease: builtin.Lease): LeaseRecord {
  // A Lease that a user created manually may have no spec.
  const spec: Partial<builtin.Lease["spec"]> = lease.spec ?? {};
  return {
    holder: spec.holderIdentity ?? "",
    durationSeconds: spec.leaseDurationSeconds,
    transitions: Math.max(0, spec.leaseTransitions ?? 0),
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

/** The RBAC verbs that leader election needs. */
export type LeaseVerb = "get" | "create" | "update" | "patch";

/**
 * RBAC does not allow this process to read or write the Lease. The message has the missing rule. The cause is the ApiError,
 * so the exit code is that of a 403.
 *
 * @example
 * ```ts
 * import { Client, LeaderElector, LeaseForbiddenError } from "@pintle/controller/client";
 *
 * const client = new Client(() => Promise.resolve(new Response("", { status: 403 })));
 * const elector = new LeaderElector({ client, namespace: "shop", name: "shop-operator", identity: "pod-1_7f3a" });
 * const error = await elector.acquire(new AbortController().signal).catch((reason: unknown) => reason);
 * console.assert(error instanceof LeaseForbiddenError);
 * ```
 */
export class LeaseForbiddenError extends Error {
  /** The name of the class. */
  override readonly name = "LeaseForbiddenError";

  /**
   * Creates the error.
   *
   * @param options.resource `leasecandidates` in a coordinated election. @default "leases"
   * @param options.hasOwnName True when each process has a Lease with a name of its own: the rule does not name it. @default false
   * @param options.cause The response of the API server.
   */
  constructor(
    options: {
      readonly verb: LeaseVerb;
      readonly namespace: string;
      readonly name: string;
      readonly resource?: "leases" | "leasecandidates";
      readonly hasOwnName?: boolean;
      readonly cause: unknown;
    },
  ) {
    const { verb, namespace, name, resource = "leases", hasOwnName = false, cause } = options;
    const kind = resource === "leases" ? "Lease" : "LeaseCandidate";
    super(
      `Cannot lead by ${kind} "${namespace}/${name}": it is not allowed to ${verb} it; ` +
        `a Role in namespace "${namespace}" needs ${hasOwnName ? ownLeaseRule : ruleOf(verb, resource, name)}`,
      { cause },
    );
  }
}

/** What a process needs that has a Lease of its own and finds those of others by a label. */
const ownLeaseRule =
  `{apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["get", "list", "create", "update", "delete"]}`;

/** A candidate has a name of its own in each process, so its rule names none. */
function ruleOf(verb: LeaseVerb, resource: "leases" | "leasecandidates", name: string): string {
  if (resource === "leasecandidates") {
    return `{apiGroups: ["coordination.k8s.io"], resources: ["leasecandidates"], ` +
      `verbs: ["create", "patch", "delete", "list", "watch"]}`;
  }
  const names = verb === "create" ? "" : `, resourceNames: [${JSON.stringify(name)}]`;
  return `{apiGroups: ["coordination.k8s.io"], resources: ["leases"]${names}, verbs: ["${verb}"]}`;
}
