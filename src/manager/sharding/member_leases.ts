/**
 * MemberLeases: the requests about the Leases of a group of replicas. The rules for what is read and written are in
 * `membership.ts`.
 *
 * Guarantees: a read is consistent: it contains every write that was acknowledged before it began. A Lease is taken away or
 * deleted only in the version that was read; if it has changed since then, nothing happens.
 */
import { builtin, shardHash, type StringMap } from "../../api/mod.ts";
import { type Clock, scope } from "../../async/mod.ts";
import { type Client, isConflict, isNotFound } from "../../client/mod.ts";
import { microTime } from "../election/mod.ts";
import type { MemberLease } from "./membership.ts";
import { parseSlots, printSlots } from "./slots.ts";

/** The label that the Leases of one group have. Its value is that of {@link groupLabels}. */
export const groupLabel = "pintle.dev/shard-group";

/** The most characters of a label value, as Kubernetes limits it. The name of a Lease may have 253. */
const maxLabelChars = 63;

/** The labels of the Leases of a group: the name of the group, or its beginning and its hash where a label is too short for it. */
export function groupLabels(group: string): StringMap {
  if (group.length <= maxLabelChars) return { [groupLabel]: group };
  const hash = shardHash(group);
  return { [groupLabel]: `${group.slice(0, maxLabelChars - hash.length - 1)}-${hash}` };
}

/** The annotation with the claim, as `printSlots` writes it. */
export const claimAnnotation = "pintle.dev/shard-slots";

/** The annotation with the work that the replica divides with the others, as `dividedWork` writes it. */
export const workAnnotation = "pintle.dev/shard-work";

/** Where the Leases of a group are. */
export interface MemberLeasesOptions {
  /** Must not be fenced, because the fence depends on the Leases. */
  readonly client: Client;
  readonly namespace: string;
  /** The name of the group. */
  readonly group: string;
  /** Time limit of a request, in milliseconds. */
  readonly timeoutMs: number;
  readonly clock: Clock;
}

/** A Lease of the group, and the object that it was read from. */
interface ReadLease extends MemberLease {
  readonly object: builtin.Lease;
}

export class MemberLeases {
  readonly #options: MemberLeasesOptions;
  #read = new Map<string, ReadLease>();

  constructor(options: MemberLeasesOptions) {
    this.#options = options;
  }

  /** Reads all Leases of the group. @throws ApiError */
  async read(signal: AbortSignal): Promise<readonly MemberLease[]> {
    const { client, namespace, group, timeoutMs, clock } = this.#options;
    using limited = scope(signal, { timeoutMs, clock });
    const { items } = await client.list(builtin.Lease, {
      namespace,
      labelSelector: { matchLabels: groupLabels(group) },
      signal: limited.signal,
    });
    const leases = items.map(readLease);
    this.#read = new Map(leases.map((lease) => [lease.name, lease]));
    return leases;
  }

  /**
   * Takes the Lease away from its replica, if it has not changed since it was read.
   *
   * @returns whether it was taken away; false when it has changed. @throws ApiError
   */
  async takeAway(lease: MemberLease, signal: AbortSignal): Promise<boolean> {
    const { client, timeoutMs, clock } = this.#options;
    const read = this.#read.get(lease.name);
    if (read?.version !== lease.version) return false;
    const { object } = read;
    const { [claimAnnotation]: _claim, ...annotations } = object.metadata.annotations ?? {};
    using limited = scope(signal, { timeoutMs, clock });
    const freed: builtin.Lease = {
      ...object,
      metadata: { ...object.metadata, annotations: { ...annotations, [claimAnnotation]: printSlots(new Set()) } },
      spec: { ...object.spec, holderIdentity: "", renewTime: microTime(clock.now()) },
    };
    return await isUnchanged(client.update(builtin.Lease, freed, { signal: limited.signal }));
  }

  /** Deletes the Lease of a replica that has left, if it has not changed since it was read. @throws ApiError */
  async delete(lease: MemberLease, signal: AbortSignal): Promise<void> {
    const { client, namespace, timeoutMs, clock } = this.#options;
    const read = this.#read.get(lease.name);
    if (read?.version !== lease.version) return;
    const { uid, resourceVersion } = read.object.metadata;
    using limited = scope(signal, { timeoutMs, clock });
    const preconditions = { uid, resourceVersion };
    await isUnchanged(
      client.delete(builtin.Lease, `${namespace}/${lease.name}`, { preconditions, signal: limited.signal }),
    );
  }
}

/** False when the object has changed, or is gone. @throws any other error */
async function isUnchanged(write: Promise<unknown>): Promise<boolean> {
  try {
    await write;
    return true;
  } catch (error) {
    if (isConflict(error) || isNotFound(error)) return false;
    throw error;
  }
}

function readLease(object: builtin.Lease): ReadLease {
  const { name = "", uid = "", resourceVersion = "", annotations } = object.metadata;
  // A Lease that a user created manually may have no spec.
  const spec: Partial<builtin.Lease["spec"]> = object.spec ?? {};
  return {
    name,
    version: `${uid}/${resourceVersion}`,
    holder: spec.holderIdentity ?? "",
    durationMs: (spec.leaseDurationSeconds ?? 0) * 1000,
    claim: parseSlots(annotations?.[claimAnnotation] ?? ""),
    work: annotations?.[workAnnotation],
    object,
  };
}
