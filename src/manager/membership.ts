/**
 * FleetMembership: what the Manager of one cluster of a Fleet shares with its hub and with the other clusters. A Fleet
 * (`src/fleet`) creates such Managers with `asMember()`; users create Managers without a membership.
 *
 * Guarantees: a member has caches, queues, backoff and Events of its own. Only the terms of leadership, the turns of reconciles
 * and the hub are shared.
 */
import type { Client } from "../client/mod.ts";
import type { ReconcileTurn } from "../controller/mod.ts";
import type { LeaderElector, Leadership } from "./election/mod.ts";
import type { LeadershipSource } from "./fence/mod.ts";
import type { SharedCaches } from "./shared_caches.ts";

/** What a member shares. */
export interface FleetMembership {
  /** The name of the cluster. */
  readonly cluster: string;
  /** The client and the caches of the hub. */
  readonly hub: { readonly client: Client; readonly caches: SharedCaches };
  /** The terms in which this process leads. @default no leader election */
  readonly terms?: Terms;
  /** Waits for a turn among the clusters. */
  readonly turn: ReconcileTurn;
}

/** The terms of a process, as a LeaderElector has them. */
export interface Terms extends LeadershipSource {
  /** Calls `work` in each term until `stop`. @throws the error of `work` */
  run(work: (leadership: Leadership) => Promise<void>, stop: AbortSignal): Promise<void>;
}

/** Runs beside the controllers, from the start of a term to its end. */
export type LeaderPart = (stop: AbortSignal, kill: AbortSignal) => Promise<void>;

/** The parts of a Manager that the Fleet of its hub uses. */
export interface HubParts<Options> {
  readonly options: Options;
  /** Sends the writes of this process, only while it leads. */
  readonly client: Client;
  readonly caches: SharedCaches;
  /** Undefined without leader election. */
  readonly elector: LeaderElector | undefined;
  /** Adds work of each term. A process gives up its Lease when it has ended. */
  addLeaderPart(part: LeaderPart): void;
}

const memberships = new WeakMap<object, FleetMembership>();

/** Returns options of a Manager that is the member of a Fleet. */
export function asMember<Options extends object>(options: Options, membership: FleetMembership): Options {
  const own = { ...options };
  memberships.set(own, membership);
  return own;
}

/** The membership in these options; undefined for a Manager that is no member. */
export function membershipOf(options: object): FleetMembership | undefined {
  return memberships.get(options);
}
