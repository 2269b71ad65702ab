/**
 * findProcess(): the running process that a command asks. Without `--address` it is the leader: its Lease names the process, and
 * an annotation says where its debug endpoint is. On this machine that is a port of loopback; in a Pod it is reached as with
 * `kubectl port-forward`. Without a Lease, it is the process of this machine with the usual port.
 *
 * Guarantees (security 29): a Lease only chooses between ports of loopback and Pods of its namespace, so that whoever can write
 * it cannot have the token sent elsewhere; which process gets it is said.
 */
import { builtin } from "../../api/mod.ts";
import { scope } from "../../async/mod.ts";
import { isNotFound } from "../../client/mod.ts";
import { isLoopback } from "../../manager/mod.ts";
import { errorText, printable } from "../../observe/mod.ts";
import { processFacts } from "../../runtime/mod.ts";
import { CommandError, defaultNamespace, exitCode, type Session } from "../command/mod.ts";
import { connect, type Connection } from "../connection/mod.ts";
import { UsageError } from "../flags/mod.ts";
import type { DebugClientFlags } from "./debug_client_flags.ts";
import { debugEndpointAnnotation, type DebugLocation, parseLocation, podName } from "./debug_location.ts";

/** The process. Dispose it to close the connection to its Pod. */
export interface FoundProcess extends AsyncDisposable {
  readonly url: URL;
  /** `127.0.0.1:8082`, `Pod "shop/operator-0"`. */
  readonly name: string;
  /** How it was found, as a sentence. Absent if the command line names it. */
  readonly note?: string;
  /** The connection ends in its Pod: its certificate is for other names, and no network is in between. */
  readonly isForwarded: boolean;
  /** Why the connection to its Pod failed. */
  problem(): unknown;
}

const defaultAddress = "127.0.0.1:8082";
/** The cluster may be what is wrong: then the process of this machine is asked soon. */
const leaseTimeoutMs = 5_000;

/** Finds the process. @throws CommandError, UsageError */
export async function findProcess(
  flags: DebugClientFlags,
  session: Session,
  signal: AbortSignal,
): Promise<FoundProcess> {
  if (flags.address !== undefined) return fixed(baseUrlOf(flags.address));
  let connection: Connection;
  try {
    connection = await connect(flags, session);
  } catch (error) {
    return withoutLeader(errorText(error));
  }
  let isKept = false;
  try {
    const leader = await findLeader(flags, { session, connection, signal });
    if (leader.kind === "unknown") return withoutLeader(leader.why);
    const found = await reach(leader, {
      ...{ session, connection, signal },
      isTrusted: flags.leaderElectionNamespace !== undefined,
    });
    isKept = true;
    return found;
  } finally {
    if (!isKept) connection[Symbol.dispose]();
  }
}

function fixed(url: URL, note?: string): FoundProcess {
  return {
    ...{ url, name: url.host, isForwarded: false, problem: () => undefined },
    ...(note === undefined ? {} : { note }),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

function withoutLeader(why: string): FoundProcess {
  return fixed(new URL(`http://${defaultAddress}`), `asking ${defaultAddress}, because no leader was found: ${why}`);
}

/** The leader that a Lease names. */
interface FoundLeader {
  readonly kind: "found";
  /** `leader "web-1_7f3a" of Lease "shop/operator"`. */
  readonly name: string;
  /** The namespace of the Lease. */
  readonly namespace: string | undefined;
  readonly location: DebugLocation;
}

/** What finds a leader. */
interface Search {
  readonly session: Session;
  readonly connection: Connection;
  readonly signal: AbortSignal;
}

async function findLeader(
  { leaderElectionId, leaderElectionNamespace }: DebugClientFlags,
  { session: { operator, processEnvironment: { clock } }, connection, signal }: Search,
): Promise<FoundLeader | { readonly kind: "unknown"; readonly why: string }> {
  const name = leaderElectionId ?? operator.name;
  const namespaces = leaderElectionNamespace === undefined
    ? [...new Set([connection.namespace, defaultNamespace(operator.name)])]
    : [leaderElectionNamespace];
  using limited = scope(signal, { timeoutMs: leaseTimeoutMs, clock });
  const reasons: string[] = [];
  for (const namespace of namespaces) {
    try {
      const lease = await connection.client.get(builtin.Lease, `${namespace}/${name}`, { signal: limited.signal });
      return leaderOf(lease);
    } catch (error) {
      signal.throwIfAborted();
      reasons.push(isNotFound(error) ? `there is no Lease "${namespace}/${name}"` : errorText(error));
    }
  }
  return { kind: "unknown", why: reasons.join("; ") };
}

function leaderOf(
  { metadata: { namespace, name, annotations }, spec }: builtin.Lease,
): FoundLeader | { readonly kind: "unknown"; readonly why: string } {
  const holder = spec?.holderIdentity ?? "";
  const lease = `Lease "${namespace}/${name}"`;
  if (holder === "") return { kind: "unknown", why: `${lease} has no holder` };
  const location = parseLocation(annotations?.[debugEndpointAnnotation], holder);
  const leader = `leader "${printable(holder, 300)}" of ${lease}`;
  return location === undefined
    ? { kind: "unknown", why: `the ${leader} has no debug endpoint (run --debug-bind-address)` }
    : { kind: "found", name: leader, namespace, location };
}

/** @throws CommandError for a process that is on another machine, or that has a certificate for names that are not known here */
async function reach(
  { name, namespace, location }: FoundLeader,
  { isTrusted, session, connection, signal }: Search & { readonly isTrusted: boolean },
): Promise<FoundProcess> {
  const { host, pod, hostname, port, isTls } = location;
  const address = `${printable(hostname)}:${port}`;
  if (pod === undefined || pod === podName(connection, session.environment)) {
    if (host !== processFacts().hostname) {
      throw unreachable(name, `it runs on the machine "${printable(host)}", where it listens on ${address}`);
    }
    if (isTls || !isLoopback(hostname)) throw unreachable(name, `it listens on ${address}, which is not loopback`);
    connection[Symbol.dispose]();
    const url = new URL(`http://${hostname.includes(":") ? `[${hostname}]` : hostname}:${port}`);
    return fixed(url, `asking the ${name} at ${url.host}`);
  }
  if (!isTrusted && pod.split("/")[0] !== namespace) {
    throw unreachable(name, `it says that it runs in Pod "${pod}", which is not in the namespace of the Lease`);
  }
  let problem: unknown;
  const onError = (error: unknown) => void (problem = error);
  const forward = await connection.client.portForward(pod, { port, signal, onError });
  return {
    url: new URL(`${isTls ? "https" : "http"}://${forward.hostname}:${forward.port}`),
    name: `Pod "${pod}"`,
    note: `asking Pod "${pod}", the ${name}`,
    isForwarded: true,
    problem: () => problem,
    async [Symbol.asyncDispose]() {
      await forward[Symbol.asyncDispose]();
      connection[Symbol.dispose]();
    },
  };
}

function unreachable(leader: string, why: string): CommandError {
  return new CommandError(`Cannot ask the ${leader}: ${why}`, {
    code: exitCode.failed,
    advice: "Run this command there, or name an address that reaches it with --address",
  });
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
