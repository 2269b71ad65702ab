/**
 * Operator: what makes one operator's command line different from another's, and where that command line runs. The
 * second half is there for tests: everything a command reads or writes of its process comes from here.
 */
/* MERGED _stamped_version.ts
 * The version that compile.sh puts into a binary. Bun replaces the global by a constant (`--define`); `deno compile` has
 * no such flag and embeds an environment variable of that name instead.
 */
import { type Clock, type Random, systemClock, systemRandom } from "../../async/mod.ts";
import type { Transport } from "../../client/mod.ts";
import type { CacheRule, OperatorController } from "../../manager/mod.ts";
import {
  type Environment,
  environment,
  type LineReader,
  onSignal,
  onUnhandledRejection,
  ownCommand,
  programArguments,
  type ServeHandler,
  standardError,
  standardInput,
  standardOutput,
  startTwin,
  type TextWriter,
  type Twin,
} from "../../runtime/mod.ts";

/** An operator: a name and its controllers. */
export interface Operator {
  /** Name of the program: in help, in error lines, as field manager and, in upper case, before environment variables. */
  readonly name: string;
  readonly controllers: readonly OperatorController[];
  /** @default the one that compile.sh put into the binary, else "dev" */
  readonly version?: string;
  /** One sentence for help. */
  readonly description?: string;
  /** What is kept of single kinds, and which must not be cached. @default everything but managedFields */
  readonly cacheRules?: readonly CacheRule[];
  /** What `run` serves besides the usual, and under which names. @default nothing, and Kubernetes' names */
  readonly endpoints?: OperatorEndpoints;
}

/** Endpoints of `run`, where its flags ask for probes and metrics at all. */
export interface OperatorEndpoints {
  /** Where the metrics are. @default "/metrics" */
  readonly metricsPath?: string;
  /** Further handlers beside the metrics, by their whole path: whoever may not read those may not ask these. */
  readonly extra?: ReadonlyMap<string, ServeHandler>;
  /** What the liveness probe asks. @default "healthz", and "livez" with it */
  readonly livenessName?: string;
  /** What the readiness probe asks. @default "readyz" */
  readonly readinessName?: string;
}

/** The process around a command line. */
export interface ProcessEnvironment {
  /** The words after the program's name. */
  readonly args: readonly string[];
  readonly environment: Environment;
  readonly stdin: LineReader;
  readonly stdout: TextWriter;
  readonly stderr: TextWriter;
  readonly clock: Clock;
  readonly random: Random;
  readonly onSignal: typeof onSignal;
  readonly onUnhandledRejection: typeof onUnhandledRejection;
  /** Starts this program once more, with other arguments and variables; undefined where that cannot be. */
  readonly startTwin: (args: readonly string[], env: Environment) => Twin | undefined;
  /** Takes the requests of whatever cluster the flags name. @default HTTPS to that cluster */
  readonly transport?: Transport;
}

/** The real process, but for what a test replaces. */
export function processEnvironmentWith(replaced: Partial<ProcessEnvironment>): ProcessEnvironment {
  return {
    args: replaced.args ?? programArguments(),
    environment: replaced.environment ?? environment(),
    stdin: replaced.stdin ?? standardInput,
    stdout: replaced.stdout ?? standardOutput,
    stderr: replaced.stderr ?? standardError,
    clock: replaced.clock ?? systemClock,
    random: replaced.random ?? systemRandom,
    onSignal: replaced.onSignal ?? onSignal,
    onUnhandledRejection: replaced.onUnhandledRejection ?? onUnhandledRejection,
    startTwin: replaced.startTwin ?? ((args, env) => startTwin([...ownCommand(), ...args], env)),
    transport: replaced.transport,
  };
}

/** The version of an operator's program. */
export function versionOf(operator: Operator, environment: Environment): string {
  return operator.version ?? stampedVersion(environment);
}

declare const PINTLE_OPERATOR_VERSION: string | undefined;

/** The stamped version, or "dev" when this was not compiled. */
function stampedVersion(environment: Environment): string {
  if (typeof PINTLE_OPERATOR_VERSION === "string") return PINTLE_OPERATOR_VERSION;
  return environment.PINTLE_OPERATOR_VERSION ?? "dev";
}

/** Name of an operator's Service for webhooks, and of the Secret with their certificates. */
export function webhookServiceName(operatorName: string): string {
  return `${operatorName}-webhook`;
}
