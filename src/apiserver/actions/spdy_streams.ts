/**
 * The streams of `exec` and `attach` over SPDY, as client-go's executor opens them: one for the Status at the end, and one for
 * each standard stream that the request names. The rules are those of the kubelet (`remotecommand/httpstream.go`).
 *
 * Guarantees: the program starts when all streams are open; a client that opens too few within 30 s is left.
 */
import { type Clock, scope } from "../../async/mod.ts";
import { acceptSpdy, type ByteChannel, SpdyConnection, type SpdyStream } from "../forward/mod.ts";
import type { UnreadBytes } from "../sockets/mod.ts";
import { isOn } from "./pod_log.ts";
import { type ClientStreams, streamProtocols, StreamSession } from "./stream_session.ts";

/** Milliseconds in which a client opens its streams, as in the kubelet. */
const openMs = 30_000;

/** What runs for a client. */
export interface SpdyProgram {
  readonly query: URLSearchParams;
  readonly clock: Clock;
  readonly program: (session: StreamSession) => Promise<object>;
}

/** The 101 for a client, or the response that refuses it. */
export function acceptSpdyStreams(request: Request, options: SpdyProgram): Response {
  return acceptSpdy(request, streamProtocols, (channel) => runProgram(channel, options));
}

async function runProgram(channel: ByteChannel, { query, clock, program }: SpdyProgram): Promise<void> {
  const streams = new SpdyStreams(channel, query);
  using time = scope(new AbortController().signal, { timeoutMs: openMs, clock });
  const isReady = await Promise.race([
    streams.ready.then(() => true),
    streams.ended.then(() => false),
    clock.sleep(openMs, time.signal).then(() => false, () => false),
  ]);
  time.abort();
  if (isReady) await new StreamSession(streams, query, clock).run(program);
}

/** The streams of one connection, by their types. */
class SpdyStreams implements ClientStreams {
  /** Resolves when the client has left. */
  readonly ended: Promise<void>;
  /** Resolves when all streams are open. */
  readonly ready: Promise<void>;
  readonly #streams = new Map<string, SpdyStream>();
  readonly #closing = Promise.withResolvers<void>();

  constructor(channel: ByteChannel, query: URLSearchParams) {
    const isTerminal = isOn(query, "tty");
    const standard = ["stdin", "stdout", "stderr"].filter((name) =>
      isOn(query, name) && !(isTerminal && name === "stderr")
    );
    const expected = new Set(["error", ...standard]);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.ready = promise;
    const connection = new SpdyConnection(channel, {
      onStream: (stream) => {
        const type = stream.headers.get("streamtype") ?? "";
        // The size of the terminal changes nothing here.
        if (type === "resize" && isTerminal) return true;
        if (!expected.delete(type)) return false;
        this.#streams.set(type, stream);
        if (expected.size === 0) resolve();
        return true;
      },
    });
    // A client that breaks the rules, or its connection, has ended its streams.
    this.ended = connection.run().catch(() => {});
  }

  /** Each stream was answered when it was opened. */
  open(): Promise<void> {
    return Promise.resolve();
  }

  async receive(input: UnreadBytes): Promise<void> {
    const stdin = this.#streams.get("stdin");
    for (let bytes = await stdin?.read(); bytes !== undefined; bytes = await stdin?.read()) {
      if (!input.hasEnded) await input.push(bytes);
    }
    input.end();
    await Promise.race([this.ended, this.#closing.promise]);
  }

  async send(stream: "stdout" | "stderr" | "status", bytes: Uint8Array): Promise<void> {
    await this.#streams.get(stream === "status" ? "error" : stream)?.write(bytes);
  }

  /** Ends each stream; the connection closes after that. */
  async close(): Promise<void> {
    this.#closing.resolve();
    // A read of input that the client has not ended ends here.
    this.#streams.get("stdin")?.abort();
    for (const name of ["stdout", "stderr", "error"]) await this.#streams.get(name)?.finish();
  }
}
