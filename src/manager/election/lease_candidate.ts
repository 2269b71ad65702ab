/**
 * LeaseCandidate: takes part in a coordinated leader election, in which the API server chooses the leader among the
 * candidates of a Lease: the one with the oldest version, so that a rolling update of the operator changes the leader
 * last. The server asks the candidates from time to time whether they are there, and writes the one it chose into the
 * Lease; `lease_claim.ts` takes the Lease then.
 *
 * Guarantees: a candidate answers as long as {@link LeaseCandidate.run} runs, and deletes its object afterwards, so that
 * the server does not wait for it.
 * Assumptions: the server compares the renewals with its own clock, so clocks may differ by less than the lease duration.
 */
import { type KubeObject, type Resource, type ResourceVersion } from "../../api/mod.ts";
import { type Clock, type Random, scope } from "../../async/mod.ts";
import { Informer } from "../../cache/mod.ts";
import { type Client, isAlreadyExists, isForbidden, isNotFound } from "../../client/mod.ts";
import type { Logger } from "../../observe/mod.ts";
import { microTime } from "./instant.ts";
import { LeaseForbiddenError } from "./lease_lock.ts";

/** The versions of a candidate, by which the API server chooses the leader: the oldest one leads. */
export interface CandidateVersions {
  /** The version of the program, as `1.4.0`. */
  readonly binaryVersion: string;
  /** The version that the program behaves like. @default binaryVersion */
  readonly emulationVersion?: string;
}

/** An object of the kind LeaseCandidate. */
interface CandidateObject extends KubeObject {
  readonly spec: {
    readonly leaseName: string;
    readonly binaryVersion: string;
    readonly emulationVersion: string;
    readonly strategy: string;
    /** When the server asked, by its clock. */
    readonly pingTime?: string;
    /** When the candidate answered last, by its own clock. */
    readonly renewTime?: string;
  };
}

/** A beta kind, which the published schemas of a server without the gate do not have. */
const candidates: Resource<CandidateObject, "LeaseCandidate"> = Object.freeze({
  group: "coordination.k8s.io",
  version: "v1beta1",
  kind: "LeaseCandidate",
  plural: "leasecandidates",
  scope: "Namespaced",
});

/** The only strategy that the API server implements. */
const strategy = "OldestEmulationVersion";

/** The server deletes a candidate that was silent for 30 minutes; client-go renews every 5 minutes. */
const renewalPeriodMs = 5 * 60_000;

/** Options of a {@link LeaseCandidate}. */
export interface LeaseCandidateOptions {
  /** Must not be fenced. */
  readonly client: Client;
  readonly namespace: string;
  /** The name of the Lease. */
  readonly lease: string;
  /** The name of the candidate, which the server writes into the Lease as its holder. */
  readonly identity: string;
  readonly versions: CandidateVersions;
  /** Milliseconds of one request. */
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

export class LeaseCandidate {
  readonly #options: LeaseCandidateOptions;
  readonly #key: string;
  /** The renewal that is being sent. */
  #renewal: Promise<void> | undefined;
  /** The version of the candidate that was answered last: its event may come after the response. */
  #answered: ResourceVersion | undefined;

  constructor(options: LeaseCandidateOptions) {
    this.#options = options;
    this.#key = `${options.namespace}/${options.identity}`;
  }

  /**
   * Creates the candidate, or takes over the one of that name.
   *
   * @returns false when the server has no such kind: it does not coordinate elections.
   * @throws LeaseForbiddenError when RBAC does not allow it, and the error of any other request that failed.
   */
  async announce(signal: AbortSignal): Promise<boolean> {
    const { client, namespace, identity: name, lease: leaseName, versions, clock } = this.#options;
    const { binaryVersion, emulationVersion = binaryVersion } = versions;
    const spec = { leaseName, binaryVersion, emulationVersion, strategy, renewTime: microTime(clock.now()) };
    const { group, version, kind } = candidates;
    const candidate = { apiVersion: `${group}/${version}`, kind, metadata: { namespace, name }, spec };
    try {
      await client.create(candidates, candidate, { signal });
    } catch (error) {
      if (isAlreadyExists(error)) await this.#renew(signal, clock.now());
      else if (isNotFound(error)) return false;
      else throw this.#withMissingRule(error, "create");
    }
    return true;
  }

  /** Answers the server until aborted, then deletes the candidate. Never throws. */
  async run(signal: AbortSignal): Promise<void> {
    const { client, namespace, identity, clock, random, log } = this.#options;
    const fieldSelector = { "metadata.name": identity };
    const informer = new Informer<CandidateObject>({
      name: `leasecandidate ${this.#key}`,
      listWatch: client.listWatch(candidates, { namespace, fieldSelector }),
      clock,
      random,
      log,
    });
    informer.addHandler({
      onAdd: (candidate) => this.#answer(candidate, signal),
      onUpdate: (_, candidate) => this.#answer(candidate, signal),
      onDelete: () => signal.aborted ? undefined : this.#logged(this.announce(signal)),
    });
    const running = informer.run(signal);
    while (!signal.aborted) {
      await clock.sleep(renewalPeriodMs, signal).catch(() => undefined);
      if (!signal.aborted) await this.#logged(this.#renew(signal, clock.now()));
    }
    await running;
    await this.#renewal;
    await this.#logged(this.#delete());
  }

  #answer(candidate: CandidateObject, signal: AbortSignal): void {
    const { pingTime, renewTime } = candidate.spec;
    const { resourceVersion } = candidate.metadata;
    const isAsked = pingTime !== undefined && (renewTime === undefined || Date.parse(renewTime) < Date.parse(pingTime));
    if (!isAsked || signal.aborted || this.#answered === resourceVersion) return;
    this.#answered = resourceVersion;
    // Not before the question, although our clock may be behind that of the server.
    const at = Math.max(this.#options.clock.now(), Date.parse(pingTime));
    this.#renewal = this.#logged(this.#renew(signal, at)).finally(() => this.#renewal = undefined);
  }

  /** Records in the candidate that this process is there. */
  async #renew(signal: AbortSignal, at: number): Promise<void> {
    const { client, clock, timeoutMs } = this.#options;
    using limited = scope(signal, { timeoutMs, clock });
    const value = { spec: { renewTime: microTime(at) } };
    try {
      await client.patch(candidates, this.#key, { kind: "merge", value }, { signal: limited.signal });
    } catch (error) {
      throw this.#withMissingRule(error, "patch");
    }
  }

  async #delete(): Promise<void> {
    const { client, clock, timeoutMs } = this.#options;
    using limited = scope(new AbortController().signal, { timeoutMs, clock });
    await client.delete(candidates, this.#key, { signal: limited.signal }).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
  }

  /** Waits for a request; an error is logged, because the next event or renewal tries again. */
  async #logged(request: Promise<unknown>): Promise<void> {
    try {
      await request;
    } catch (error) {
      this.#options.log.warn("lease candidate not renewed", { candidate: this.#key, error });
    }
  }

  #withMissingRule(error: unknown, verb: "create" | "patch"): unknown {
    const { namespace, identity: name } = this.#options;
    const resource = "leasecandidates";
    return isForbidden(error) ? new LeaseForbiddenError({ verb, namespace, name, resource, cause: error }) : error;
  }
}
