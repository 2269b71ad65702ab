/**
 * Session: one call of an operator's program. Commands use it instead of the process.
 *
 * Guarantees: stdout gets results and nothing else; messages on stderr are one line each, with control characters escaped,
 * whatever names a cluster sent (security 19).
 */
import { z } from "zod";
import {
  type ConfiguredLogging,
  configureLogging,
  escaped,
  logger,
  MetricsRegistry,
  redactText,
} from "../../observe/mod.ts";
import type { Environment, TextWriter } from "../../runtime/mod.ts";
import { flag, oneOf } from "../flags/mod.ts";
import {
  hasColors,
  type LiveLines,
  oneLine,
  type Paint,
  paintFor,
  plainProgress,
  type Progress,
  StatusLine,
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
    group,
  }),
  logFormat: flag(oneOf(["text", "json"]).prefault("text"), {
    flags: "--log-format <format>",
    about: "text for people, json for programs",
    example: "--log-format json",
    group,
  }),
});

/** The values of the flags. */
export type LogFlags = z.output<typeof logFlags>;

/** One call of the program. */
export class Session implements Disposable {
  readonly operator: Operator;
  readonly processEnvironment: FullProcessEnvironment;
  /** The metrics of the process. The operator and its controllers may add their own. */
  readonly metrics: MetricsRegistry;
  #verbosity = 0;
  #format: LogFlags["logFormat"] = "text";
  #logging: ConfiguredLogging | undefined;
  readonly #statusLine: StatusLine;

  constructor(operator: Operator, processEnvironment: FullProcessEnvironment) {
    this.operator = operator;
    this.processEnvironment = processEnvironment;
    this.metrics = operator.metrics ?? new MetricsRegistry();
    this.#statusLine = new StatusLine(
      processEnvironment.stderr,
      paintFor(processEnvironment.stderr, processEnvironment.environment),
    );
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

  /**
   * Starts logging.
   *
   * @param loggers Loggers that log only warnings and errors, and those that log nothing, unless -v is given
   */
  startLogging(
    flags: LogFlags,
    { quiet = [], silent = [] }: { readonly quiet?: readonly string[]; readonly silent?: readonly string[] } = {},
  ): void {
    this.#verbosity = flags.verbose;
    this.#format = flags.logFormat;
    const { stderr, clock } = this.processEnvironment;
    this.#logging = configureLogging({
      level: flags.verbose > 0 ? "debug" : "info",
      format: flags.logFormat,
      color: hasColors(stderr, this.environment),
      quiet,
      silent,
      now: () => clock.now(),
      write: (text) => this.#writeError(text),
    });
  }

  /** Colours for text on stdout. */
  get paint(): Paint {
    return paintFor(this.processEnvironment.stdout, this.environment);
  }

  /** Writes a result to stdout, unchanged. */
  print(text: string): void {
    this.#statusLine.hide();
    this.processEnvironment.stdout.write(text);
  }

  /** Writes a message to stderr: one line that begins with the program's name, or a log record in JSON. */
  info(text: string): void {
    if (this.#format === "json") return logger("cli").info(text);
    this.#writeError(`${this.operator.name}: ${oneLine(redactText(text))}\n`);
  }

  /** Shows the progress of a long operation on stderr. On a terminal the line disappears when the Progress is disposed. */
  progress(): Progress {
    const { stderr, clock } = this.processEnvironment;
    if (!stderr.isTerminal || this.#format === "json") return plainProgress((text) => this.info(text), clock);
    return {
      report: (text) => this.#statusLine.show(`${this.operator.name}: ${redactText(text)}`),
      [Symbol.dispose]: () => this.#statusLine.hide(),
    };
  }

  /** Shows several lines on a terminal that are overwritten in place; undefined when stderr is not such a terminal. */
  liveLines(): LiveLines | undefined {
    const { stderr } = this.processEnvironment;
    if (!stderr.isTerminal || this.environment.TERM === "dumb" || this.#format === "json") return undefined;
    return {
      show: (lines) => this.#statusLine.show(...lines),
      [Symbol.dispose]: () => this.#statusLine.hide(),
    };
  }

  /** stdout for controllers that print while LiveLines or a Progress are shown: each write hides those first. */
  get output(): TextWriter {
    const [statusLine, { stdout }] = [this.#statusLine, this.processEnvironment];
    return {
      write(text) {
        statusLine.hide();
        return stdout.write(text);
      },
      flush: () => stdout.flush(),
      probe: () => stdout.probe?.(),
      get isOpen() {
        return stdout.isOpen;
      },
      get failure() {
        return stdout.failure;
      },
      isTerminal: stdout.isTerminal,
      columns: stdout.columns,
    };
  }

  /** Asks the user a question. Assumptions: `stdin` is a terminal. @returns The answer; undefined at the end of input */
  async prompt(question: string): Promise<string | undefined> {
    this.#writeError(`${oneLine(redactText(question))} `);
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
    if (showsDetails) this.#writeError(detailLines(error, code === exitCode.internal));
  }

  /** Resolves when everything that was written has left the process. */
  async flush(): Promise<void> {
    this.#logging?.flush();
    await Promise.all([this.processEnvironment.stdout.flush(), this.processEnvironment.stderr.flush()]);
  }

  [Symbol.dispose](): void {
    this.#logging?.[Symbol.dispose]();
  }

  #writeError(text: string): void {
    this.#statusLine.hide();
    this.processEnvironment.stderr.write(text);
  }
}

/** The details as indented lines, so that no line of a message in them looks like one of this program. */
function detailLines(error: unknown, hasStacks: boolean): string {
  return redactText(detailsOf(error, hasStacks)).split("\n").map((line) => `    ${escaped(line)}\n`).join("");
}

/** An error and its causes, with or without their stacks. Bounded, because causes can form a cycle. */
function detailsOf(error: unknown, hasStacks: boolean, depth = 0): string {
  if (!(error instanceof Error)) return String(error);
  const title = `${error.name}: ${error.message}`;
  const own = hasStacks ? error.stack ?? title : title;
  if (error.cause === undefined || depth === 8) return own;
  return `${own}\nCaused by: ${detailsOf(error.cause, hasStacks, depth + 1)}`;
}
