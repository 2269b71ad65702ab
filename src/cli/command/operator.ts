/**
 * Operator: a name and its controllers, which is all that makes one operator's command line differ from another's; and
 * ProcessEnvironment: the process that the command line runs in.
 *
 * Guarantees: commands read and write their process only through ProcessEnvironment, so that a test can replace any part.
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
  startWorkerProcess,
  type TextWriter,
  type WorkerProcess,
} from "../../runtime/mod.ts";

/** An operator: a name and its controllers. */
export interface Operator {
  /** Name of the program: in help, in error lines, as field manager and, in upper case, as prefix of variables. */
  readonly name: string;
  readonly controllers: readonly OperatorController[];
  /** @default the version that compile.sh put into the binary, else "dev" */
  readonly version?: string;
  /** One sentence for help. */
  readonly description?: string;
  /** Which fields of a kind are cached, and which kinds must not be cached. @default everything but managedFields */
  readonly cacheRules?: readonly CacheRule[];
  /** Names of the endpoints of `run`, and further endpoints. @default the names that Kubernetes uses */
  readonly endpoints?: OperatorEndpoints;
}

/** Endpoints of `run`. They are served only when flags ask for probes or metrics. */
export interface OperatorEndpoints {
  /** The path of the metrics. @default "/metrics" */
  readonly metricsPath?: string;
  /** Further handlers beside the metrics, by path. A client needs the same permission as for the metrics. */
  readonly extra?: ReadonlyMap<string, ServeHandler>;
  /** The endpoint of the liveness probe. @default "healthz", and also "livez" */
  readonly livenessName?: string;
  /** The endpoint of the readiness probe. @default "readyz" */
  readonly readinessName?: string;
}

/** The process that a command line runs in. */
export interface ProcessEnvironment {
  /** The arguments after the program's name. */
  readonly args: readonly string[];
  readonly environment: Environment;
  readonly stdin: LineReader;
  readonly stdout: TextWriter;
  readonly stderr: TextWriter;
  readonly clock: Clock;
  readonly random: Random;
  readonly onSignal: typeof onSignal;
  readonly onUnhandledRejection: typeof onUnhandledRejection;
  /** Starts this program again with other arguments and variables; undefined where that is not possible. */
  readonly startWorkerProcess: (args: readonly string[], env: Environment) => WorkerProcess | undefined;
  /** Handles the requests to the cluster. @default HTTPS to the cluster that the flags name */
  readonly transport?: Transport;
}

/** Returns the real process, with the parts of `replaced` in place of its own. */
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
    startWorkerProcess: replaced.startWorkerProcess ??
      ((args, env) => startWorkerProcess([...ownCommand(), ...args], env)),
    transport: replaced.transport,
  };
}

/** Returns the version of an operator's program. */
export function versionOf(operator: Operator, environment: Environment): string {
  return operator.version ?? stampedVersion(environment);
}

/** Bun replaces this global by a constant when compile.sh builds a binary (`--define`). */
declare const PINTLE_OPERATOR_VERSION: string | undefined;

/** `deno compile` cannot define a constant; it embeds an environment variable of the same name. */
function stampedVersion(environment: Environment): string {
  if (typeof PINTLE_OPERATOR_VERSION === "string") return PINTLE_OPERATOR_VERSION;
  return environment.PINTLE_OPERATOR_VERSION ?? "dev";
}

/** Name of an operator's Service for webhooks, and of the Secret with their certificates. */
export function webhookServiceName(operatorName: string): string {
  return `${operatorName}-webhook`;
}
