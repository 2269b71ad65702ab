/**
 * waitForServer(): asks the API server for its version until it answers. The first request of every command, so that a
 * cluster that cannot be reached is told apart from everything else.
 *
 * Guarantees: what time may heal (refused, no answer, overloaded) is tried again until the time is up; what it cannot
 * heal (credentials, certificates, something that is no Kubernetes) ends it at once.
 */
/* MERGED is_served.ts  isServed(): whether the API server serves a kind, by its discovery document, which everybody who is logged in may read. */
import { Backoff, type Clock, isAbortOf, type Random, scope } from "../../async/mod.ts";
import {
  ApiError,
  isForbidden,
  isNotFound,
  isUnauthorized,
  isUnreachable,
  type UnreachableError,
} from "../../client/mod.ts";
import { logger } from "../../observe/mod.ts";
import { z } from "zod";
import { CommandError, exitCode } from "../command/mod.ts";
import type { Connection } from "./connect.ts";
import { formatDuration } from "../flags/mod.ts";
import type { Resource } from "../../api/mod.ts";

/** Options of {@link waitForServer}. */
interface WaitForServerOptions {
  /** Milliseconds until it is given up. */
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly signal: AbortSignal;
  /** Whether to try again after a failure. @default true */
  readonly retries?: boolean;
}

const versionAnswer = z.object({ gitVersion: z.string() });

/**
 * Waits for the API server.
 *
 * @returns Its version, `v1.36.3`; undefined when the server keeps it from us, which says that it is there.
 * @throws CommandError when it cannot be reached, or refuses us; the signal's reason when aborted.
 */
export async function waitForServer(
  connection: Connection,
  options: WaitForServerOptions,
): Promise<string | undefined> {
  const { timeoutMs, clock, random, retries = true } = options;
  const backoff = new Backoff({ initialMs: 200, maxMs: 2_000, jitter: 0.2, clock, random });
  const log = logger("cli");
  const deadline = clock.monotonic() + timeoutMs;
  while (true) {
    const outcome = await ask(connection, Math.max(1, deadline - clock.monotonic()), options);
    if (outcome.kind === "answered") return outcome.version;
    const delayMs = backoff.next();
    if (!retries || outcome.kind === "hopeless" || clock.monotonic() + delayMs > deadline) throw outcome.error;
    log.debug("server not reached, will try again", { server: connection.server, error: outcome.error, delayMs });
    await clock.sleep(delayMs, options.signal);
  }
}

type Outcome =
  | { readonly kind: "answered"; readonly version: string | undefined }
  | { readonly kind: "hopeless" | "temporary"; readonly error: CommandError };

async function ask(connection: Connection, leftMs: number, options: WaitForServerOptions): Promise<Outcome> {
  const { signal, clock, timeoutMs } = options;
  using attempt = scope(signal, { timeoutMs: leftMs, clock });
  try {
    const text = await connection.client.raw("/version", { signal: attempt.signal });
    return { kind: "answered", version: versionAnswer.parse(JSON.parse(text)).gitVersion };
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (isForbidden(error)) return { kind: "answered", version: undefined };
    if (isUnauthorized(error)) return { kind: "hopeless", error: await refused(connection, error) };
    if (isUnreachable(error)) return unreachableOutcome(connection, error);
    if (isAbortOf(attempt.signal, error)) return { kind: "temporary", error: silent(connection, timeoutMs) };
    if (error instanceof ApiError) {
      return { kind: isTemporary(error) ? "temporary" : "hopeless", error: odd(connection, error) };
    }
    if (error instanceof SyntaxError || error instanceof z.ZodError) {
      return { kind: "hopeless", error: notKubernetes(connection, error) };
    }
    throw error;
  }
}

async function refused(connection: Connection, cause: ApiError): Promise<CommandError> {
  const { server, who } = connection;
  const advice = await connection.adviseOnCredentials();
  const message = `Cannot log in to ${server}: the credentials of ${who} are refused (401 Unauthorized)`;
  return new CommandError(message, { code: exitCode.permission, advice, cause });
}

function unreachableOutcome(connection: Connection, error: UnreachableError): Outcome {
  const state = error.message.slice(error.message.indexOf(": ") + 2);
  return {
    kind: error.reason.kind === "tls" ? "hopeless" : "temporary",
    error: unreachable(connection, state, { advice: error.hint, cause: error }),
  };
}

function silent(connection: Connection, timeoutMs: number): CommandError {
  const advice = "Check the address, the network and the VPN, or wait longer with --connect-timeout";
  return unreachable(connection, `no answer within ${formatDuration(timeoutMs)}`, { advice });
}

function isTemporary(error: ApiError): boolean {
  return error.code >= 500 || error.code === 429;
}

function odd(connection: Connection, cause: ApiError): CommandError {
  const state = `it answers ${cause.code} ${cause.reason}`.trim();
  const advice = isTemporary(cause)
    ? "Check the health of the API server"
    : "Check whether the address is that of a Kubernetes API server";
  return unreachable(connection, state, { advice, cause });
}

function notKubernetes(connection: Connection, cause: unknown): CommandError {
  const advice = "Check whether the address is that of a Kubernetes API server";
  return unreachable(connection, "its answer to /version is not one of Kubernetes", { advice, cause });
}

function unreachable(
  connection: Connection,
  state: string,
  options: { readonly advice: string; readonly cause?: unknown },
): CommandError {
  const message = `Cannot reach the API server ${connection.server}: ${state}`;
  return new CommandError(message, { code: exitCode.unreachable, ...options });
}

/** A kind, as far as discovery knows it. */
type ServedKind = Pick<Resource, "group" | "version" | "plural">;

const discoveryAnswer = z.object({ resources: z.array(z.object({ name: z.string() })) });

/** Looks the kind up; where discovery is forbidden or odd, it counts as served, since nothing says otherwise. */
export async function isServed(connection: Connection, kind: ServedKind, signal: AbortSignal): Promise<boolean> {
  const root = kind.group === "" ? "/api" : `/apis/${kind.group}`;
  try {
    const text = await connection.client.raw(`${root}/${kind.version}`, { signal });
    const answer = discoveryAnswer.safeParse(JSON.parse(text));
    return !answer.success || answer.data.resources.some(({ name }) => name === kind.plural);
  } catch (error) {
    if (isNotFound(error)) return false;
    if (isForbidden(error)) return true;
    throw error;
  }
}
