/**
 * DebugClient: asks the debug endpoint of a running process, for the commands that look into one.
 *
 * Guarantees: the token is sent to the address of the command line, or to the leader that find_process.ts found; redirects are
 * not followed; answers are bounded; each error says what to do.
 */
import { z } from "zod";
import { type Clock, scope } from "../../async/mod.ts";
import { isForbidden } from "../../client/mod.ts";
import { errorText, liveSecrets, printable } from "../../observe/mod.ts";
import { boundedText, httpClient, readText } from "../../runtime/mod.ts";
import { boundedParse } from "../../schema/mod.ts";
import { CommandError, exitCode, type Session } from "../command/mod.ts";
import { permissionAdvice } from "../connection/mod.ts";
import { UsageError } from "../flags/mod.ts";
import type { DebugClientFlags } from "./debug_client_flags.ts";
import { findProcess, type FoundProcess } from "./find_process.ts";

const maxAnswerBytes = 32 * 1024 * 1024;
const timeoutMs = 30_000;

/** Asks one process. Dispose it to close its connections. */
export interface DebugClient extends AsyncDisposable {
  /** `127.0.0.1:8082`, `Pod "shop/operator-0"`. */
  readonly name: string;
  /** How the process was found, as a sentence for people. Absent if the command line names it. */
  readonly note?: string;
  /** Asks for `path`, with its query. @returns the JSON of the answer @throws CommandError */
  ask(path: string, signal: AbortSignal): Promise<unknown>;
}

/** Finds the process that the flags name, or the leader, and reads its token. @throws CommandError, UsageError */
export async function openDebugClient(
  flags: DebugClientFlags,
  session: Session,
  signal: AbortSignal,
): Promise<DebugClient> {
  const { processEnvironment: { clock } } = session;
  const token = await tokenOf(flags);
  const ca = flags.debugCertificateAuthority === undefined ? undefined : await read(flags.debugCertificateAuthority);
  const found = await findProcess(flags, session, signal);
  const { url: base, name, note, isForwarded } = found;
  const client = httpClient({ ...(ca === undefined ? {} : { ca }), insecureSkipTlsVerify: isForwarded });
  const headers = { authorization: `Bearer ${token}`, accept: "application/json" };
  return {
    name,
    ...(note === undefined ? {} : { note }),
    async ask(path, signal) {
      const url = new URL(path, base);
      if (flags.member !== undefined) url.searchParams.set("cluster", flags.member);
      const { status, body } = await send(client, new Request(url, { headers }), { found, clock, signal });
      return answerOf(status, body, { name, path: url.pathname });
    },
    async [Symbol.asyncDispose]() {
      client.close();
      await found[Symbol.asyncDispose]();
    },
  };
}

/** Asks once for `path`, with its query. @returns the JSON of the answer @throws CommandError, UsageError */
export async function askDebugEndpoint(
  path: string,
  flags: DebugClientFlags,
  session: Session,
  signal: AbortSignal,
): Promise<unknown> {
  await using client = await openDebugClient(flags, session, signal);
  if (client.note !== undefined) session.info(client.note);
  return await client.ask(path, signal);
}

async function tokenOf({ debugToken, debugTokenFile }: DebugClientFlags): Promise<string> {
  const token = debugToken ?? (debugTokenFile === undefined ? undefined : (await read(debugTokenFile)).trim());
  if (token === undefined) {
    throw new UsageError(
      "Cannot ask the debug endpoint: no token is given",
      "Set --debug-token-file, or the variable that run shows on its terminal",
    );
  }
  if (!/^[\x21-\x7e]{1,4096}$/.test(token)) {
    const from = debugToken === undefined ? `"${printable(debugTokenFile ?? "")}" has` : "the variable has";
    throw new CommandError(`Cannot use the token of the debug endpoint: ${from} no token of ASCII characters`, {
      code: exitCode.failed,
      advice: "Use the file that run was started with",
    });
  }
  liveSecrets.add(token);
  return token;
}

async function read(path: string): Promise<string> {
  try {
    return await readText(path, { isRegular: true, maxBytes: 1024 * 1024 });
  } catch (cause) {
    throw new CommandError(`Cannot read "${path}": ${errorText(cause)}`, { code: exitCode.failed, cause });
  }
}

/** Sends the request and reads its answer within the time limit. */
async function send(
  client: ReturnType<typeof httpClient>,
  request: Request,
  { found, clock, signal }: { readonly found: FoundProcess; readonly clock: Clock; readonly signal: AbortSignal },
): Promise<{ readonly status: number; readonly body: string }> {
  using limited = scope(signal, { timeoutMs, clock });
  try {
    const response = await client.fetch(new Request(request, { signal: limited.signal }));
    return { status: response.status, body: await boundedText(response, { maxBytes: maxAnswerBytes, what: "answer" }) };
  } catch (cause) {
    if (signal.aborted) throw cause;
    throw noAnswer(found, found.problem() ?? cause);
  }
}

function noAnswer({ name, isForwarded }: FoundProcess, cause: unknown): CommandError {
  const code = isForbidden(cause) ? exitCode.permission : exitCode.failed;
  const advice = isForbidden(cause)
    ? permissionAdvice({ group: "", plural: "pods/portforward" }, ["get", "create"], undefined)
    : isForwarded
    ? "Use kubectl port-forward and --address 127.0.0.1:PORT"
    : "Start it with run --debug-bind-address, or name its address with --address; in a cluster: kubectl port-forward";
  return new CommandError(`Cannot ask the process at ${name}: ${errorText(cause)}`, { code, advice, cause });
}

const refusalSchema = z.object({ error: z.string() });

function answerOf(
  status: number,
  body: string,
  { name, path }: { readonly name: string; readonly path: string },
): unknown {
  const value = parsed(body);
  if (status === 200 && value !== undefined) return value;
  const refusal = boundedParse(refusalSchema, value);
  const why = refusal.kind === "valid" ? printable(refusal.value.error) : `it is no debug endpoint (status ${status})`;
  const code = status === 401 || status === 403 ? exitCode.permission : exitCode.failed;
  const advice = status === 401 ? "Pass the token of that process: --debug-token-file" : undefined;
  throw new CommandError(`Cannot ask ${name} for ${path}: ${why}`, { code, advice });
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
