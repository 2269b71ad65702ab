/**
 * StreamPairs: the streams of `port-forward` over SPDY. Each forwarded connection has two with the same request ID: one for its
 * data, and one for the error that the server may report. The rules are those of the kubelet (`portforward/httpstream.go`).
 */
import type { Clock } from "../../async/mod.ts";
import type { ForwardPort } from "./forwarded_stream.ts";
import type { SpdyStream } from "./spdy_connection.ts";

/** Milliseconds that a stream waits for the other one, as in the kubelet. */
const pairMs = 30_000;

interface Pair {
  readonly port: number;
  data?: SpdyStream;
  error?: SpdyStream;
  readonly timer: Disposable;
}

/** The pairs of one connection. */
export class StreamPairs implements Disposable {
  readonly #forward: ForwardPort;
  readonly #clock: Clock;
  readonly #pairs = new Map<string, Pair>();
  readonly #running = new Set<Promise<void>>();

  constructor(forward: ForwardPort, clock: Clock) {
    this.#forward = forward;
    this.#clock = clock;
  }

  /** Takes a stream. @returns false for one that is not of a pair */
  add(stream: SpdyStream): boolean {
    const { headers } = stream;
    const text = headers.get("port") ?? "";
    const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
    const type = headers.get("streamtype");
    if (port < 1 || port > 65_535 || (type !== "data" && type !== "error")) return false;
    // Clients without request IDs open the stream for errors first.
    const id = headers.get("requestid") ?? `stream ${type === "data" ? stream.id - 2 : stream.id}`;
    const pair = this.#pairs.get(id) ?? { port, timer: this.#clock.timer(pairMs, () => this.#giveUp(id)) };
    if (pair[type] !== undefined || pair.port !== port) return false;
    pair[type] = stream;
    this.#pairs.set(id, pair);
    const { data, error } = pair;
    if (data !== undefined && error !== undefined) {
      this.#remove(id, pair);
      this.#start(port, data, error);
    }
    return true;
  }

  /** Resolves when no connection is forwarded any more. */
  async drained(): Promise<void> {
    await Promise.allSettled(this.#running);
  }

  [Symbol.dispose](): void {
    for (const [id, pair] of this.#pairs) this.#remove(id, pair);
  }

  #start(port: number, data: SpdyStream, error: SpdyStream): void {
    const running = run(this.#forward, port, { data, error }).finally(() => this.#running.delete(running));
    this.#running.add(running);
    running.catch(() => {});
  }

  #giveUp(id: string): void {
    const pair = this.#pairs.get(id);
    if (pair === undefined) return;
    this.#remove(id, pair);
    const text = new TextEncoder().encode(`(request=${id}) timed out waiting for streams`);
    // The connection may have ended meanwhile.
    pair.error?.write(text).then(() => pair.error?.finish()).catch(() => {});
    pair.data?.reset().catch(() => {});
  }

  #remove(id: string, pair: Pair): void {
    pair.timer[Symbol.dispose]();
    this.#pairs.delete(id);
  }
}

async function run(
  forward: ForwardPort,
  port: number,
  { data, error }: { readonly data: SpdyStream; readonly error: SpdyStream },
): Promise<void> {
  const problem = await forward(port, data);
  if (problem !== undefined) await error.write(new TextEncoder().encode(problem));
  await data.finish();
  await error.finish();
}
