/**
 * OpenConnection: the connection of an engaged cluster, which can be replaced while caches and queues stay: the Secret with
 * the kubeconfig has new credentials, the server is the same.
 *
 * Guarantees: requests that begin after `replace` use the new connection. The old one is closed half a minute later, so that
 * running requests can finish; its watches then begin again where they ended.
 */
import type { Clock } from "../async/mod.ts";
import type { Transport } from "../client/mod.ts";
import type { ClusterConnection } from "./cluster_provider.ts";

/** Milliseconds that requests on an old connection have to finish. */
const closeDelayMs = 30_000;

export class OpenConnection implements Disposable {
  readonly #clock: Clock;
  #current: ClusterConnection;
  readonly #closing = new Map<ClusterConnection, Disposable>();

  constructor(connection: ClusterConnection, clock: Clock) {
    this.#current = connection;
    this.#clock = clock;
  }

  get current(): ClusterConnection {
    return this.#current;
  }

  get server(): string {
    return this.#current.server;
  }

  /** True if both lead to the same cluster, so that what was read from one is valid for the other. */
  leadsTo({ server, identity }: ClusterConnection): boolean {
    return server === this.#current.server && identity === this.#current.identity;
  }

  /** Sends each request over the connection that is current when it begins. */
  readonly transport: Transport = (request) => this.#current.transport(request);

  /** The transport of one controller. */
  readonly transportFor = (controller: string, transport: Transport): Transport =>
    this.#current.transportFor?.(controller, transport) ?? transport;

  replace(connection: ClusterConnection): void {
    const old = this.#current;
    this.#current = connection;
    const close = () => {
      this.#closing.delete(old);
      old[Symbol.dispose]();
    };
    this.#closing.set(old, this.#clock.timer(closeDelayMs, close));
  }

  [Symbol.dispose](): void {
    for (const [connection, timer] of this.#closing) {
      timer[Symbol.dispose]();
      connection[Symbol.dispose]();
    }
    this.#closing.clear();
    this.#current[Symbol.dispose]();
  }
}
