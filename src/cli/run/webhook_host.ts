/**
 * findWebhookHost(): what `--webhook-host auto` means, the address by which the cluster reaches this machine.
 *
 * A cluster in containers (kind, k3d, minikube with Docker) publishes its API server on loopback, which inside the
 * container is another machine. The container that publishes the port of the API server says in which network it is;
 * the gateway of that network is this machine, unless the container engine runs in a virtual machine, which then has a
 * name for it. A cluster elsewhere is connected, and this machine's end of the connection is the address.
 *
 * Caveats: a firewall, or a translation of addresses between the cluster and this machine, is not seen.
 */
import { isIP } from "node:net";
import { CommandError, exitCode } from "../command/mod.ts";
import { addressTowards, type Environment, ownAddresses, spawn } from "../../runtime/mod.ts";

/** An address and why it was chosen, for the log. */
export interface WebhookHost {
  readonly host: string;
  /** `gateway of the container network "kind"`. */
  readonly because: string;
}

/** What the machine is asked. */
export interface HostQueries {
  /** Runs a program to its end. @returns What it printed; undefined when there is no such program, or it failed */
  readonly output: (argv: readonly string[]) => Promise<string | undefined>;
  /** The addresses of all interfaces. */
  readonly ownAddresses: () => readonly string[];
  /** This machine's address on the way to a server. @throws Error when the server does not accept the connection */
  readonly addressTowards: (host: string, port: number) => Promise<string>;
}

/** The container engines with Docker's command line, and their names for the machine that their own one runs on. */
const engines = [
  { program: "docker", nameOfHost: "host.docker.internal" },
  { program: "podman", nameOfHost: "host.containers.internal" },
  { program: "nerdctl", nameOfHost: "host.lima.internal" },
] as const;

const queryTimeoutMs = 10_000;

/** Asks the real machine. */
export function hostQueries(environment: Environment, signal: AbortSignal): HostQueries {
  const env = Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) => value === undefined ? [] : [[name, value] as const]),
  );
  return {
    ownAddresses,
    addressTowards: (host, port) => addressTowards(host, port, signal),
    async output(argv) {
      const result = await spawn(argv, { env, timeoutMs: queryTimeoutMs, signal });
      return result.kind === "ended" && result.code === 0 ? result.stdout : undefined;
    },
  };
}

/**
 * Finds the address.
 *
 * @param server The URL of the API server
 * @throws CommandError when the engine names no gateway of the container's network, or a server elsewhere is not connected
 */
export async function findWebhookHost(server: string, queries: HostQueries): Promise<WebhookHost> {
  const url = new URL(server);
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const port = Number(url.port || "443");
  if (!isLoopbackHost(host)) {
    const own = await queries.addressTowards(host, port).catch((error: unknown) => {
      throw unknownAddress(`there is no direct connection to ${host}:${port}`, { cause: error });
    });
    return { host: own, because: `this machine's address on the way to ${host}` };
  }
  for (const { program, nameOfHost } of engines) {
    const container = containerOf(await queries.output([program, "ps", "--format", "{{.ID}} {{.Ports}}"]), port);
    if (container === undefined) continue;
    const networks =
      '{{range $name, $network := .NetworkSettings.Networks}}{{$name}} {{$network.Gateway}}{{"\\n"}}{{end}}';
    const found = gatewayIn(await queries.output([program, "inspect", "--format", networks, container]));
    if (found === undefined) {
      throw unknownAddress(
        `the API server runs in container ${container}, and ${program} names no gateway of its network`,
      );
    }
    const { network, gateway } = found;
    if (queries.ownAddresses().includes(gateway)) {
      return { host: gateway, because: `gateway of the container network "${network}"` };
    }
    return { host: nameOfHost, because: `${program} runs in a virtual machine, which names this one so` };
  }
  return {
    host: isIP(host) === 6 ? host : "127.0.0.1",
    because: "the API server runs on this machine, in no container",
  };
}

function isLoopbackHost(host: string): boolean {
  return host === "localhost" || host === "::1" || host === "0.0.0.0" || host.startsWith("127.");
}

/** The container that publishes the port: `1f2e 127.0.0.1:40001->6443/tcp`. */
function containerOf(listed: string | undefined, port: number): string | undefined {
  const line = listed?.split("\n").find((line) => new RegExp(`:${port}->\\d+/tcp`).test(line));
  return line?.split(" ")[0];
}

function gatewayIn(listed: string | undefined): { readonly network: string; readonly gateway: string } | undefined {
  for (const line of listed?.trim().split("\n") ?? []) {
    const [network = "", gateway = ""] = line.trim().split(" ");
    if (isIP(gateway) !== 0) return { network, gateway };
  }
  return undefined;
}

function unknownAddress(state: string, options: ErrorOptions = {}): CommandError {
  return new CommandError(`Cannot find the address of this machine for the webhooks: ${state}`, {
    ...{ code: exitCode.failed, ...options },
    advice: "Give the address by which the API server reaches this machine: --webhook-host HOST",
  });
}
