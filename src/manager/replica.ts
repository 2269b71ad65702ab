/**
 * What the Manager of one replica is made of: the right to write of its clients, the checks of its Leases, and the parts that
 * run together and end together.
 */
import type { Scope } from "../async/mod.ts";
import type { Client } from "../client/mod.ts";
import type { RunsOn } from "./controller_group.ts";
import { fencedTransport, type LeadershipSource } from "./fence/mod.ts";
import type { ImmediateCheck } from "./health/mod.ts";

/** How controllers run during one term. */
export interface TermRunOptions {
  readonly stop: AbortSignal;
  readonly kill: AbortSignal;
  /** The controllers that run in it. */
  readonly runsOn: RunsOn;
  /** Records that the term has begun. @default nothing is recorded */
  readonly recordTerm?: (kill: AbortSignal) => Promise<void>;
}

/** The client with a fence; without a source it may always write. */
export function withFence(client: Client, source: LeadershipSource | undefined): Client {
  return source === undefined ? client : client.withTransport((transport) => fencedTransport(transport, source));
}

/** The liveness check of a Lease: it fails when work goes on although the Lease has expired. */
export function leaseCheck(
  name: string,
  owner: { readonly lease: string; isHealthy(): boolean },
): ImmediateCheck {
  return { name, probe: "live", problem: () => owner.isHealthy() ? undefined : `${owner.lease} is overdue` };
}

/**
 * Runs several parts until `stopping` aborts. If one fails, `onFailure` is called, which has to abort it.
 *
 * @throws the error of a part; an AggregateError of several
 */
export async function runTogether(
  parts: readonly ((stop: AbortSignal) => Promise<void>)[],
  stopping: Scope,
  onFailure: (error: unknown) => void,
): Promise<void> {
  const ends = await Promise.allSettled(parts.map(async (part) => {
    try {
      await part(stopping.signal);
    } catch (error) {
      onFailure(error);
      throw error;
    }
  }));
  const errors: readonly unknown[] = ends.flatMap((end) => end.status === "rejected" ? [end.reason] : []);
  if (errors.length === 1) throw errors[0];
  if (errors.length > 1) throw new AggregateError(errors, errors.map(String).join("; "));
}
