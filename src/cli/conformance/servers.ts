/**
 * connectServers(): the two servers that are compared: each by its kubeconfig and context, as kubectl finds them, or an embedded
 * API server that is created for it.
 */
import { kubernetesApi } from "../../apiserver/mod.ts";
import type { Transport } from "../../client/mod.ts";
import type { Session } from "../command/mod.ts";
import { connect, type Connection, waitForServer } from "../connection/mod.ts";
import { UsageError } from "../flags/mod.ts";
import type { ConformanceFlags } from "./conformance_flags.ts";
import type { ComparedServer, ImpersonatedUser } from "./play_case.ts";

/** A server of a kubeconfig. Absent values are the defaults of kubectl. */
export interface ServerChoice {
  readonly kubeconfig?: string;
  readonly context?: string;
}

/** A server, ready for cases. */
export interface ConnectedServer extends ComparedServer, Disposable {
  /** Its name in the output. */
  readonly name: string;
}

/** The name of the embedded server. */
const embeddedName = "embedded";

/**
 * The servers of kubeconfigs that the flags name: one with `--embedded`, otherwise two.
 *
 * @throws UsageError when they are more or fewer
 */
export function choicesOf({ kubeconfig, context, embedded }: ConformanceFlags): readonly ServerChoice[] {
  const wanted = embedded ? 1 : 2;
  const named = Math.max(kubeconfig.length, context.length);
  const advice = embedded
    ? "With --embedded, name one server: --kubeconfig FILE, --context NAME, or neither for the current context"
    : "Name two: --kubeconfig A --kubeconfig B, or --context A --context B, or one and --embedded";
  if (named > wanted || (named < wanted && !embedded)) {
    const state = named > wanted ? `${named} servers are named` : `${named === 0 ? "no" : "one"} server is named`;
    throw new UsageError(
      `Cannot compare ${embedded ? "a server with the embedded one" : "two servers"}: ${state}`,
      advice,
    );
  }
  // One file with two contexts; but not one context for two files, because it would be unclear of which one.
  if (context.length > 0 && context.length < wanted) {
    throw new UsageError(
      "Cannot compare two servers: there is one --context for two of --kubeconfig",
      "Name the contexts of both, in the order of the files",
    );
  }
  return Array.from({ length: wanted }, (_, index) => ({
    kubeconfig: kubeconfig[index] ?? kubeconfig[0],
    context: context[index],
  }));
}

/** The names of the servers in the output: those of the contexts or of the files, and different ones. */
export function namesOf(choices: readonly ServerChoice[]): readonly [string, string] {
  const [left = "", right = embeddedName] = choices.map(({ kubeconfig, context }) =>
    context ?? kubeconfig ?? "current"
  );
  return left === right ? [`${left} (1)`, `${right} (2)`] : [left, right];
}

/** Connects to both. @throws UnreachableError, KubeconfigError */
export async function connectServers(
  flags: ConformanceFlags,
  session: Session,
  signal: AbortSignal,
): Promise<readonly [ConnectedServer, ConnectedServer]> {
  const choices = choicesOf(flags);
  const names = namesOf(choices);
  const [first = {}, second] = choices;
  const left = await connectedServer(names[0], first, { flags, session, signal });
  try {
    const right = second === undefined
      ? embeddedServer(names[1], session)
      : await connectedServer(names[1], second, { flags, session, signal });
    return [left, right];
  } catch (error) {
    left[Symbol.dispose]();
    throw error;
  }
}

interface ConnectOptions {
  readonly flags: ConformanceFlags;
  readonly session: Session;
  readonly signal: AbortSignal;
}

async function connectedServer(
  name: string,
  choice: ServerChoice,
  { flags, session, signal }: ConnectOptions,
): Promise<ConnectedServer> {
  const { clock, random } = session.processEnvironment;
  const opened: Connection[] = [];
  const open = async (sender?: ImpersonatedUser) => {
    const as = sender === undefined ? {} : { as: sender.user };
    const asGroup = sender === undefined ? [] : [...sender.groups];
    const connection = await connect({ ...choice, ...as, asGroup, requestTimeout: flags.requestTimeout }, session);
    opened.push(connection);
    return { connection, transport: connection.createTransport() };
  };
  const dispose = () => {
    for (const connection of opened.splice(0)) connection[Symbol.dispose]();
  };
  try {
    const { connection, transport } = await open();
    await waitForServer(connection, { timeoutMs: flags.connectTimeout, clock, random, signal });
    const senders = new Map<string, Promise<Transport>>();
    const transportOf = (sender: ImpersonatedUser) => {
      const key = JSON.stringify(sender);
      const known = senders.get(key) ?? open(sender).then((opened) => opened.transport);
      senders.set(key, known);
      return known;
    };
    return {
      name,
      hasControllers: true,
      send: async (path, init, sender) => {
        const request = requestTo(`${connection.server.replace(/\/+$/, "")}${path}`, init, session);
        return await (sender === undefined ? transport : await transportOf(sender))(request);
      },
      [Symbol.dispose]: dispose,
    };
  } catch (error) {
    dispose();
    throw error;
  }
}

/** A request with the defaults of this program: its name becomes the field manager. */
function requestTo(url: string, init: RequestInit, { operator, version }: Session): Request {
  const request = new Request(url, init);
  if (!request.headers.has("accept")) request.headers.set("accept", "application/json");
  request.headers.set("user-agent", `${operator.name}/${version}`);
  return request;
}

const token = "conformance";

/** A new API server without controllers, and its administrator. */
function embeddedServer(name: string, session: Session): ConnectedServer {
  const { clock, random } = session.processEnvironment;
  const groups = ["system:masters", "system:authenticated"];
  const { server } = kubernetesApi({
    clock,
    random,
    tokens: new Map([[token, { name: "kubernetes-admin", uid: "", groups, extra: new Map() }]]),
  });
  return {
    name,
    hasControllers: false,
    send: async (path, init, sender) => {
      const request = requestTo(`http://in.memory${path}`, init, session);
      const { headers } = request;
      headers.set("authorization", `Bearer ${token}`);
      if (sender !== undefined) headers.set("impersonate-user", sender.user);
      if (sender !== undefined && sender.groups.length > 0) headers.set("impersonate-group", sender.groups.join(", "));
      return await server.fetch(request);
    },
    [Symbol.dispose]: () => server[Symbol.dispose](),
  };
}
