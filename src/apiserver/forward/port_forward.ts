/**
 * `pods/portforward` of simulated Pods, to the programs that stand in for their ports (stand_ins.ts). Clients speak SPDY in a
 * WebSocket (kubectl since 1.31), SPDY itself (older ones, and programs with client-go), or one WebSocket with two channels for
 * each port (clients in JavaScript and Python).
 *
 * Guarantees: each forwarded connection is one to the program, whose halves end by themselves with SPDY; a slow side slows the
 * other; a port that nothing serves is an error on the error stream, as a kubelet reports it, and ends no other stream.
 */
import type { Clock } from "../../async/mod.ts";
import { objectAt, textAt } from "../kinds/mod.ts";
import { badRequest, internalError, notFound } from "../model/mod.ts";
import type { ActionCall, ActionResponse, SubresourceHandler } from "../registry/mod.ts";
import type { WebSocketConnection } from "../../runtime/mod.ts";
import { acceptWebSocket, isClientGone, isWebSocketRequest } from "../sockets/mod.ts";
import { ChannelStreams } from "./channel_streams.ts";
import { forwarder, type ForwardPort } from "./forwarded_stream.ts";
import { type ByteChannel, SpdyConnection, SpdyError } from "./spdy_connection.ts";
import { acceptSpdy } from "./spdy_handshake.ts";
import { StreamPairs } from "./stream_pairs.ts";

const forwardProtocol = "portforward.k8s.io";
const tunnelProtocol = `SPDY/3.1+${forwardProtocol}`;
const channelProtocol = "v4.channel.k8s.io";

/** The handler. */
export function portForwardHandler(clock: Clock): SubresourceHandler {
  return {
    collection: "pods",
    subresource: "portforward",
    isConnection: true,
    handle: (call) => connection(call, clock),
  };
}

function connection(call: ActionCall, clock: Clock): ActionResponse {
  const { registry, namespace, name, query } = call;
  const ports = query.getAll("ports").flatMap((text) => text.split(",")).map(portOf);
  const pod = registry.storage.get("pods", namespace, name);
  if (pod === undefined) throw notFound({ group: "", resource: "pods", name });
  if (textAt(objectAt(pod, "spec"), "nodeName") === "") throw badRequest(`pod ${name} does not have a host assigned`);
  if (textAt(objectAt(pod, "status"), "phase") !== "Running") {
    throw internalError(`unable to upgrade connection: pod not found ("${name}_${namespace}")`);
  }
  return {
    kind: "connection",
    async connect(request) {
      // The Pod is read for each connection: its annotation may change.
      const forward = forwarder(() => registry.storage.get("pods", namespace, name), `${name}_${namespace}`, pod);
      if (isWebSocketRequest(request)) return await overWebSocket(request, { ports, forward, clock, name });
      return overSpdy(request, forward, clock);
    },
  };
}

function portOf(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (port < 1 || port > 65_535) throw badRequest(`unable to parse ${JSON.stringify(text)} as a port`);
  return port;
}

interface WebSocketForward {
  readonly ports: readonly number[];
  readonly forward: ForwardPort;
  readonly clock: Clock;
  readonly name: string;
}

async function overWebSocket(request: Request, { ports, forward, clock, name }: WebSocketForward): Promise<Response> {
  const protocols = ports.length === 0 ? [tunnelProtocol] : [tunnelProtocol, channelProtocol, ""];
  return await acceptWebSocket(request, {
    clock,
    protocols,
    action: `forward ports of Pod "${name}"`,
    run: (socket) =>
      socket.protocol === tunnelProtocol
        ? runSpdy(socket, forward, clock)
        : new ChannelStreams(socket, ports).run(forward),
    cancel: () => {},
  });
}

/** The 101 for SPDY without a WebSocket, or the response that refuses it. */
function overSpdy(request: Request, forward: ForwardPort, clock: Clock): Response {
  return acceptSpdy(request, [forwardProtocol], (channel) => runSpdy(channel, forward, clock));
}

async function runSpdy(channel: ByteChannel | WebSocketConnection, forward: ForwardPort, clock: Clock): Promise<void> {
  using pairs = new StreamPairs(forward, clock);
  try {
    await new SpdyConnection(channel, { onStream: (stream) => pairs.add(stream) }).run();
  } catch (error) {
    // A client that breaks the rules, or its connection, has ended its streams.
    if (!(error instanceof SpdyError) && !isClientGone(error)) throw error;
  } finally {
    await pairs.drained();
  }
}
