/**
 * The debug endpoint of `dev`, and its page: on by default where a person reads its address, that is on a terminal, for a run
 * that lasts until Ctrl-C.
 *
 * Guarantees: it listens on loopback only, because nothing that `dev` runs is for other machines.
 */
import type { Client } from "../../client/mod.ts";
import {
  debugEndpoints,
  debugStateOf,
  isLoopback,
  type Manager,
  type OperatorController,
  type Runnable,
} from "../../manager/mod.ts";
import type { RecordingReader } from "../../observe/mod.ts";
import type { Session } from "../command/mod.ts";
import { UsageError } from "../flags/mod.ts";
import { type BindAddress, listener, ownPlan, serveForToken } from "../run/mod.ts";
import type { DevFlags } from "./dev_flags.ts";

/** Where to listen. @returns undefined for no debug endpoint @throws UsageError for an address of other machines */
export function debugAddress(
  { debugBindAddress: address, debugTokenFile, untilSettled, quiet }: DevFlags,
  { processEnvironment: { stderr } }: Session,
  { hasCommand }: { readonly hasCommand: boolean },
): BindAddress | undefined {
  if (address === "auto") {
    const isShown = stderr.isTerminal && !untilSettled && !quiet && !hasCommand;
    // Who gives a token wants to use it.
    return isShown || debugTokenFile !== undefined ? { hostname: "127.0.0.1", port: 0 } : undefined;
  }
  if (address === undefined || isLoopback(address.hostname)) return address;
  throw new UsageError(
    `Cannot serve the debug endpoint on ${address.hostname}: dev serves this machine only`,
    "Example: --debug-bind-address 127.0.0.1:8082",
  );
}

/** The listener, for the Manager. */
export function devDebugEndpoint(
  address: BindAddress,
  flags: DevFlags,
  { session, manager, recording, controllers, client }: {
    readonly session: Session;
    readonly manager: Manager;
    readonly recording: RecordingReader;
    readonly controllers: readonly OperatorController[];
    /** Reads the cluster for plans. */
    readonly client: Client;
  },
): Runnable {
  const { operator: { name }, version, processEnvironment: { clock } } = session;
  const state = debugStateOf(manager);
  const plan = ownPlan({ session, controllers, namespaces: () => state.namespaces ?? [], createClient: () => client });
  const program = { name: `${name} dev`, version };
  return listener(
    "debugging",
    () =>
      serveForToken(
        { what: "the debug endpoint", address, session },
        flags,
        (access) => debugEndpoints({ state, recording, ...access, clock, program, plan }),
      ),
  );
}
