/**
 * StreamSession: one client of `exec` or `attach`, whatever protocol it speaks: it reads and writes the standard streams of a
 * program, and gets a Status at its end. WebSocketStreams is the protocol v5.channel.k8s.io, which kubectl and the client
 * libraries try first; SPDY is in `spdy_streams.ts`.
 *
 * Guarantees: a client that reads slowly slows the program; one that leaves ends it.
 */
import type { Clock } from "../../async/mod.ts";
import type { WebSocketConnection } from "../../runtime/mod.ts";
import { isClientGone, UnreadBytes } from "../sockets/mod.ts";
import { isOn } from "./pod_log.ts";

/**
 * The protocols of exec and attach, by WebSocket and by SPDY. With these the Status at the end is JSON; the clients of others
 * are older than Kubernetes 1.4.
 */
export const streamProtocols: readonly string[] = ["v5.channel.k8s.io", "v4.channel.k8s.io"];

const channels = { stdin: 0, stdout: 1, stderr: 2, status: 3, close: 255 } as const;
/** The most bytes of one message to the client. */
const maxSentBytes = 32 * 1024;
const encoder = new TextEncoder();

/** The streams of one client. */
export interface ClientStreams {
  /** Tells the client that its streams are open. */
  open(): Promise<void>;
  /** Takes what the client sends, until it leaves. */
  receive(input: UnreadBytes): Promise<void>;
  /** Resolves when the client can take more. */
  send(stream: "stdout" | "stderr" | "status", bytes: Uint8Array): Promise<void>;
  /** Ends all streams, after what was sent. */
  close(): Promise<void>;
  /** Resolves when the client has left. */
  readonly ended: Promise<void>;
}

/** One client. */
export class StreamSession {
  readonly #streams: ClientStreams;
  readonly #query: URLSearchParams;
  readonly #clock: Clock;
  readonly #left = new AbortController();
  readonly #input = new UnreadBytes(maxInputBytes);

  constructor(streams: ClientStreams, query: URLSearchParams, clock: Clock) {
    this.#streams = streams;
    this.#query = query;
    this.#clock = clock;
    if (!isOn(query, "stdin")) this.#input.end();
    streams.ended.then(() => this.#leave());
  }

  /** Runs a program, and tells the client how it ended. */
  async run(program: (session: StreamSession) => Promise<object>): Promise<void> {
    const receiving = this.#receive();
    try {
      await this.#streams.open();
      const status = await program(this).catch((error: unknown) => {
        if (isClientGone(error)) throw error;
        return failure(error instanceof Error ? error.message : String(error));
      });
      await this.#streams.send("status", encoder.encode(JSON.stringify(status)));
    } catch (error) {
      if (!isClientGone(error)) throw error;
    } finally {
      await this.#streams.close();
      await receiving;
    }
  }

  async write(stream: "stdout" | "stderr", bytes: Uint8Array): Promise<void> {
    // A terminal has one output.
    const isTerminal = isOn(this.#query, "tty");
    const name = isTerminal ? "stdout" : stream;
    if (!isOn(this.#query, name)) return;
    const shown = isTerminal ? encoder.encode(new TextDecoder().decode(bytes).replaceAll(/\r?\n/g, "\r\n")) : bytes;
    for (let at = 0; at < shown.length; at += maxSentBytes) {
      await this.#streams.send(name, shown.subarray(at, at + maxSentBytes));
    }
  }

  /** The next input of the client; undefined at its end. */
  async read(): Promise<Uint8Array | undefined> {
    const bytes = await this.#input.read();
    if (bytes !== undefined) return await this.#asLines(bytes);
    this.#left.signal.throwIfAborted();
    return undefined;
  }

  async sleep(ms: number): Promise<void> {
    await this.#clock.sleep(ms, this.#left.signal);
  }

  /** A terminal shows what is typed, sends CR for a new line, and ends its input with Ctrl-D. */
  async #asLines(bytes: Uint8Array): Promise<Uint8Array | undefined> {
    if (!isOn(this.#query, "tty")) return bytes;
    if (bytes.includes(endOfTransmission)) {
      this.#input.end();
      return undefined;
    }
    const line = bytes.map((byte) => byte === carriageReturn ? lineFeed : byte);
    await this.write("stdout", line);
    return line;
  }

  /** Takes what the client sends until it leaves. Never rejects. */
  async #receive(): Promise<void> {
    try {
      await this.#streams.receive(this.#input);
    } catch {
      // The connection broke, or the client broke its rules: both are its end.
    }
    this.#leave();
  }

  #leave(): void {
    this.#left.abort(new DOMException("The client closed the connection", "AbortError"));
    this.#input.end();
    this.#input.lift();
  }
}

/** The Status of a command that could not run. */
export function failure(why: string): object {
  const message = `Internal error occurred: error executing command in container: ${why}`;
  return { metadata: {}, status: "Failure", message, reason: "InternalError", code: 500 };
}

/** The streams of a WebSocket: each message begins with the number of its stream. */
export class WebSocketStreams implements ClientStreams {
  readonly #socket: WebSocketConnection;
  readonly #query: URLSearchParams;

  constructor(socket: WebSocketConnection, query: URLSearchParams) {
    this.#socket = socket;
    this.#query = query;
  }

  get ended(): Promise<void> {
    return this.#socket.ended;
  }

  /** An empty message says that the connection is open. */
  async open(): Promise<void> {
    await this.#send(isOn(this.#query, "stdout") ? channels.stdout : channels.status, new Uint8Array(0));
  }

  async receive(input: UnreadBytes): Promise<void> {
    for (let message = await this.#socket.receive(); message !== undefined; message = await this.#socket.receive()) {
      const [channel, first] = message;
      if (channel === channels.close && first === channels.stdin) input.end();
      if (channel === channels.stdin && !input.hasEnded) await input.push(message.subarray(1));
    }
  }

  async send(stream: "stdout" | "stderr" | "status", bytes: Uint8Array): Promise<void> {
    await this.#send(channels[stream], bytes);
  }

  close(): Promise<void> {
    this.#socket.close();
    return Promise.resolve();
  }

  async #send(channel: number, bytes: Uint8Array): Promise<void> {
    const message = new Uint8Array(1 + bytes.length);
    message[0] = channel;
    message.set(bytes, 1);
    await this.#socket.send(message);
  }
}

const carriageReturn = 13;
const lineFeed = 10;
const endOfTransmission = 4;
/** Input that no command has read. */
const maxInputBytes = 64 * 1024;
