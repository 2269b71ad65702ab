/**
 * `pods/exec` and `pods/attach` of simulated Pods: by WebSocket, which kubectl and most client libraries try first, and by SPDY,
 * which programs with client-go use. The answer of a command is scripted (ExecAnswers), or it runs in the small shell of
 * `shell.ts`; attach shows what the log shows.
 *
 * Guarantees: a client that reads slowly slows the command, and one that leaves ends it; at most 64 KiB of input that no
 * command has read are kept before the client waits.
 */
import type { Clock } from "../../async/mod.ts";
import { badRequest, internalError, type JsonObject, notFound } from "../model/mod.ts";
import { objectAt, objectsAt, textAt } from "../kinds/mod.ts";
import type { ActionCall, ActionResponse, SubresourceHandler } from "../registry/mod.ts";
import { acceptWebSocket, isWebSocketRequest } from "../sockets/mod.ts";
import { viewOf } from "./_container_files.ts";
import { commandNames, Shell } from "./shell.ts";
import { checkContainer, isOn, simulatedLog } from "./pod_log.ts";
import { acceptSpdyStreams } from "./spdy_streams.ts";
import { failure, streamProtocols, StreamSession, WebSocketStreams } from "./stream_session.ts";

const encoder = new TextEncoder();

/** A command in a container of a simulated Pod. */
export interface ExecCall {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  readonly command: readonly string[];
}

/** What a command answers. */
export interface ExecAnswer {
  readonly stdout?: string;
  readonly stderr?: string;
  /** @default 0 */
  readonly exitCode?: number;
}

/** Answers commands instead of the programs that do not run. undefined: the small shell runs the command, if it can. */
export type ExecAnswers = (call: ExecCall) => ExecAnswer | undefined;

/** The handlers of exec and attach. */
export function podStreamHandlers(clock: Clock, answers: ExecAnswers = () => undefined): readonly SubresourceHandler[] {
  return (["exec", "attach"] as const).map((subresource) => ({
    collection: "pods",
    subresource,
    isConnection: true,
    handle: (call: ActionCall): ActionResponse => connection(call, subresource, { clock, answers }),
  }));
}

function connection(
  call: ActionCall,
  subresource: "exec" | "attach",
  { clock, answers }: { readonly clock: Clock; readonly answers: ExecAnswers },
): ActionResponse {
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
      const program = subresource === "exec"
        ? (session: StreamSession) => runCommand(session, { call, pod, container, command, answers })
        : (session: StreamSession) => showLog(session, call);
      if (!isWebSocketRequest(request)) return acceptSpdyStreams(request, { query, clock, program });
      return await acceptWebSocket(request, {
        clock,
        protocols: streamProtocols,
        action: `${subresource} in Pod "${namespace}/${name}"`,
        run: (socket) => new StreamSession(new WebSocketStreams(socket, query), query, clock).run(program),
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
  readonly answers: ExecAnswers;
}

/** @returns the Status at the end */
async function runCommand(
  session: StreamSession,
  { call, pod, container, command, answers }: Command,
): Promise<object> {
  const { namespace, name: podName } = call;
  const answer = answers({ namespace, pod: podName, container: textAt(container, "name"), command });
  if (answer !== undefined) {
    await session.write("stdout", encoder.encode(answer.stdout ?? ""));
    await session.write("stderr", encoder.encode(answer.stderr ?? ""));
    return exited(answer.exitCode ?? 0);
  }
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
async function showLog(session: StreamSession, { registry, namespace, name }: ActionCall): Promise<object> {
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
