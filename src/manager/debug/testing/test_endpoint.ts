/** The debug endpoint of a Manager on a virtual clock, and requests to it. */
import { Recording } from "../../../observe/mod.ts";
import type { ServeHandler } from "../../../runtime/mod.ts";
import { debugStateOf } from "../../manager.ts";
import { createTestManager, greeter, type TestManager } from "../../testing/test_manager.ts";
import { debugEndpoints } from "../debug_endpoints.ts";

export const here = { remoteAddress: "127.0.0.1", isTls: false };
export const token = "t0ken-of-the-test";

/** The answer to a GET with the token. */
export async function get(
  handler: ServeHandler,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const url = `http://127.0.0.1:8082${path}`;
  const all = { host: "127.0.0.1:8082", authorization: `Bearer ${token}`, ...headers };
  return await handler(new Request(url, { headers: all }), here);
}

/** The endpoint of a Manager and its recording. The heap is that of all tests of this process, so its size has no limit. */
export function endpointOf(
  { manager, clock }: TestManager,
  recording: Recording,
  { isLoopback = true, maxHeapBytes = Infinity }: Pick<IdleOptions, "isLoopback" | "maxHeapBytes"> = {},
): ServeHandler {
  return debugEndpoints({ state: debugStateOf(manager), recording, token, isLoopback, maxHeapBytes, clock });
}

/** Options of {@link idleEndpoint}. */
export interface IdleOptions {
  /** @default true */
  readonly isLoopback?: boolean;
  /** @default Infinity */
  readonly maxHeapBytes?: number;
  /** Of the recording. @default as in `run` */
  readonly maxBytes?: number;
}

/** The endpoint of a Manager that does nothing. */
export function idleEndpoint(options: IdleOptions = {}) {
  const test = createTestManager([greeter()]);
  const recording = new Recording({
    now: () => 0,
    ...(options.maxBytes === undefined ? {} : { maxBytes: options.maxBytes }),
  });
  return { test, recording, handler: endpointOf(test, recording, options) };
}
