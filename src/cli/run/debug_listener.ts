/**
 * debugListener(): the listener of `--debug-bind-address`, and its token.
 *
 * Guarantees (security 29): it shares no address with metrics and probes; other machines reach it over TLS only; the token
 * comes from a file that only its owner can read, or is shown once on a terminal; it never reaches a log.
 */
import { debugEndpoints, type DebugMembers, type DebugState, isLoopback, type PlanSource } from "../../manager/mod.ts";
import { liveSecrets, logger, type RecordingReader } from "../../observe/mod.ts";
import { readText, serve, type ServeHandler, type Server, toHex, writeFile } from "../../runtime/mod.ts";
import { CommandError, exitCode, type Session } from "../command/mod.ts";
import { UsageError } from "../flags/mod.ts";
import type { BindAddress, ServingFlags } from "./run_flags.ts";
import { certificateOf } from "./serving_certificate.ts";

/** What the debug endpoint shows. */
export interface DebugParts {
  readonly state: DebugState;
  readonly recording: RecordingReader;
  readonly session: Session;
  /** @default there are no plans */
  readonly plan?: PlanSource;
  /** @default there is no fleet */
  readonly members?: DebugMembers;
  /** Called with the address that the endpoint has now. @default nothing */
  readonly onListening?: (address: ServedAddress) => void;
}

/** The address of a listener, with the port that it has got. */
export interface ServedAddress extends BindAddress {
  readonly isTls: boolean;
}

/** A shorter token can be guessed. */
const minTokenChars = 16;

/** Returns a function that opens the listener. @throws UsageError when its address is that of another listener */
export function debugListener(address: BindAddress, flags: ServingFlags, parts: DebugParts): () => Promise<Server> {
  const others = [["metrics", flags.metricsBindAddress], ["health probes", flags.healthProbeBindAddress]] as const;
  for (const [what, other] of others) {
    if (other === undefined || other.port === 0 || other.port !== address.port) continue;
    throw new UsageError(
      `Cannot serve the debug endpoint on ${addressText(address)}: the ${what} have that port, and other readers`,
      "Use another port for --debug-bind-address",
    );
  }
  return () => openListener(address, flags, parts);
}

async function openListener(address: BindAddress, flags: ServingFlags, parts: DebugParts): Promise<Server> {
  const { session, state, recording, plan, members } = parts;
  const { operator: { name }, version, processEnvironment: { clock } } = session;
  const server = await serveForToken(
    { what: "the debug endpoint", address, session },
    flags,
    (access) => debugEndpoints({ state, recording, ...access, clock, program: { name, version }, plan, members }),
  );
  const { hostname } = address;
  parts.onListening?.({ hostname, port: server.port, isTls: !isLoopback(hostname) });
  return server;
}

/** Who may ask a server. */
export interface TokenAccess {
  readonly token: string;
  readonly isLoopback: boolean;
}

/** What a server for readers with a token needs. */
export interface TokenServerOptions {
  /** `the debug endpoint`. */
  readonly what: string;
  readonly address: BindAddress;
  readonly session: Session;
}

/** Serves what needs a token, and shows on a terminal how to ask it and where its page is. */
export async function serveForToken(
  { what, address, session }: TokenServerOptions,
  { certDir, debugTokenFile }: Partial<Pick<ServingFlags, "certDir" | "debugTokenFile">>,
  handlerFor: (access: TokenAccess) => ServeHandler,
): Promise<Server> {
  const { clock } = session.processEnvironment;
  const { hostname, port } = address;
  const isLocal = isLoopback(hostname);
  const tls = isLocal ? undefined : await certificateOf(certDir, {
    what,
    address,
    advice: "Use --debug-bind-address 127.0.0.1:8082, or set --cert-dir",
  });
  const token = debugTokenFile === undefined ? newToken(what, session) : await tokenOf(debugTokenFile);
  liveSecrets.add(token);
  const handler = handlerFor({ token, isLoopback: isLocal });
  const log = logger("endpoints");
  const onError = (error: unknown) => log.error(`${what.replace(/^the /, "")} failed`, { error });
  // Nothing is sent to it: a body is not read.
  const server = await serve({ handler, readsBody: () => false, hostname, port, tls, onError, clock });
  log.info(`serving ${what}`, { hostname, port: server.port, isTls: tls !== undefined });
  const text = addressText({ hostname, port: server.port });
  const page = `${tls === undefined ? "http" : "https"}://${text}/`;
  // As a document, because a message would be logged and masked.
  if (debugTokenFile === undefined) session.infoDocument(shownToken(what, { address: text, page, token, session }));
  return server;
}

/** What a terminal shows once. Browsers do not send the part after # to a server. */
function shownToken(
  what: string,
  { address, page, token, session }: {
    readonly address: string;
    readonly page: string;
    readonly token: string;
    readonly session: Session;
  },
): string {
  const { name } = session.operator;
  const variable = `${name.toUpperCase().replaceAll(/[^A-Z0-9]/g, "_")}_DEBUG_TOKEN`;
  return [
    `${name}: ${what} is ${address}; its page in a browser:`,
    `  ${page}#token=${token}`,
    "to ask it in another terminal:",
    `  export ${variable}=${token}`,
    "",
  ].join("\n");
}

function addressText({ hostname, port }: BindAddress): string {
  return `${hostname.includes(":") ? `[${hostname}]` : hostname}:${port}`;
}

/** A token for this process alone. @throws UsageError where what is shown would be stored */
function newToken(what: string, { processEnvironment: { stderr } }: Session): string {
  if (stderr.isTerminal) return randomToken();
  throw new UsageError(
    `Cannot serve ${what}: it has no token, and a new one would be shown where it is stored, as in a log`,
    "Set --debug-token-file: a file that does not exist is made",
  );
}

function randomToken(): string {
  return toHex(crypto.getRandomValues(new Uint8Array(32)));
}

/** The token of the file; a new one, which is written to it, if there is no file. */
async function tokenOf(path: string): Promise<string> {
  try {
    const token = (await readText(path, { isRegular: true, maxBytes: 4096 })).trim();
    if (token.length >= minTokenChars && /^[\x21-\x7e]+$/.test(token)) return token;
    throw new Error(`it has no token of at least ${minTokenChars} characters without spaces`);
  } catch (error) {
    const isMissing = error instanceof Error && "code" in error && error.code === "ENOENT";
    if (!isMissing) throw tokenError(`Cannot read the token of the debug endpoint from "${path}"`, error);
  }
  const token = randomToken();
  await writeFile(path, `${token}\n`).catch((error: unknown) => {
    throw tokenError(`Cannot write a token for the debug endpoint to "${path}"`, error);
  });
  return token;
}

function tokenError(what: string, cause: unknown): CommandError {
  const state = cause instanceof Error ? cause.message : String(cause);
  const advice = "--debug-token-file needs a file with a token, or a folder in which it can be made";
  return new CommandError(`${what}: ${state}`, { code: exitCode.failed, advice, cause });
}
