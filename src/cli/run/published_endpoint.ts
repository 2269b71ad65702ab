/**
 * PublishedEndpoint: what the Lease of a leader says about its process: its identity, and where `why` and `top` find its debug
 * endpoint. A leader without one removes what an earlier leader has said.
 */
import { processFacts } from "../../runtime/mod.ts";
import type { Session } from "../command/mod.ts";
import type { Connection } from "../connection/mod.ts";
import { debugEndpointAnnotation, locationText, podName } from "../debug/mod.ts";
import type { ServedAddress } from "./debug_listener.ts";

export class PublishedEndpoint {
  /** Unique for each process: two processes on one host are different replicas. */
  readonly identity: string;
  readonly #host = processFacts().hostname;
  readonly #pod: string | undefined;
  #address: ServedAddress | undefined;

  constructor(
    connection: Pick<Connection, "isInCluster" | "namespace">,
    { environment }: Pick<Session, "environment">,
  ) {
    this.identity = `${this.#host}_${crypto.randomUUID()}`;
    this.#pod = podName(connection, environment);
  }

  /** The debug endpoint listens. */
  readonly set = (address: ServedAddress): void => {
    this.#address = address;
  };

  /** The annotations of the Lease. */
  readonly annotations = (): Readonly<Record<string, string | undefined>> => ({
    [debugEndpointAnnotation]: this.#address && locationText({
      ...this.#address,
      holder: this.identity,
      host: this.#host,
      ...(this.#pod === undefined ? {} : { pod: this.#pod }),
    }),
  });
}
