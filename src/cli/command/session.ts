/**
 * Session: one call of an operator's program. Commands use it instead of the process.
 *
 * Guarantees: stdout gets results and nothing else; messages on stderr are one line each. Both are written by a LineWriter,
 * so that no text of others controls the terminal or begins a line (security 19).
 */
import { z } from "zod";
import {
  type ConfiguredLogging,
  configureLineLogging,
  errorText,
  type Line,
  LineWriter,
  logger,
  MetricsRegistry,
  redactText,
  ScreenWriter,
} from "../../observe/mod.ts";
import type { Environment, TextWriter } from "../../runtime/mod.ts";
import type { OperatorController } from "../../manager/mod.ts";
import { flag, oneOf } from "../flags/mod.ts";
import {
  hasColors,
  type LiveLines,
  oneLine,
  plainProgress,
  type Progress,
  type Screen,
  shellWord,
} from "../output/mod.ts";
import { exitCode, type Failure } from "./exit_code.ts";
import { type FullProcessEnvironment, type Operator, versionOf } from "./operator.ts";

const group = "Logging (on stderr):";

/** The flags of every command about logging. */
export const logFlags = z.object({
  verbose: flag(z.number().default(0), {
    flags: "-v, --verbose",
    about: "log more, and show the stack trace of a defect",
    arity: "count",
    isReloadable: true,
    group,
  }),
  logFormat: flag(oneOf(["text", "json"]).optional(), {
    flags: "--log-format <format>",
    about: "text for people, json for programs (default: text; of run in a Pod without a terminal, json)",
    example: "--log-format json",
    group,
  }),
});

/** The values of the flags. */
export type LogFlags = z.output<typeof logFlags>;

/** How log records are written, and the lines that controllers print. */
export type LogFormat = NonNullable<LogFlags["logFormat"]>;

/** One call of the program. */
export class Session implements Disposable {
  #operator: Operator;
  #graph: string | undefined;
  readonly processEnvironment: FullProcessEnvironment;
  /** The metrics of the process. The operator and its controllers may add their own. */
  readonly metrics: MetricsRegistry;
  #verbosity = 0;
  #format: LogFormat = "text";
  #logging: ConfiguredLogging | undefined;
  #quietLoggers: { readonly quiet?: readonly string[]; readonly silent?: readonly string[] } = {};
  readonly #results: LineWriter;
  readonly #messages: LineWriter;
  readonly #atEnd: (() => Promise<void>)[] = [];
  #hasEnded = false;

  constructor(operator: Operator, processEnvironment: FullProcessEnvironment) {
    this.#operator = operator;
    this.processEnvironment = processEnvironment;
    this.metrics = operator.metrics ?? new MetricsRegistry();
    const { stdout, stderr, environment } = processEnvironment;
    const writerOf = (output: TextWriter) => new LineWriter(output, { hasColors: hasColors(output, environment) });
    this.#results = writerOf(stdout);
    this.#messages = writerOf(stderr);
  }

  /** The operator; with the controllers of a graph, if the command line names one. */
  get operator(): Operator {
    return this.#operator;
  }

  /** What a command line for the same controllers has behind its names: ` --graph FILE`, or nothing. */
  get graphOption(): string {
    return this.#graph === undefined ? "" : ` --graph ${shellWord(this.#graph)}`;
  }

  /** Replaces the controllers of the operator by those of a graph. @param graph The path on the command line */
  useGraph(graph: string, controllers: readonly OperatorController[]): void {
    this.#graph = graph;
    this.#operator = { ...this.#operator, controllers };
  }

  /** The environment variables. */
  get environment(): Environment {
    return this.processEnvironment.environment;
  }

  /** The version of the program. */
  get version(): string {
    return versionOf(this.operator, this.environment);
  }

  /** How often -v was given; 0 until logging has started. */
  get verbosity(): number {
    return this.#verbosity;
  }

  /** The format of the log. The lines of controllers have the same one: a log collector gets both as one stream. */
  get logFormat(): LogFormat {
    return this.#format;
  }

  /** The default of a service. In a Pod a log collector reads its output, unless a user has opened a terminal there. */
  #serviceFormat(): LogFormat {
    const { stdout, stderr } = this.processEnvironment;
    const isPod = this.environment.KUBERNETES_SERVICE_HOST !== undefined;
    return isPod && !stdout.isTerminal && !stderr.isTerminal ? "json" : "text";
  }

  /**
   * Starts logging.
   *
   * @param options Loggers that log only warnings and errors, and those that log nothing, unless -v is given; and whether the
   * command is a service, whose log in a Pod is for programs
   */
  startLogging(
    flags: LogFlags,
    { quiet = [], silent = [], isService = false }: {
      readonly quiet?: readonly string[];
      readonly silent?: readonly string[];
      readonly isService?: boolean;
    } = {},
  ): void {
    this.#format = flags.logFormat ?? (isService ? this.#serviceFormat() : "text");
    this.#quietLoggers = { quiet, silent };
    this.setVerbosity(flags.verbose);
  }

  /** Changes how much is logged. Assumptions: logging has started. @param verbosity how often -v would be given */
  setVerbosity(verbosity: number): void {
    this.#verbosity = verbosity;
    this.#logging?.flush();
    const { clock } = this.processEnvironment;
    const level = verbosity > 0 ? "debug" : "info";
    const options = { ...this.#quietLoggers, level, format: this.#format, now: () => clock.now() } as const;
    this.#logging = configureLineLogging(options, this.#messages);
  }

  /** Writes lines of a result to stdout. */
  print(...lines: readonly Line[]): void {
    this.#messages.hideStatus();
    this.#results.writeLines(...lines);
  }

  /** Writes a result of several lines to stdout, such as YAML, JSON, a script or a help text. */
  printDocument(text: string): void {
    this.#messages.hideStatus();
    this.#results.writeDocument(text);
  }

  /** Writes a message to stderr: one line that begins with the program's name, or a log record in JSON. */
  info(text: string): void {
    if (this.#format === "json") return logger("cli").info(text);
    this.#messages.writeLines(this.#messageOf(text));
  }

  /** Writes a text of several lines to stderr, such as the help of a command line without a command. */
  infoDocument(text: string): void {
    this.#messages.writeDocument(text);
  }

  /** Shows the progress of a long operation on stderr. On a terminal the line disappears when the Progress is disposed. */
  progress(): Progress {
    const { stderr, clock } = this.processEnvironment;
    if (!stderr.isTerminal || this.#format === "json") return plainProgress((text) => this.info(text), clock);
    return {
      report: (text) => this.#showStatus(this.#messageOf(text)),
      [Symbol.dispose]: () => this.#messages.hideStatus(),
    };
  }

  /** Shows several lines on a terminal that are overwritten in place; undefined when stderr is not such a terminal. */
  liveLines(): LiveLines | undefined {
    const { stderr } = this.processEnvironment;
    if (!stderr.isTerminal || this.environment.TERM === "dumb" || this.#format === "json") return undefined;
    return {
      show: (lines) => this.#showStatus(...lines),
      [Symbol.dispose]: () => this.#messages.hideStatus(),
    };
  }

  /** Takes the whole terminal for lines that are drawn again and again; undefined when stdout is not such a terminal. */
  screen(): Screen | undefined {
    const { stdout } = this.processEnvironment;
    if (!stdout.isTerminal || this.environment.TERM === "dumb") return undefined;
    const writer = new ScreenWriter(stdout, { hasColors: hasColors(stdout, this.environment) });
    let [isOver, resizing] = [false, undefined as Disposable | undefined];
    const leave = () => {
      isOver = true;
      resizing?.[Symbol.dispose]();
      writer.leave();
    };
    // However the command ends: a terminal that is left in this state is of no use.
    this.atEnd(() => Promise.resolve(leave()));
    return {
      get rows() {
        return writer.rows;
      },
      show: (lines) => {
        if (!isOver) writer.show(lines);
      },
      redraw: () => writer.forget(),
      onResize: (react) => void (resizing = stdout.onResize?.(react)),
      [Symbol.dispose]: leave,
    };
  }

  /** Asks the user a question. Assumptions: `stdin` is a terminal. @returns The answer; undefined at the end of input */
  async prompt(question: string): Promise<string | undefined> {
    this.#messages.writePrompt(oneLine(redactText(question)));
    return await this.processEnvironment.stdin.readLine();
  }

  /** Writes why the command failed: one line, or a log record in JSON. With -v its causes follow, for a defect with stacks. */
  printError(failure: Failure, error: unknown): void {
    this.#logging?.flush();
    const { message, advice, code } = failure;
    const showsDetails = this.#verbosity > 0 && code !== exitCode.usage;
    if (this.#format === "json") {
      return logger("cli").error(message, { advice, exitCode: code, error: showsDetails ? error : undefined });
    }
    this.info(advice === undefined ? message : `${message}. ${advice}`);
    if (showsDetails) this.#messages.writeLines(...detailLines(error, code === exitCode.internal));
  }

  /** Registers what must be gone when the command has ended, however it ends. */
  atEnd(remove: () => Promise<void>): void {
    this.#atEnd.push(remove);
  }

  /** Removes what was registered, and what a terminal shows in place; resolves when all output has left the process. */
  async end(): Promise<void> {
    for (const remove of this.#atEnd.splice(0).reverse()) await remove().catch(() => {});
    // What still runs must show no more lines that are overwritten in place.
    this.#hasEnded = true;
    this.#messages.hideStatus();
    this.#logging?.flush();
    await Promise.all([this.processEnvironment.stdout.flush(), this.processEnvironment.stderr.flush()]);
  }

  [Symbol.dispose](): void {
    this.#logging?.[Symbol.dispose]();
  }

  #showStatus(...lines: readonly Line[]): void {
    if (!this.#hasEnded) this.#messages.showStatus(...lines);
  }

  #messageOf(text: string): string {
    return `${this.operator.name}: ${oneLine(redactText(text))}`;
  }
}

/** The details as indented lines, so that no line of a message in them looks like one of this program. */
function detailLines(error: unknown, hasStacks: boolean): readonly string[] {
  return redactText(detailsOf(error, hasStacks)).split("\n").map((line) => `    ${line}`);
}

/** An error and its causes, with or without their stacks. Bounded, because causes can form a cycle. */
function detailsOf(error: unknown, hasStacks: boolean, depth = 0): string {
  if (!(error instanceof Error)) return errorText(error);
  const title = `${error.name}: ${error.message}`;
  const own = hasStacks ? error.stack ?? title : title;
  if (error.cause === undefined || depth === 8) return own;
  return `${own}\nCaused by: ${detailsOf(error.cause, hasStacks, depth + 1)}`;
}
