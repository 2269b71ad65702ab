/**
 * exec and attach: the streams of a container over one WebSocket, with the channel protocol of Kubernetes. Each message
 * begins with the number of its channel; v5 can also close stdin, v4 (servers before 1.30) cannot.
 *
 * | channel | 0     | 1      | 2      | 3                   | 4                           | 255               |
 * | ------- | ----- | ------ | ------ | ------------------- | --------------------------- | ----------------- |
 * |         | stdin | stdout | stderr | the Status at the end | `{"Width":80,"Height":24}` | closes a channel |
 *
 * Guarantees: bytes of a channel come in order; a stream that nobody reads stops the others after 256 KiB, because they
 * share a connection; leaving early ends the connection.
 */
import { builtin, toStatus } from "../api/mod.ts";
import { type Clock, onAbort } from "../async/mod.ts";
import type { WebSocketConnection } from "../runtime/mod.ts";
import { ApiError } from "./api_error.ts";
import { isObject, parseJson } from "./decoder.ts";
import { objectPath, objectText } from "./encoder.ts";
import type { Requester } from "./requester.ts";
import { wireOf } from "./transport.ts";
import { chosenProtocol, clientWebSocket, handshakeFor } from "./web_socket.ts";

/** Options of `Client.attach`. */
export interface AttachOptions {
  /** The container. @default the only one, or that of the annotation `kubectl.kubernetes.io/default-container` */
  readonly container?: string;
  /** Opens stdin. @default false */
  readonly stdin?: boolean;
  /** Opens stdout. @default true */
  readonly stdout?: boolean;
  /** Opens stderr. @default true; false with a terminal, whose output is stdout alone */
  readonly stderr?: boolean;
  /** Runs it in a terminal. @default false */
  readonly tty?: boolean;
  /** Ends the connection. The program in the container may go on. @default no signal */
  readonly signal?: AbortSignal;
}

/** Options of `Client.exec`. */
export interface ExecOptions extends AttachOptions {
  /** The program and its arguments. No shell is involved. */
  readonly command: readonly string[];
}

/** What a program wrote, and how it ended. */
export interface ProgramOutput {
  /** 0 is success. */
  readonly exitCode: number;
  /** Its standard output as UTF-8 text. */
  readonly stdout: string;
  /** Its standard error as UTF-8 text. */
  readonly stderr: string;
}

/** The streams of a container. Read those that are open, or the program waits for its reader. */
export interface ContainerStreams extends Disposable {
  /** Closing it ends the input of the program. Nothing is open without the option `stdin`. */
  readonly stdin: WritableStream<Uint8Array>;
  /** The standard output. Ends with the program. */
  readonly stdout: ReadableStream<Uint8Array>;
  /** The standard error. */
  readonly stderr: ReadableStream<Uint8Array>;
  /**
   * The exit code of the program. Of `attach` it is that of the stream: 0 when it ended in order.
   *
   * @throws {ApiError} when the program could not be started
   * @throws {UnreachableError} when the connection broke
   */
  readonly exitCode: Promise<number>;
  /** Tells the terminal its size, in characters. */
  resize(size: { readonly columns: number; readonly rows: number }): Promise<void>;
  /**
   * Reads everything as text.
   *
   * @param options `maxBytes` of stdout and of stderr, 16 MiB by default.
   * @throws {RangeError} when there is more
   */
  output(options?: { readonly maxBytes?: number }): Promise<ProgramOutput>;
}

/** What opens streams. */
export interface StreamContext {
  readonly requester: Requester;
  readonly clock: Clock;
  /** The client only validates writes. */
  readonly isDryRun: boolean;
}

const protocols = ["v5.channel.k8s.io", "v4.channel.k8s.io"] as const;
const channels = { stdin: 0, stdout: 1, stderr: 2, status: 3, resize: 4, close: 255 } as const;
/** The most bytes of one message to the server. */
const maxSentBytes = 32 * 1024;
const maxOutputBytes = 16 * 1024 * 1024;
const never = new AbortController().signal;

/** Opens the streams of a container. @throws ApiError, UnreachableError, TypeError for options that cannot be */
export async function openStreams(
  context: StreamContext,
  target: { readonly podKey: string; readonly subresource: "exec" | "attach"; readonly command?: readonly string[] },
  options: AttachOptions,
): Promise<ContainerStreams> {
  const { podKey, subresource, command = [] } = target;
  const { container, stdin = false, stdout = true, tty = false, stderr = !tty, signal = never } = options;
  const action = `${subresource === "exec" ? "exec in" : "attach to"} ${objectText(builtin.Pod, podKey)}`;
  if (subresource === "exec" && command.length === 0) throw new TypeError(`Cannot ${action}: the command is empty`);
  if (tty && stderr) throw new TypeError(`Cannot ${action}: a terminal has no stderr; leave stderr or tty out`);
  if (!stdin && !stdout && !stderr) throw new TypeError(`Cannot ${action}: no stream is open`);
  if (context.isDryRun) throw new TypeError(`Cannot ${action}: the client is a dry run`);
  const query = new URLSearchParams();
  for (const word of command) query.append("command", word);
  if (container !== undefined) query.set("container", container);
  for (const [name, isOpen] of Object.entries({ stdin, stdout, stderr, tty })) if (isOpen) query.set(name, "true");
  const path = `${objectPath(builtin.Pod, podKey, subresource)}?${query}`;
  const socket = await connectWebSocket(context, { action, path, protocols, signal });
  return new WebSocketStreams(socket, { action, signal, open: { stdin, stdout, stderr } });
}

/** Opens a WebSocket to a path of the server. @throws ApiError, UnreachableError, Error when it does not speak a protocol */
export async function connectWebSocket(
  context: StreamContext,
  request: {
    readonly action: string;
    readonly path: string;
    readonly protocols: readonly string[];
    readonly signal: AbortSignal;
  },
): Promise<WebSocketConnection> {
  const { action, path, signal } = request;
  const { headers, accept } = await handshakeFor(request.protocols);
  const response = await context.requester.stream({
    ...{ action, method: "GET", path, signal, upgrade: headers },
    // The server has no other representation of a stream, and answers 406 to a request for JSON.
    accept: "*/*",
  });
  const wire = wireOf(response);
  if (wire === undefined) {
    response.body?.cancel().catch(() => {});
    throw new Error(`Cannot ${action}: the server, or the transport, does not switch to WebSocket`);
  }
  try {
    const protocol = chosenProtocol(response.headers, accept, request.protocols);
    return clientWebSocket(wire, { action, protocol, clock: context.clock });
  } catch (error) {
    wire.end();
    throw new Error(`Cannot ${action}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

interface StreamsOptions {
  readonly action: string;
  readonly signal: AbortSignal;
  readonly open: { readonly stdin: boolean; readonly stdout: boolean; readonly stderr: boolean };
}

class WebSocketStreams implements ContainerStreams {
  readonly stdin: WritableStream<Uint8Array>;
  readonly stdout: ReadableStream<Uint8Array>;
  readonly stderr: ReadableStream<Uint8Array>;
  readonly exitCode: Promise<number>;
  readonly #socket: WebSocketConnection;
  readonly #options: StreamsOptions;
  readonly #outputs: ReadonlyMap<number, Output>;
  readonly #listening: Disposable;

  constructor(socket: WebSocketConnection, options: StreamsOptions) {
    const { action, signal, open } = options;
    this.#socket = socket;
    this.#options = options;
    const [stdout, stderr] = [new Output(open.stdout), new Output(open.stderr)];
    this.#outputs = new Map([[channels.stdout, stdout], [channels.stderr, stderr]]);
    this.stdout = stdout.stream;
    this.stderr = stderr.stream;
    this.stdin = new WritableStream({
      write: (bytes) => this.#write(bytes),
      close: () => this.#closeInput(),
      abort: () => this.#closeInput(),
    }, { highWaterMark: maxSentBytes, size: (bytes) => bytes.byteLength });
    this.#listening = onAbort(signal, () => socket.close(signal.reason));
    this.exitCode = this.#run(action);
    // An exit code that nobody waits for is no unhandled error.
    this.exitCode.catch(() => {});
  }

  async resize({ columns, rows }: { readonly columns: number; readonly rows: number }): Promise<void> {
    await this.#send(channels.resize, new TextEncoder().encode(JSON.stringify({ Width: columns, Height: rows })));
  }

  async output({ maxBytes = maxOutputBytes }: { readonly maxBytes?: number } = {}): Promise<ProgramOutput> {
    const { action } = this.#options;
    try {
      const [stdout, stderr, exitCode] = await Promise.all([
        textOf(this.stdout, maxBytes, action),
        textOf(this.stderr, maxBytes, action),
        this.exitCode,
      ]);
      return { exitCode, stdout, stderr };
    } catch (error) {
      this[Symbol.dispose]();
      throw error;
    }
  }

  [Symbol.dispose](): void {
    this.#socket.close();
  }

  async #write(bytes: Uint8Array): Promise<void> {
    if (!this.#options.open.stdin) {
      throw new TypeError(`Cannot write to stdin: ${this.#options.action} did not open it`);
    }
    for (let at = 0; at < bytes.length; at += maxSentBytes) {
      await this.#send(channels.stdin, bytes.subarray(at, at + maxSentBytes));
    }
  }

  /** With v4 a program does not see the end of its input: there is no message for it. */
  async #closeInput(): Promise<void> {
    if (!this.#options.open.stdin || this.#socket.protocol !== "v5.channel.k8s.io") return;
    await this.#send(channels.close, new Uint8Array([channels.stdin])).catch(() => {});
  }

  async #send(channel: number, bytes: Uint8Array): Promise<void> {
    const message = new Uint8Array(1 + bytes.length);
    message[0] = channel;
    message.set(bytes, 1);
    await this.#socket.send(message);
  }

  /** Reads until the Status, or the end of the connection. @returns the exit code */
  async #run(action: string): Promise<number> {
    try {
      for (let message = await this.#socket.receive(); message !== undefined; message = await this.#socket.receive()) {
        const [channel = channels.close] = message;
        const bytes = message.subarray(1);
        if (channel === channels.status) {
          if (bytes.length === 0) continue; // says that the connection is open
          const code = exitCodeOf(new TextDecoder().decode(bytes), action);
          for (const output of this.#outputs.values()) output.end();
          return code;
        }
        if (channel === channels.close) this.#outputs.get(bytes[0] ?? -1)?.end();
        else await this.#outputs.get(channel)?.add(bytes);
      }
      throw new Error(`Cannot ${action}: the server closed the stream without saying how the program ended`);
    } catch (error) {
      for (const output of this.#outputs.values()) output.fail(error);
      throw error;
    } finally {
      this.#listening[Symbol.dispose]();
      this.#socket.close();
    }
  }
}

/** One stream of output. A reader that cancels it drops the rest. */
class Output {
  readonly stream: ReadableStream<Uint8Array>;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #onRoom: () => void = () => {};

  constructor(isOpen: boolean) {
    this.stream = new ReadableStream({
      start: (controller) => {
        if (isOpen) this.#controller = controller;
        else controller.close();
      },
      pull: () => this.#onRoom(),
      cancel: () => {
        this.#controller = undefined;
        this.#onRoom();
      },
    }, { highWaterMark: 64 * 1024, size: (bytes) => bytes?.byteLength ?? 0 });
  }

  /** Resolves when there is room for more. */
  async add(bytes: Uint8Array): Promise<void> {
    if (bytes.length === 0) return;
    this.#controller?.enqueue(bytes);
    while ((this.#controller?.desiredSize ?? 1) <= 0) await new Promise<void>((resolve) => this.#onRoom = resolve);
  }

  end(): void {
    this.#controller?.close();
    this.#controller = undefined;
  }

  fail(error: unknown): void {
    this.#controller?.error(error);
    this.#controller = undefined;
  }
}

/** The exit code in the Status. @throws ApiError when the program did not run */
function exitCodeOf(text: string, action: string): number {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (cause) {
    throw new Error(`Cannot ${action}: the server ended it with something that is no Status`, { cause });
  }
  if (isObject(value) && value.status === "Success") return 0;
  const status = toStatus(value);
  const cause = status.details?.causes?.find(({ reason }) => reason === "ExitCode");
  if (status.reason === "NonZeroExitCode" && /^\d{1,3}$/.test(cause?.message ?? "")) return Number(cause?.message);
  throw new ApiError(status, { action });
}

async function textOf(stream: ReadableStream<Uint8Array>, maxBytes: number, action: string): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let sizeBytes = 0;
  for await (const bytes of stream) {
    sizeBytes += bytes.length;
    if (sizeBytes > maxBytes) throw new RangeError(`Cannot ${action}: it wrote more than ${maxBytes} bytes`);
    text += decoder.decode(bytes, { stream: true });
  }
  return text + decoder.decode();
}
