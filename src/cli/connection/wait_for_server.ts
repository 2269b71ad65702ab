/**
 * waitForServer(): requests the version of the API server until it responds. It is the first request of every command, so
 * that an unreachable cluster has an error message of its own.
 *
 * Guarantees: temporary failures (refused, no response, overloaded) are retried until the timeout; permanent ones
 * (credentials, certificates, a server that is not Kubernetes) end the wait at once. A wait of more than 1.5 s says on
 * stderr which server it tries to reach, and for how long.
 */
import { z } from "zod";
import { Backoff, type Clock, isAbortOf, type Random, scope } from "../../async/mod.ts";
import {
  ApiError,
  InvalidResponseError,
  isForbidden,
  isTemporary,
  isUnauthorized,
  isUnreachable,
  parseResponse,
  type UnreachableError,
} from "../../client/mod.ts";
import { logger } from "../../observe/mod.ts";
import { CommandError, exitCode } from "../command/mod.ts";
import { formatDuration } from "../flags/mod.ts";
import type { Connection } from "./connect.ts";

/** Options of {@link waitForServer}. */
interface WaitForServerOptions {
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly signal: AbortSignal;
  /** Whether to try again after a failure. @default true */
  readonly retries?: boolean;
}

const versionResponse = z.object({ gitVersion: z.string() });

/**
 * Waits for the API server.
 *
 * @returns Its version, `v1.36.3`; undefined when the user may not read the version, which proves that the server runs.
 * @throws CommandError when the server cannot be reached or rejects the credentials; the signal's reason when aborted.
 */
export async function waitForServer(
  connection: Connection,
  options: WaitForServerOptions,
): Promise<string | undefined> {
  const { timeoutMs, clock, random, retries = true } = options;
  const backoff = new Backoff({ initialMs: 200, maxMs: 1_000, jitter: 1, clock, random });
  const log = logger("cli");
  const deadline = clock.monotonic() + timeoutMs;
  const say = (state: string) =>
    log.warn("still trying to reach the server", {
      server: connection.server,
      state,
      timeout: timeoutMs === Infinity ? "none" : formatDuration(timeoutMs),
    });
  let state = "no response yet";
  using _notice = clock.timer(noticeAfterMs, () => say(state));
  while (true) {
    const leftMs = Math.max(1, deadline - clock.monotonic());
    const outcome = await requestVersion(connection, timeoutMs === Infinity ? attemptMs : leftMs, options);
    if (outcome.kind === "reached") return outcome.version;
    const delayMs = backoff.next();
    if (!retries || outcome.kind === "permanent" || clock.monotonic() + delayMs > deadline) throw outcome.error;
    state = stateOf(outcome.error);
    log.debug("server not reached, retrying", { server: connection.server, error: outcome.error, delayMs });
    await clock.sleep(delayMs, options.signal);
  }
}

/** How long one request of a wait without limit may take: a connection that died would hold it for a minute. */
const attemptMs = 5_000;

/** How long a wait may be silent. */
const noticeAfterMs = 1_500;

/** The part of the message after the colon. */
function stateOf({ message }: Error): string {
  return message.slice(message.indexOf(": ") + 2);
}

type Outcome =
  | { readonly kind: "reached"; readonly version: string | undefined }
  | { readonly kind: "permanent" | "temporary"; readonly error: CommandError };

async function requestVersion(connection: Connection, leftMs: number, options: WaitForServerOptions): Promise<Outcome> {
  const { signal, clock, timeoutMs } = options;
  using attempt = scope(signal, { timeoutMs: leftMs, clock });
  try {
    const text = await connection.client.raw("/version", { signal: attempt.signal });
    return { kind: "reached", version: parseResponse(text, "read the version", versionResponse).gitVersion };
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (isForbidden(error)) return { kind: "reached", version: undefined };
    if (isUnauthorized(error)) return { kind: "permanent", error: await unauthorizedError(connection, error) };
    if (isUnreachable(error)) return unreachableOutcome(connection, error);
    if (isAbortOf(attempt.signal, error)) return { kind: "temporary", error: timeoutError(connection, timeoutMs) };
    if (error instanceof ApiError) {
      return { kind: isTemporary(error) ? "temporary" : "permanent", error: statusError(connection, error) };
    }
    if (error instanceof InvalidResponseError) {
      return { kind: "permanent", error: notKubernetesError(connection, error) };
    }
    throw error;
  }
}

async function unauthorizedError(connection: Connection, cause: ApiError): Promise<CommandError> {
  const { server, userText } = connection;
  const advice = await connection.credentialsAdvice();
  const message = `Cannot log in to ${server}: the credentials of ${userText} are rejected (401 Unauthorized)`;
  return new CommandError(message, { code: exitCode.permission, advice, cause });
}

function unreachableOutcome(connection: Connection, error: UnreachableError): Outcome {
  return {
    kind: error.reason.kind === "tls" ? "permanent" : "temporary",
    error: unreachableError(connection, stateOf(error), { advice: error.hint, cause: error }),
  };
}

function timeoutError(connection: Connection, timeoutMs: number): CommandError {
  const advice = "Check the address, the network and the VPN, or wait longer with --connect-timeout";
  return unreachableError(connection, `no response within ${formatDuration(timeoutMs)}`, { advice });
}

function statusError(connection: Connection, cause: ApiError): CommandError {
  const state = `it responds ${cause.code} ${cause.reason}`.trim();
  const advice = isTemporary(cause)
    ? "Check the health of the API server"
    : "Check whether the address is that of a Kubernetes API server";
  return unreachableError(connection, state, { advice, cause });
}

function notKubernetesError(connection: Connection, cause: unknown): CommandError {
  const advice = "Check whether the address is that of a Kubernetes API server";
  return unreachableError(connection, "its response to /version is not that of a Kubernetes API server", {
    advice,
    cause,
  });
}

function unreachableError(
  connection: Connection,
  state: string,
  options: { readonly advice: string; readonly cause?: unknown },
): CommandError {
  const message = `Cannot reach the API server ${connection.server}: ${state}`;
  return new CommandError(message, { code: exitCode.unreachable, ...options });
}
