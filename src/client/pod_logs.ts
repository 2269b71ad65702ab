/**
 * Logs of a container as lines. A followed log survives lost connections: each line is requested with its timestamp, and
 * after a loss the log is read again from the last timestamp on, without the lines that were delivered.
 *
 * Guarantees: lines come in the order of the server, each once; memory is bounded, because a longer line comes in pieces;
 * a reader that is slow slows the server; leaving the loop ends the request. A followed log ends when its container does.
 */
import { builtin } from "../api/mod.ts";
import { Backoff, onAbort, type Random, systemClock, systemRandom } from "../async/mod.ts";
import { releaseBytes } from "../runtime/mod.ts";
import { isForbidden, isNotFound } from "./api_error.ts";
import type { ClientOptions } from "./client_options.ts";
import { objectPath, objectText, withQuery } from "./encoder.ts";
import { isObject, parseJson } from "./decoder.ts";
import type { Requester } from "./requester.ts";
import { isTemporary } from "./retry.ts";
import { unreachable } from "./unreachable_error.ts";

/** Options of `Client.logs`. */
export interface LogOptions {
  /** The container. @default the only one; needed when the Pod has several */
  readonly container?: string;
  /** Waits for further lines until the container ends. @default false */
  readonly follow?: boolean;
  /** The log of the container before its last restart. @default false */
  readonly previous?: boolean;
  /** Only lines of the last so many seconds. @default all */
  readonly sinceSeconds?: number;
  /** Only the last so many lines. @default all */
  readonly tailLines?: number;
  /** Begins each line with its time, RFC 3339 with nanoseconds, and a space. @default false */
  readonly timestamps?: boolean;
  /** Longest line in UTF-16 code units; a longer one comes in pieces of this length. @default 1048576 (1 Mi) */
  readonly maxLineLength?: number;
  /** Ends the log; the loop then throws the reason of the signal. @default no signal */
  readonly signal?: AbortSignal;
  /** Varies the delays before the log is read again. @default systemRandom */
  readonly random?: Random;
}

/** What reads logs. */
export interface LogContext {
  readonly requester: Requester;
  readonly options: ClientOptions;
}

const never = new AbortController().signal;

/** Reads the log of one container. @throws TypeError for options that contradict each other, ApiError, UnreachableError */
export async function* podLogs(context: LogContext, podKey: string, options: LogOptions): AsyncGenerator<string> {
  assertOptions(podKey, options);
  const { follow = false, signal = never, random = systemRandom } = options;
  const { clock = systemClock } = context.options;
  const log = new ContainerLog(context, podKey, options);
  if (!follow) return yield* log.read(signal);
  const backoff = new Backoff({ initialMs: 500, maxMs: 10_000, resetAfterMs: 30_000, jitter: 1, clock, random });
  // A log that cannot be read at all is an error; one that was read before is read again.
  for (let hasBegun = false;; hasBegun = true) {
    let failure: unknown;
    try {
      yield* log.read(signal);
    } catch (error) {
      if (signal.aborted || !(hasBegun || log.hasLines) || !isTemporary(error)) throw error;
      failure = error;
    }
    // The server ends a log in the same way when its container ends and when the node is lost.
    if (failure === undefined && !(await log.isRunning(signal))) return yield* log.unfinished();
    await clock.sleep(backoff.next(), signal);
  }
}

function assertOptions(podKey: string, { follow, previous, maxLineLength = 1, tailLines, sinceSeconds }: LogOptions) {
  const problem = follow && previous
    ? "the log of the previous container has ended, so that it cannot be followed"
    : !(maxLineLength >= 1)
    ? `maxLineLength ${maxLineLength} is below 1`
    : tailLines !== undefined && !(Number.isInteger(tailLines) && tailLines >= 0)
    ? `tailLines ${tailLines} is not a whole number`
    : sinceSeconds !== undefined && !(Number.isInteger(sinceSeconds) && sinceSeconds >= 1)
    ? `sinceSeconds ${sinceSeconds} is not a whole number above 0`
    : undefined;
  if (problem !== undefined) throw new TypeError(`Cannot read the log of Pod "${podKey}": ${problem}`);
}

/** The log of one container, and how far it was read. */
class ContainerLog {
  readonly #context: LogContext;
  readonly #podKey: string;
  readonly #options: LogOptions;
  readonly #maxLineLength: number;
  /** The timestamp of the last line, and how many lines with it were delivered. */
  #last = "";
  #lastCount = 0;
  /** A line without an end that the last response broke off in. The next one has it whole, unless the log ends with it. */
  #unfinished: string | undefined;

  constructor(context: LogContext, podKey: string, options: LogOptions) {
    this.#context = context;
    this.#podKey = podKey;
    this.#options = options;
    this.#maxLineLength = options.maxLineLength ?? 1024 * 1024;
  }

  /** True when a line was delivered. */
  get hasLines(): boolean {
    return this.#last !== "";
  }

  /** Reads from the last line on, until the server ends the response. */
  async *read(signal: AbortSignal): AsyncGenerator<string> {
    const { follow = false, timestamps = false } = this.#options;
    const { body } = await this.#context.requester.stream({ ...this.#request(), signal });
    if (body === null) return;
    const from = this.#last;
    let skipped = 0;
    const before = this.#lastCount;
    let isWanted = true;
    this.#unfinished = undefined;
    for await (
      const { text, isStart, hasEnd } of readLines(body, signal, { ...this.#action, max: this.#maxLineLength })
    ) {
      if (!follow) {
        yield text;
        continue;
      }
      // Only the first piece of a line has the timestamp.
      const end = isStart ? text.indexOf(" ") : -1;
      const shown = timestamps ? text : text.slice(isStart ? (end < 0 ? text.length : end + 1) : 0);
      if (!hasEnd) {
        this.#unfinished = shown;
        break;
      }
      if (isStart) {
        const timestamp = end < 0 ? text : text.slice(0, end);
        isWanted = timestamp > from || (timestamp === from && ++skipped > before);
        if (isWanted) this.#note(timestamp);
      }
      if (isWanted) yield shown;
    }
  }

  /** The last line of a log that has ended without a line feed. */
  *unfinished(): Generator<string> {
    if (this.#unfinished !== undefined && this.#unfinished !== "") yield this.#unfinished;
  }

  /** True when the container runs, as far as this user may know. */
  async isRunning(signal: AbortSignal): Promise<boolean> {
    try {
      const path = objectPath(builtin.Pod, this.#podKey);
      const action = `get ${objectText(builtin.Pod, this.#podKey)}`;
      const text = await this.#context.requester.text({ action, method: "GET", path, signal });
      return isContainerRunning(parseJson(text), this.#options.container);
    } catch (error) {
      if (signal.aborted) throw error;
      return !isNotFound(error) && !isForbidden(error);
    }
  }

  #note(timestamp: string): void {
    this.#lastCount = timestamp === this.#last ? this.#lastCount + 1 : 1;
    this.#last = timestamp;
  }

  get #action(): { readonly action: string } {
    const { container } = this.#options;
    const what = container === undefined ? "" : `container "${container}" of `;
    return { action: `read the log of ${what}${objectText(builtin.Pod, this.#podKey)}` };
  }

  #request(): { readonly action: string; readonly method: "GET"; readonly path: string; readonly accept: string } {
    const { container, follow = false, previous, sinceSeconds, tailLines, timestamps = false } = this.#options;
    const path = withQuery(objectPath(builtin.Pod, this.#podKey, "log"), {
      container,
      follow,
      previous,
      timestamps: follow || timestamps,
      ...(this.hasLines ? { sinceTime: this.#last } : { sinceSeconds, tailLines }),
    });
    return { ...this.#action, method: "GET", path, accept: "text/plain, */*" };
  }
}

/** Whether a Pod's JSON says that the container runs; of a Pod whose container is not named, any of them. */
function isContainerRunning(pod: unknown, container: string | undefined): boolean {
  const status = isObject(pod) ? pod.status : undefined;
  if (!isObject(status)) return false;
  const fields = ["containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"] as const;
  return fields.flatMap((field) => Array.isArray(status[field]) ? status[field] : []).some((one: unknown) =>
    isObject(one) && (container === undefined || one.name === container) && isObject(one.state) &&
    one.state.running !== undefined && one.state.running !== null
  );
}

/** A line, or a piece of one. */
interface LinePiece {
  readonly text: string;
  /** False for a further piece of the same line. */
  readonly isStart: boolean;
  /** False for text behind which the body ended without a line feed. */
  readonly hasEnd: boolean;
}

/** The lines of a body, without their line ends. The last one may have none. */
async function* readLines(
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
  { action, max }: { readonly action: string; readonly max: number },
): AsyncGenerator<LinePiece> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  using _cancelling = onAbort(signal, () => void reader.cancel(signal.reason).catch(() => {}));
  let rest = "";
  let isStart = true;
  try {
    while (true) {
      signal.throwIfAborted();
      const { done, value } = await readChunk(reader, signal, action);
      rest += done ? decoder.decode() : decoder.decode(value, { stream: true });
      if (value !== undefined) releaseBytes(value);
      let from = 0;
      for (let end = rest.indexOf("\n"); end >= 0; end = rest.indexOf("\n", from)) {
        for (; end - from > max; from += max, isStart = false) {
          yield { text: rest.slice(from, from + max), isStart, hasEnd: true };
        }
        yield { text: rest.slice(from, end), isStart, hasEnd: true };
        isStart = true;
        from = end + 1;
      }
      for (; rest.length - from > max; from += max, isStart = false) {
        yield { text: rest.slice(from, from + max), isStart, hasEnd: true };
      }
      rest = rest.slice(from);
      if (done) break;
    }
    if (rest !== "") yield { text: rest, isStart, hasEnd: false };
  } finally {
    reader.cancel().catch(() => {});
  }
}

async function readChunk(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  signal: AbortSignal,
  action: string,
): Promise<{ readonly done: boolean; readonly value?: Uint8Array }> {
  try {
    const chunk = await reader.read();
    signal.throwIfAborted();
    return chunk;
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw unreachable(error, action);
  }
}
