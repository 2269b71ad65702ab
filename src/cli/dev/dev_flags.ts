/** The flags and arguments of `dev`: names of controllers, then `--`, then a command. */
import { z } from "zod";
import { commandLineOnly, flag, namespaceName, text, UsageError, wholeNumber } from "../flags/mod.ts";
import type { OperatorController } from "../../manager/mod.ts";
import { type Call, selectNamedOrAll } from "../command/mod.ts";
import { graphFlag } from "../graphs/mod.ts";
import { recordFlag } from "../recording/mod.ts";
import { bindAddress, debugTokenFileFlag, namespaceSelectorFlag, namespacesOf, selectorFlag } from "../run/mod.ts";

export const devFlags = z.object({
  all: flag(z.boolean().default(false), {
    ...commandLineOnly,
    flags: "--all",
    about: "run all controllers",
  }),
  namespace: flag(z.array(namespaceName()).default([]), {
    ...commandLineOnly,
    flags: "-n, --namespace <name>",
    about: "create this namespace and watch only it; can be repeated (default: as run)",
    example: "-n team-a",
    arity: "list",
    completes: "namespace",
  }),
  allNamespaces: flag(z.boolean().default(false), {
    ...commandLineOnly,
    flags: "-A, --all-namespaces",
    about: "watch all namespaces, also for controllers that have a namespace of their own",
  }),
  namespaceSelector: namespaceSelectorFlag,
  selector: selectorFlag,
  graph: graphFlag,
  samples: flag(z.boolean().default(false), {
    ...commandLineOnly,
    flags: "--samples",
    about: "create the sample objects of the controllers",
  }),
  untilSettled: flag(z.boolean().default(false), {
    ...commandLineOnly,
    flags: "--until-settled",
    about: "end when the controllers are idle: with 0 if all reconciles succeeded, else with 1",
  }),
  port: flag(wholeNumber(0, 65_535).optional(), {
    ...commandLineOnly,
    flags: "--port <number>",
    about:
      "port of the API server on the loopback interface; 0 is any free port (default: 0, or as before in --data-dir)",
    example: "--port 6443",
  }),
  dataDir: flag(text().optional(), {
    ...commandLineOnly,
    flags: "--data-dir <path>",
    about: "folder that keeps objects, credentials and kubeconfig for the next start (default: nothing is kept)",
    example: "--data-dir .dev-cluster",
    completes: "directory",
  }),
  nodes: flag(wholeNumber(0, 1_000).optional(), {
    ...commandLineOnly,
    flags: "--nodes <count>",
    about: "number of simulated nodes (default: 3)",
    example: "--nodes 10",
  }),
  bare: flag(z.boolean().default(false), {
    ...commandLineOnly,
    flags: "--bare",
    about: "start only the API server: no nodes, no Pods, no garbage collection, as in envtest",
  }),
  writeKubeconfig: flag(text().optional(), {
    ...commandLineOnly,
    flags: "--write-kubeconfig <path>",
    about: "kubeconfig file to write; it is removed at the end (default: a temporary file, or one in --data-dir)",
    example: "--write-kubeconfig dev.yaml",
    completes: "file",
  }),
  record: recordFlag,
  debugBindAddress: flag(z.union([z.literal("auto"), bindAddress()]).prefault("auto"), {
    ...commandLineOnly,
    flags: "--debug-bind-address <address>",
    about: [
      "loopback address of the debug endpoint and its page; 0 serves none; auto is a free port,",
      "if a terminal shows it until Ctrl-C",
    ].join(" "),
    example: "--debug-bind-address 127.0.0.1:8082",
    choices: [],
  }),
  debugTokenFile: debugTokenFileFlag,
  quiet: flag(z.boolean().default(false), {
    ...commandLineOnly,
    flags: "-q, --quiet",
    about: "do not print the address and the kubeconfig of the cluster",
  }),
});

/** The values of the flags. */
export type DevFlags = z.output<typeof devFlags>;

/** The arguments. */
export interface DevArguments {
  readonly controllers: readonly OperatorController[];
  /** The namespaces to create and to watch; empty: as the controllers say. */
  readonly namespaces: readonly string[];
  /** Empty when there is none. */
  readonly command: readonly string[];
}

/** Parses the arguments. @throws UsageError when they are invalid */
export function parseDevArguments({ positionals, session, flags }: Call<DevFlags>): DevArguments {
  const { all, samples, bare, nodes } = flags;
  if (bare && nodes !== undefined) {
    throw new UsageError("Cannot start nodes: --bare and --nodes are both given", "Leave one of them out");
  }
  const { args } = session.processEnvironment;
  const dashes = args.indexOf("--");
  const command = dashes < 0 ? [] : args.slice(dashes + 1);
  if (dashes >= 0 && command.length === 0) {
    throw new UsageError("Cannot run a command: there is none after --", "Example: dev -- kubectl get namespaces");
  }
  const named = positionals.slice(0, positionals.length - command.length);
  const controllers = selectNamedOrAll({ operator: session.operator, names: named, all, action: "run" });
  if (samples && controllers.length === 0) {
    throw new UsageError("Cannot create samples: no controller is named", "Name one, or add --all");
  }
  return { controllers, namespaces: namespacesOf(flags), command };
}
