/**
 * ClientConnections: the connections of one HTTP/1.1 client. One request at a time on each; a connection whose answer was
 * read to its end waits for the next request, the last one first, so that a burst's others end by themselves.
 *
 * Guarantees: nothing is sent twice: a kept connection that breaks is the request's error, and the caller knows what may
 * be repeated. There is no limit on how many there are: every watch needs one of its own.
 */
import { type BunSocket, connectionClosed, dial, type SocketTarget } from "./_bun_socket.ts";
import { ClientExchange, type ClientExchangeOptions } from "./_client_exchange.ts";

/** A request, ready to be sent. */
export interface ClientRequest extends Pick<ClientExchangeOptions, "method" | "signal" | "longLived"> {
  /** Head and body. */
  readonly bytes: Uint8Array;
}

/** One connection and the exchange that it carries. */
class ClientConnection {
  readonly #socket: BunSocket;
  #exchange: ClientExchange | undefined;

  constructor(socket: BunSocket, onEnd: () => void) {
    this.#socket = socket;
    // Bytes that nobody asked for: the peer is out of step.
    socket.onBytes = (bytes) => this.#exchange === undefined ? this.close() : this.#exchange.receive(bytes);
    socket.onEnd = (error) => {
      onEnd();
      this.#exchange?.closed(error);
    };
  }

  /** Sends a request. `onIdle` is called when another may follow. */
  send(request: ClientRequest, onIdle: () => void): Promise<Response> {
    if (this.#socket.hasEnded) return Promise.reject(connectionClosed());
    const onDone = (isReusable: boolean) => {
      this.#exchange = undefined;
      if (isReusable && !this.#socket.hasEnded) onIdle();
      else this.close();
    };
    this.#exchange = new ClientExchange(this.#socket, { ...request, onDone });
    const { answer } = this.#exchange;
    this.#socket.write(request.bytes);
    return answer;
  }

  rest(): void {
    this.#socket.rest();
  }

  wake(): void {
    this.#socket.wake();
  }

  close(): void {
    this.#socket.end(new Error("the connection is no longer needed"));
  }
}

/** The connections to all servers that one client talks to. */
export class ClientConnections {
  readonly #idle = new Map<string, ClientConnection[]>();
  #isClosed = false;

  /** Sends a request over a kept connection, or over a new one. @throws what the connection or the signal says */
  async send(target: SocketTarget, request: ClientRequest): Promise<Response> {
    const origin = `${target.tls === undefined ? "http" : "https"}://${target.hostname}:${target.port}`;
    const connection = this.#take(origin) ?? await this.#connect(origin, target, request.signal);
    return await connection.send(request, () => this.#keep(origin, connection));
  }

  /** Ends the idle connections; the others end when their answers do. */
  close(): void {
    this.#isClosed = true;
    for (const connections of this.#idle.values()) {
      for (const connection of [...connections]) connection.close();
    }
  }

  #take(origin: string): ClientConnection | undefined {
    const connection = this.#idle.get(origin)?.pop();
    connection?.wake();
    return connection;
  }

  #keep(origin: string, connection: ClientConnection): void {
    if (this.#isClosed) return connection.close();
    const connections = this.#idle.get(origin);
    if (connections === undefined) this.#idle.set(origin, [connection]);
    else connections.push(connection);
    connection.rest();
  }

  #remove(origin: string, connection: ClientConnection): void {
    const connections = this.#idle.get(origin) ?? [];
    const at = connections.indexOf(connection);
    if (at >= 0) connections.splice(at, 1);
  }

  /** Connects; one that comes after its request was aborted serves the next. */
  #connect(origin: string, target: SocketTarget, signal: AbortSignal): Promise<ClientConnection> {
    return new Promise((resolve, reject) => {
      const aborted = () => reject(signal.reason);
      signal.addEventListener("abort", aborted, { once: true });
      const over = () => signal.removeEventListener("abort", aborted);
      dial(target).then((socket) => {
        over();
        const connection: ClientConnection = new ClientConnection(socket, () => this.#remove(origin, connection));
        if (signal.aborted) this.#keep(origin, connection);
        else resolve(connection);
      }, (error) => {
        over();
        reject(error);
      });
    });
  }
}
