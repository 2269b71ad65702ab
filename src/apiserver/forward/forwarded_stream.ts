/**
 * One forwarded connection: from the client's stream to the program that stands in for a port of a Pod.
 *
 * Guarantees: what the client sent before it ended its half gets its answer; a client that leaves ends the connection to the
 * program; a slow side slows the other.
 */
import { onAbort } from "../../async/mod.ts";
import { objectAt, textAt } from "../kinds/mod.ts";
import type { JsonObject } from "../model/mod.ts";
import { connectTcp, type TcpAddress } from "../../runtime/mod.ts";
import { isClientGone } from "../sockets/mod.ts";
import { dialError, RefusedConnection, standInOfPod } from "./stand_ins.ts";

/** The data of one forwarded connection, as the client has it. */
export interface ForwardedStream {
  /** The next bytes of the client; undefined when it sends no more. */
  read(): Promise<Uint8Array | undefined>;
  write(bytes: Uint8Array): Promise<void>;
  /** True when the client has left: nothing more reaches it. */
  readonly isAborted: boolean;
}

/** Forwards one connection to a port until it ends. @returns the error for the client; undefined when all went well */
export type ForwardPort = (port: number, stream: ForwardedStream) => Promise<string | undefined>;

/** Forwards to the programs that stand in for the ports of a Pod. */
export function forwarder(livePod: () => JsonObject | undefined, podName: string, first: JsonObject): ForwardPort {
  const uid = textAt(objectAt(first, "metadata"), "uid");
  return async (port, stream) => {
    const failed = (why: string) => `error forwarding port ${port} to pod ${podName}, uid ${uid}: ${why}`;
    let address: TcpAddress | undefined;
    try {
      const pod = livePod();
      if (pod === undefined) return failed("the Pod does not exist any more");
      address = standInOfPod(pod, port);
      await copy(address, stream);
      return undefined;
    } catch (error) {
      if (error instanceof RefusedConnection) return failed(error.message);
      if (isClientGone(error)) throw error;
      if (address === undefined || !(error instanceof Error)) throw error;
      return failed(dialError(error, address));
    }
  };
}

/** Copies in both directions until the program sends no more, or the client has left. */
async function copy(address: TcpAddress, stream: ForwardedStream): Promise<void> {
  const stop = new AbortController();
  using target = await connectTcp(address, stop.signal);
  using _stopping = onAbort(stop.signal, () => target[Symbol.dispose]());
  const sending = (async () => {
    for (let bytes = await stream.read(); bytes !== undefined; bytes = await stream.read()) await target.write(bytes);
    // A client that only sends no more still reads the answer.
    if (stream.isAborted) stop.abort();
    else target.finish();
  })();
  sending.catch(() => stop.abort());
  for (let bytes = await target.read(); bytes !== undefined; bytes = await target.read()) await stream.write(bytes);
}
