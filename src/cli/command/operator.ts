/**
 * Operator: a name and its controllers, which is all that makes one operator's command line differ from another's; and
 * ProcessEnvironment: the parts of its process that a test replaces.
 *
 * Guarantees: commands read and write their process only through FullProcessEnvironment, so a test can replace any part.
 */
import { type Clock, type Random, systemClock, systemRandom } from "../../async/mod.ts";
import type { Transport } from "../../client/mod.ts";
import type { CacheRule, OperatorController } from "../../manager/mod.ts";
import type { MetricsRegistry } from "../../observe/mod.ts";
import {
  type Environment,
  environment,
  type LineReader,
  onSignal,
  onUnhandledRejection,
  ownCommand,
  programArguments,
  type SignalName,
  standardError,
  standardInput,
  standardOutput,
  startWorkerProcess,
  type TextWriter,
  type WorkerProcess,
} from "../../runtime/mod.ts";

/** An operator: a name and its controllers; the argument of `operatorCli`. */
export interface Operator {
  /** Name of the program: in help, in error lines, as field manager and, in upper case, as prefix of variables. */
  readonly name: string;
  /** The controllers of the operator. `run` runs those that the command line names. */
  readonly controllers: readonly OperatorController[];
  /** The version that `version` prints. @default the version that compile.sh put into the binary, else "dev" */
  readonly version?: string;
  /** One sentence for help. */
  readonly description?: string;
  /** Which fields of a kind are cached, and which kinds must not be cached. @default everything but managedFields */
  readonly cacheRules?: readonly CacheRule[];
  /** The metrics of the process, to which the operator may add its own; `run` serves them. @default a new registry */
  readonly metrics?: MetricsRegistry;
  /** Names of the endpoints of `run`, and further endpoints. @default the names that Kubernetes uses */
  readonly endpoints?: OperatorEndpoints;
}

/** Endpoints of `run`. They are served only when flags ask for probes or metrics. */
export interface OperatorEndpoints {
  /** The path of the metrics. @default "/metrics" */
  readonly metricsPath?: string;
  /** Further handlers beside the metrics, by path. A client needs the same permission as for the metrics. */
  readonly extra?: ReadonlyMap<string, (request: Request) => Response | Promise<Response>>;
  /** The endpoint of the liveness probe. @default "healthz", and also "livez" */
  readonly livenessName?: string;
  /** The endpoint of the readiness probe. @default "readyz" */
  readonly readinessName?: string;
}

/**
 * The parts of its process that a test of a command line replaces; the second argument of `operatorCli`. A part that is
 * absent is that of the real process.
 *
 * @example Test what a command prints
 * ```ts
 * import { controller, done, Namespace, operatorCli } from "@pintle/controller";
 * import { type ProcessEnvironment, VirtualClock } from "@pintle/controller/testing";
 *
 * let printed = "";
 * const process: ProcessEnvironment = {
 *   args: ["manifests", "greeter"],
 *   environment: { HOME: "/nonexistent" },
 *   stdout: { write: (text) => printed += text },
 *   clock: new VirtualClock(),
 * };
 * const greeter = controller("greeter").for(Namespace).reconcile(() => Promise.resolve(done));
 * const code = await operatorCli({ name: "my-operator", version: "1.0.0", controllers: [greeter] }, process);
 * console.assert(code === 0 && printed.includes("kind: ClusterRole"));
 * ```
 *
 * @example Test a command with a Kubernetes API whose requests an embedded cluster handles
 * ```ts
 * import { operatorCli } from "@pintle/controller";
 * import { EmbeddedCluster } from "@pintle/controller/testing";
 *
 * await using cluster = await EmbeddedCluster.start({ workloads: false, onError: console.error });
 * let printed = "";
 * const code = await operatorCli({ name: "my-operator", version: "1.0.0", controllers: [] }, {
 *   args: ["version", "--server", cluster.url],
 *   environment: { HOME: "/nonexistent" },
 *   stdout: { write: (text) => printed += text },
 *   transport: cluster.transport,
 * });
 * console.assert(code === 0 && printed.includes("1.0.0"));
 * ```
 */
export interface ProcessEnvironment {
  /** The arguments after the program's name. @default those of the process */
  readonly args?: readonly string[];
  /** The environment variables, which also set flags and the kubeconfig. @default those of the process */
  readonly environment?: Environment;
  /** Answers the questions of a command. @default standard input */
  readonly stdin?: ProcessInput;
  /** Receives the output. @default standard output */
  readonly stdout?: ProcessOutput;
  /** Receives log records and errors. @default standard error */
  readonly stderr?: ProcessOutput;
  /** Measures delays and time limits. @default systemClock */
  readonly clock?: Clock;
  /** The source of randomness: names, jitter, seeds. @default systemRandom */
  readonly random?: Random;
  /**
   * Calls `react` for each of `signals` until the result is disposed. A test stores `react` and calls it with "SIGTERM" to
   * end `run`. @default signals of the process
   */
  readonly onSignal?: (signals: readonly SignalName[], react: (signal: SignalName) => void) => Disposable;
  /** Calls `react` for each unhandled error until the result is disposed. @default unhandled errors of the process */
  readonly onUnhandledRejection?: (react: (error: unknown) => void) => Disposable;
  /**
   * Starts this program again with other arguments and variables, as `simulate` does to use all cores; returns undefined
   * where that is not possible. `request` sends a line and resolves with the line of the response.
   * @default a process of the same program
   */
  readonly startWorkerProcess?: (
    args: readonly string[],
    environment: Environment,
  ) => (Disposable & { request(line: string): Promise<string> }) | undefined;
  /** Handles the requests to the cluster. @default HTTPS to the cluster that the flags name */
  readonly transport?: Transport;
}

/** Where a command line prints, see {@link ProcessEnvironment}. A test needs only `write`. */
export interface ProcessOutput {
  /** Receives text as it is printed. Returns false if nothing more can be written, such as after the reader has left. */
  write(text: string): unknown;
  /** Resolves when all text so far is written. @default at once */
  flush?(): Promise<void>;
  /** False if nothing more can be written. @default true */
  readonly isOpen?: boolean;
  /** Why nothing more can be written, such as a full disk. @default the reader has closed the pipe */
  readonly failure?: Error;
  /** True for a terminal: the output may have colors, and commands may ask questions. @default false */
  readonly isTerminal?: boolean;
  /** Width of the terminal in characters. @default unknown */
  readonly columns?: number;
  /** Height of the terminal in lines. @default unknown */
  readonly rows?: number;
  /** Calls `react` when the terminal gets another size, until the result is disposed. @default never */
  onResize?(react: () => void): Disposable;
}

/** Where a command line reads the answers to its questions, see {@link ProcessEnvironment}. */
export interface ProcessInput {
  /** True if a user can answer. If false, a command that must ask a question fails. */
  readonly isTerminal: boolean;
  /** The next line without its line end; undefined at the end of the input. */
  readLine(): Promise<string | undefined>;
  /**
   * Calls `react` with each key that is pressed, until the result is disposed: a character, or `up`, `down`, `enter`,
   * `escape`, `backspace`, `ctrl-c`. @default there are no keys
   */
  readKeys?(react: (key: string) => void): Disposable;
  /** All that is left of the input, for `new --from-crd -`; fails when it is larger than `maxBytes`. @default none */
  readAll?(maxBytes: number): Promise<string>;
}

/** The process that a command line runs in, with all parts. */
export interface FullProcessEnvironment {
  readonly args: readonly string[];
  readonly environment: Environment;
  readonly stdin: LineReader;
  readonly stdout: TextWriter;
  readonly stderr: TextWriter;
  readonly clock: Clock;
  readonly random: Random;
  readonly onSignal: typeof onSignal;
  readonly onUnhandledRejection: typeof onUnhandledRejection;
  readonly startWorkerProcess: (args: readonly string[], env: Environment) => WorkerProcess | undefined;
  readonly transport?: Transport;
}

/** Returns the real process, with the parts of `replaced` in place of its own. */
export function processEnvironmentWith(replaced: ProcessEnvironment): FullProcessEnvironment {
  return {
    args: replaced.args ?? programArguments(),
    environment: replaced.environment ?? environment(),
    stdin: replaced.stdin ?? standardInput,
    stdout: replaced.stdout === undefined ? standardOutput : writerOf(replaced.stdout),
    stderr: replaced.stderr === undefined ? standardError : writerOf(replaced.stderr),
    clock: replaced.clock ?? systemClock,
    random: replaced.random ?? systemRandom,
    onSignal: replaced.onSignal ?? onSignal,
    onUnhandledRejection: replaced.onUnhandledRejection ?? onUnhandledRejection,
    startWorkerProcess: replaced.startWorkerProcess ??
      ((args, env) => startWorkerProcess([...ownCommand(), ...args], env)),
    transport: replaced.transport,
  };
}

/** Adds the defaults of the optional members. */
function writerOf(output: ProcessOutput): TextWriter {
  return {
    write: (text) => output.write(text) !== false,
    flush: async () => await output.flush?.(),
    get isOpen() {
      return output.isOpen ?? true;
    },
    get failure() {
      return output.failure;
    },
    isTerminal: output.isTerminal ?? false,
    get columns() {
      return output.columns;
    },
    get rows() {
      return output.rows;
    },
    onResize: (react) => output.onResize?.(react) ?? { [Symbol.dispose]: () => {} },
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

/** The namespace that `manifests` installs an operator in, unless the command line names one. */
export function defaultNamespace(operatorName: string): string {
  return `${operatorName}-system`;
}

/**
 * Name of the webhook configurations of an installation. They have no namespace, so that their name contains it: two
 * installations of one operator must not replace each other's.
 */
export function webhookConfigurationName(
  operatorName: string,
  namespace: string = defaultNamespace(operatorName),
): string {
  return `${operatorName}.${namespace}`;
}
