/**
 * DebugClient: asks the debug endpoint of a running process, for the commands that look into one.
 *
 * Guarantees: the token is sent to the address of the command line only, redirects are not followed; answers are bounded; each
 * error says what to do.
 */
import { z } from "zod";
import { boundedParse } from "../../schema/mod.ts";
import { type Clock, scope } from "../../async/mod.ts";
import { errorText, liveSecrets, printable } from "../../observe/mod.ts";
import { httpClient, readText } from "../../runtime/mod.ts";
import { isLoopback } from "../../manager/mod.ts";
import { CommandError, exitCode, type Session } from "../command/mod.ts";
import { flag, text, UsageError } from "../flags/mod.ts";

const group = "Running process:";

/** Which process is asked. */
export const debugClientFlags = z.object({
  address: flag(text().prefault("127.0.0.1:8082"), {
    flags: "--address <address>",
    about: "debug endpoint of the process: HOST:PORT, or a URL",
    example: "--address 127.0.0.1:8082",
    group,
  }),
  debugToken: flag(text().optional(), {
    flags: "--debug-token <token>",
    about: "token of the debug endpoint; as an environment variable it does not show in the process list",
    isSecret: true,
    group,
  }),
  debugTokenFile: flag(text().optional(), {
    flags: "--debug-token-file <path>",
    about: "file with the token, the same as for run",
    completes: "file",
    group,
  }),
  debugCertificateAuthority: flag(text().optional(), {
    flags: "--debug-certificate-authority <path>",
    about: "file with the certificate authorities that may sign the certificate of an https address",
    completes: "file",
    group,
  }),
});

/** The values of the flags. */
export type DebugClientFlags = z.output<typeof debugClientFlags>;

const maxAnswerBytes = 32 * 1024 * 1024;
const timeoutMs = 30_000;

/** Asks one process. Dispose it to close its connections. */
export interface DebugClient extends Disposable {
  /** The host and port that are asked. */
  readonly host: string;
  /** Asks for `path`, with its query. @returns the JSON of the answer @throws CommandError */
  ask(path: string, signal: AbortSignal): Promise<unknown>;
}

/** Finds the process that the flags name, and reads its token. @throws CommandError, UsageError */
export async function openDebugClient(flags: DebugClientFlags, session: Session): Promise<DebugClient> {
  const { processEnvironment: { clock } } = session;
  const base = baseUrlOf(flags.address);
  const token = await tokenOf(flags);
  const ca = flags.debugCertificateAuthority === undefined ? undefined : await read(flags.debugCertificateAuthority);
  const client = httpClient(ca === undefined ? {} : { ca });
  const headers = { authorization: `Bearer ${token}`, accept: "application/json" };
  return {
    host: base.host,
    async ask(path, signal) {
      const url = new URL(path, base);
      const { status, body } = await send(client, new Request(url, { headers }), { clock, signal });
      return answerOf(status, body, url);
    },
    [Symbol.dispose]: () => client.close(),
  };
}

/** Asks once for `path`, with its query. @returns the JSON of the answer @throws CommandError, UsageError */
export async function askDebugEndpoint(
  path: string,
  flags: DebugClientFlags,
  session: Session,
  signal: AbortSignal,
): Promise<unknown> {
  using client = await openDebugClient(flags, session);
  return await client.ask(path, signal);
}

/** @throws UsageError for an address that is none, or would show the token to the network */
function baseUrlOf(address: string): URL {
  const base = /^https?:\/\//.test(address) ? address : `http://${address}`;
  const url = URL.canParse(base) ? new URL(base) : undefined;
  if (url === undefined || url.username !== "") {
    throw new UsageError(
      `Cannot ask "${printable(address)}": it is neither HOST:PORT nor a URL`,
      "Example: --address 127.0.0.1:8082",
    );
  }
  if (url.protocol === "http:" && !isLoopback(url.hostname)) {
    throw new UsageError(
      `Cannot ask "${printable(address)}": the token would be sent over the network unencrypted`,
      "Use https://, or kubectl port-forward and --address 127.0.0.1:PORT",
    );
  }
  return url;
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
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<{ readonly status: number; readonly body: string }> {
  using limited = scope(signal, { timeoutMs, clock });
  try {
    const response = await client.fetch(new Request(request, { signal: limited.signal }));
    return { status: response.status, body: await boundedText(response) };
  } catch (cause) {
    if (signal.aborted) throw cause;
    const { host } = new URL(request.url);
    throw new CommandError(`Cannot ask the process at ${host}: ${errorText(cause)}`, {
      code: exitCode.failed,
      advice:
        "Start it with run --debug-bind-address, or name its address with --address; in a cluster: kubectl port-forward",
      cause,
    });
  }
}

async function boundedText(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let [text, size] = ["", 0];
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > maxAnswerBytes) throw new RangeError(`the answer has more than ${maxAnswerBytes} bytes`);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

const refusalSchema = z.object({ error: z.string() });

function answerOf(status: number, body: string, { host, pathname }: URL): unknown {
  const value = parsed(body);
  if (status === 200 && value !== undefined) return value;
  const refusal = boundedParse(refusalSchema, value);
  const why = refusal.kind === "valid" ? printable(refusal.value.error) : `it is no debug endpoint (status ${status})`;
  const code = status === 401 || status === 403 ? exitCode.permission : exitCode.failed;
  const advice = status === 401 ? "Pass the token of that process: --debug-token-file" : undefined;
  throw new CommandError(`Cannot ask ${host} for ${pathname}: ${why}`, { code, advice });
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
