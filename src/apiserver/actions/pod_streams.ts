/**
 * `pods/exec` and `pods/attach` of simulated Pods, by WebSocket with v5.channel.k8s.io and v4.channel.k8s.io, which kubectl
 * and the client libraries try first. A command runs in the small shell of `shell.ts`; attach shows what the log shows.
 *
 * Guarantees: a client that reads slowly slows the command, and one that leaves ends it; at most 64 KiB of input that no
 * command has read are kept before the client waits. SPDY is refused with a 501 that says so.
 */
import type { Clock } from "../../async/mod.ts";
import type { WebSocketConnection } from "../../runtime/mod.ts";
import { badRequest, internalError, type JsonObject, notFound, notServed } from "../model/mod.ts";
import { objectAt, objectsAt, textAt } from "../kinds/mod.ts";
import type { ActionCall, ActionResponse, SubresourceHandler } from "../registry/mod.ts";
import { acceptWebSocket, isClientGone, isWebSocketRequest, UnreadBytes } from "../sockets/mod.ts";
import { viewOf } from "./_container_files.ts";
import { commandNames, Shell } from "./shell.ts";
import { checkContainer, isOn, simulatedLog } from "./pod_log.ts";

const protocols = ["v5.channel.k8s.io", "v4.channel.k8s.io"];
const channels = { stdin: 0, stdout: 1, stderr: 2, status: 3, close: 255 } as const;
/** The most bytes of one message to the client. */
const maxSentBytes = 32 * 1024;
const encoder = new TextEncoder();

/** The handlers of exec and attach. */
export function podStreamHandlers(clock: Clock): readonly SubresourceHandler[] {
  return (["exec", "attach"] as const).map((subresource) => ({
    collection: "pods",
    subresource,
    isConnection: true,
    handle: (call: ActionCall): ActionResponse => connection(call, subresource, clock),
  }));
}

function connection(call: ActionCall, subresource: "exec" | "attach", clock: Clock): ActionResponse {
  const { registry, namespace, name, query } = call;
  const pod = registry.storage.get("pods", namespace, name);
  if (pod === undefined) throw notFound({ group: "", resource: "pods", name });
  const spec = objectAt(pod, "spec");
  const wanted = query.get("container") ?? "";
  checkContainer(spec, name, wanted);
  if (textAt(spec, "nodeName") === "") throw badRequest(`pod ${name} does not have a host assigned`);
  const all = ["containers", "initContainers", "ephemeralContainers"].flatMap((key) => objectsAt(spec, key));
  const container = all.find((one) => wanted === "" || textAt(one, "name") === wanted) ?? {};
  const command = query.getAll("command");
  if (subresource === "exec" && command.length === 0) {
    throw badRequest("you must specify at least 1 command for the container");
  }
  if (!["stdin", "stdout", "stderr"].some((stream) => isOn(query, stream))) {
    throw badRequest("you must specify at least 1 of stdin, stdout, stderr");
  }
  if (textAt(objectAt(pod, "status"), "phase") !== "Running") {
    throw internalError(`unable to upgrade connection: container not found ("${textAt(container, "name")}")`);
  }
  return {
    kind: "connection",
    async connect(request) {
      if (!isWebSocketRequest(request)) {
        throw notServed(`pods/${subresource} is served by WebSocket only (${protocols.join(", ")}), not by SPDY`);
      }
      const program = subresource === "exec"
        ? (session: Session) => runCommand(session, { call, pod, container, command })
        : (session: Session) => showLog(session, call);
      return await acceptWebSocket(request, {
        clock,
        protocols,
        action: `${subresource} in Pod "${namespace}/${name}"`,
        run: (socket) => new Session(socket, query, clock).run(program),
        cancel: () => {},
      });
    },
  };
}

interface Command {
  readonly call: ActionCall;
  readonly pod: JsonObject;
  readonly container: JsonObject;
  readonly command: readonly string[];
}

/** @returns the Status at the end */
async function runCommand(session: Session, { call, pod, container, command }: Command): Promise<object> {
  const view = await viewOf({ call, pod }, container);
  const [name = ""] = command;
  if (!Shell.has(name)) {
    const has = `a simulated container has: ${commandNames.join(" ")}`;
    return failure(`exec: "${name}": executable file not found in $PATH (${has})`);
  }
  const code = await new Shell({
    view,
    write: (stream, bytes) => session.write(stream, bytes),
    read: () => session.read(),
    sleep: (ms) => session.sleep(ms),
  }).runProgram(command);
  return exited(code);
}

/** Shows the log until the client leaves, or the Pod has ended. */
async function showLog(session: Session, { registry, namespace, name }: ActionCall): Promise<object> {
  await session.write("stdout", encoder.encode(simulatedLog(namespace, name)));
  const isRunning = () => {
    const pod = registry.storage.get("pods", namespace, name);
    return pod !== undefined && textAt(objectAt(pod, "status"), "phase") === "Running";
  };
  while (isRunning()) await session.sleep(pollMs);
  return exited(0);
}

/** How often attach looks at its Pod. */
const pollMs = 1_000;

function exited(code: number): object {
  if (code === 0) return { metadata: {}, status: "Success" };
  return {
    metadata: {},
    status: "Failure",
    message: `command terminated with non-zero exit code: exit status ${code}`,
    reason: "NonZeroExitCode",
    details: { causes: [{ reason: "ExitCode", message: `${code}` }] },
  };
}

function failure(why: string): object {
  const message = `Internal error occurred: error executing command in container: ${why}`;
  return { metadata: {}, status: "Failure", message, reason: "InternalError", code: 500 };
}

/** The channels of one connection. */
class Session {
  readonly #socket: WebSocketConnection;
  readonly #query: URLSearchParams;
  readonly #clock: Clock;
  readonly #left = new AbortController();
  readonly #input = new UnreadBytes(maxInputBytes);

  constructor(socket: WebSocketConnection, query: URLSearchParams, clock: Clock) {
    this.#socket = socket;
    this.#query = query;
    this.#clock = clock;
    if (!isOn(query, "stdin")) this.#input.end();
    socket.ended.then(() => this.#leave());
  }

  /** Runs a program, and tells the client how it ended. */
  async run(program: (session: Session) => Promise<object>): Promise<void> {
    const receiving = this.#receive();
    try {
      // An empty message says that the connection is open.
      await this.#send(isOn(this.#query, "stdout") ? channels.stdout : channels.status, new Uint8Array(0));
      const status = await program(this).catch((error: unknown) => {
        if (isClientGone(error)) throw error;
        return failure(error instanceof Error ? error.message : String(error));
      });
      await this.#send(channels.status, encoder.encode(JSON.stringify(status)));
    } catch (error) {
      if (!isClientGone(error)) throw error;
    } finally {
      this.#socket.close();
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
      await this.#send(channels[name], shown.subarray(at, at + maxSentBytes));
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
      for (let message = await this.#socket.receive(); message !== undefined; message = await this.#socket.receive()) {
        const [channel, first] = message;
        if (channel === channels.close && first === channels.stdin) this.#input.end();
        if (channel === channels.stdin && !this.#input.hasEnded) await this.#input.push(message.subarray(1));
      }
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
