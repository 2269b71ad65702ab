/**
 * MemberCluster: one cluster of a Fleet, from the moment it is engaged until it has been disengaged.
 *
 * | state      | on                                            | next       |
 * |------------|-----------------------------------------------|------------|
 * | connecting | the connection is open                        | running    |
 * | connecting | it cannot be opened                           | failed     |
 * | running    | the Manager of the cluster ends with an error | failed     |
 * | running    | the name leads to another cluster             | connecting |
 * | failed     | the backoff has passed, or a new revision     | connecting |
 * | any        | the provider reports the cluster no more      | draining   |
 *
 * Guarantees: it never throws, and nothing that it waits for concerns another cluster. New credentials of the same server
 * replace the connection; caches, queues and backoff stay. If they cannot be used, the old ones stay in use.
 */
import { Backoff, isAbortOf, type Scope, scope, untilAborted } from "../async/mod.ts";
import { Client } from "../client/mod.ts";
import { asMember, type FleetMembership, Manager, type ManagerOptions } from "../manager/mod.ts";
import { errorText, type Logger } from "../observe/mod.ts";
import { OpenConnection } from "./open_connection.ts";
import type { ClusterConnection, FleetCluster } from "./cluster_provider.ts";

/** The options of all Managers of members. */
export type MemberManagerOptions =
  & Omit<ManagerOptions, "client" | "clock" | "random">
  & Required<Pick<ManagerOptions, "clock" | "random">>;

/** What a member needs. */
export interface MemberClusterOptions {
  /** The options of its Manager, without the client. */
  readonly manager: MemberManagerOptions;
  readonly membership: FleetMembership;
  /** Adds the controllers to a new Manager. */
  readonly addControllers: (manager: Manager) => void;
  /** Milliseconds of a request. */
  readonly requestTimeoutMs: number | undefined;
  /** Called when a connection is open. */
  readonly onConnected: (member: MemberCluster) => void;
  /** Called when its Manager has ended, even if a reconcile that ignores its signal has not. */
  readonly onManagerEnded: () => void;
  /** Called with each problem that keeps the cluster from running. */
  readonly onProblem: (cluster: FleetCluster, error: unknown) => void;
  readonly log: Logger;
}

/** What a member does. */
export type MemberState =
  | { readonly kind: "connecting" }
  | { readonly kind: "running"; readonly manager: Manager; readonly server: string }
  /** Tried again with backoff. */
  | { readonly kind: "failed"; readonly error: string }
  | { readonly kind: "draining" };

export class MemberCluster {
  readonly #options: MemberClusterOptions;
  readonly #stop: Scope = scope(new AbortController().signal);
  #cluster: FleetCluster;
  #state: MemberState = { kind: "connecting" };
  /** Present while the Manager runs. */
  #connection: OpenConnection | undefined;
  /** Ends what waits for a new revision: a backoff, or the run on a server that is not the cluster's any more. */
  #restart: (() => void) | undefined;
  /** Why the newest revision is not in use. */
  #updateProblem: string | undefined;

  constructor(cluster: FleetCluster, options: MemberClusterOptions) {
    this.#cluster = cluster;
    this.#options = options;
  }

  get name(): string {
    return this.#cluster.name;
  }

  get state(): MemberState {
    return this.#state;
  }

  /** What keeps the cluster from being reconciled as declared, in one sentence; undefined if nothing does. */
  problem(): string | undefined {
    const state = this.#state;
    switch (state.kind) {
      case "connecting":
        return "it is not connected yet";
      case "failed":
        return state.error;
      case "draining":
        return undefined;
      case "running": {
        const problems = state.manager.checks().filter(({ probe }) => probe === "ready").flatMap(
          ({ name, problem }) => {
            const text = problem();
            return text === undefined ? [] : [`${name}: ${text}`];
          },
        );
        if (this.#updateProblem !== undefined) {
          problems.unshift(`its new credentials are not in use: ${this.#updateProblem}`);
        }
        return problems.length === 0 ? undefined : problems.join("; ");
      }
      default:
        return state satisfies never;
    }
  }

  /** True if both are connected to the same cluster. */
  isSameAs(other: MemberCluster): boolean {
    const [one, two] = [this.#connection, other.#connection];
    return one !== undefined && two !== undefined && one.leadsTo(two.current);
  }

  /** True while it stops, and afterwards. */
  get isEnding(): boolean {
    return this.#stop.signal.aborted;
  }

  /** Takes no more keys; running reconciles may finish. Nothing is deleted in the cluster. */
  end(): void {
    if (this.isEnding) return;
    this.#state = { kind: "draining" };
    this.#stop.abort(new DOMException(`Cluster "${this.name}" was disengaged`, "AbortError"));
  }

  /** The provider has reported the cluster again. */
  update(cluster: FleetCluster): void {
    const isNew = cluster.revision !== this.#cluster.revision;
    this.#cluster = cluster;
    if (!isNew) return;
    if (this.#connection === undefined) this.#restart?.();
    else void this.#reconnect(this.#connection);
  }

  /** Runs the controllers in the cluster until {@link end}. Never throws. */
  async run(): Promise<void> {
    const { manager: { clock, random }, log } = this.#options;
    const backoff = new Backoff({ initialMs: 1_000, maxMs: 60_000, jitter: 1, resetAfterMs: 120_000, clock, random });
    log.info("engaging cluster", { cluster: this.name });
    while (!this.isEnding) {
      try {
        await this.#runOnce();
      } catch (error) {
        if (this.isEnding) {
          if (!isAbortOf(this.#stop.signal, error)) {
            log.warn("cluster did not stop in order", { cluster: this.name, error });
          }
          break;
        }
        this.#report(error);
        await this.#pause(backoff.next());
      }
    }
    this.#state = { kind: "draining" };
    log.info("cluster disengaged", { cluster: this.name });
  }

  /** Connects, and runs a Manager until the end, or until the name leads to another cluster. @throws what ended it otherwise */
  async #runOnce(): Promise<void> {
    const { manager: options, membership, addControllers, requestTimeoutMs } = this.#options;
    this.#state = { kind: "connecting" };
    const { clock } = options;
    const { revision } = this.#cluster;
    using connection = new OpenConnection(await this.#connect(), clock);
    if (this.isEnding || this.#cluster.revision !== revision) return;
    using stopping = scope(this.#stop.signal);
    const client = new Client(connection.transport, { requestTimeoutMs, clock });
    const { transportFor } = connection;
    const manager = new Manager(asMember({ ...options, client, transportFor }, membership));
    addControllers(manager);
    this.#updateProblem = undefined;
    this.#connection = connection;
    this.#restart = () => stopping.abort();
    this.#state = { kind: "running", manager, server: connection.server };
    this.#options.onConnected(this);
    try {
      await manager.run(stopping.signal);
    } finally {
      this.#connection = undefined;
      this.#restart = undefined;
      this.#options.onManagerEnded();
    }
  }

  /** Opens a connection. The end does not wait for it. */
  async #connect(): Promise<ClusterConnection> {
    const opening = this.#cluster.connect();
    try {
      return await untilAborted(opening, this.#stop.signal);
    } catch (error) {
      opening.then((late) => late[Symbol.dispose](), () => undefined);
      throw error;
    }
  }

  /** Uses the newest revision, without a new start if the server is the same. Tries again with backoff. Never throws. */
  async #reconnect(open: OpenConnection): Promise<void> {
    const { manager: { clock, random }, log } = this.#options;
    const { revision } = this.#cluster;
    const isCurrent = () => this.#connection === open && this.#cluster.revision === revision && !this.isEnding;
    const backoff = new Backoff({ initialMs: 1_000, maxMs: 60_000, jitter: 1, clock, random });
    while (isCurrent()) {
      try {
        const connection = await this.#connect();
        if (!isCurrent()) return connection[Symbol.dispose]();
        this.#updateProblem = undefined;
        return this.#use(open, connection);
      } catch (error) {
        if (!isCurrent()) return;
        this.#updateProblem = errorText(error);
        log.warn("new credentials cannot be used, keeping the old ones", { cluster: this.name, error });
        this.#options.onProblem(this.#cluster, error);
        await clock.sleep(backoff.next(), this.#stop.signal).catch(() => undefined);
      }
    }
  }

  #use(open: OpenConnection, connection: ClusterConnection): void {
    const { log } = this.#options;
    if (open.leadsTo(connection)) {
      log.info("credentials replaced", { cluster: this.name });
      return open.replace(connection);
    }
    // Another cluster has other objects and versions.
    log.info("cluster was replaced by another one, starting anew", { cluster: this.name, server: connection.server });
    connection[Symbol.dispose]();
    this.#restart?.();
  }

  #report(error: unknown): void {
    this.#state = { kind: "failed", error: errorText(error) };
    this.#options.log.error("cluster failed, trying again", { cluster: this.name, error });
    this.#options.onProblem(this.#cluster, error);
  }

  /** Waits until the cluster is tried again, at the latest when it has a new revision. */
  async #pause(ms: number): Promise<void> {
    const { clock } = this.#options.manager;
    using waiting = scope(this.#stop.signal);
    this.#restart = () => waiting.abort();
    try {
      await clock.sleep(ms, waiting.signal);
    } catch (error) {
      if (!isAbortOf(waiting.signal, error)) throw error;
    } finally {
      this.#restart = undefined;
    }
  }
}
