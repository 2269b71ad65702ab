/** The flags of every command about what it says on stderr. */
/* MERGED session.ts
 * Session: one call of an operator's program. Commands get it instead of the process.
 *
 * Guarantees: results go to stdout and nothing else does; what is said to people on stderr is one line each time, with
 * control characters escaped, however strange the names a cluster sent (behaviours.md, security 19).
 */
import { z } from "zod";
import { flagSyntax, oneOf } from "../flags/mod.ts";
import { configureLogging, logger, redactText } from "../../observe/mod.ts";
import type { Environment, TextWriter } from "../../runtime/mod.ts";
import { exitCode, type Failure } from "./exit_code.ts";
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
import { type Operator, type ProcessEnvironment, versionOf } from "./operator.ts";

/** How much is logged, and how. */
export const logFlags = z.object({
  verbose: z.number().default(0).register(flagSyntax, {
    flags: "-v, --verbose",
    about: "say more; errors come with a stack trace",
    arity: "count",
    group: "Logging (on stderr):",
    fromEnvironment: true,
  }),
  logFormat: oneOf(["text", "json"]).prefault("text").register(flagSyntax, {
    flags: "--log-format <format>",
    about: "text for people, json for programs",
    example: "--log-format json",
    group: "Logging (on stderr):",
    fromEnvironment: true,
  }),
});

/** What the flags say. */
export type LogFlags = z.output<typeof logFlags>;

/** One call of the program. */
export class Session implements Disposable {
  readonly operator: Operator;
  readonly processEnvironment: ProcessEnvironment;
  #verbosity = 0;
  #format: LogFlags["logFormat"] = "text";
  #logging: Disposable | undefined;
  readonly #statusLine: StatusLine;

  constructor(operator: Operator, processEnvironment: ProcessEnvironment) {
    this.operator = operator;
    this.processEnvironment = processEnvironment;
    this.#statusLine = new StatusLine(processEnvironment.stderr);
  }

  get environment(): Environment {
    return this.processEnvironment.environment;
  }

  /** The version of the program. */
  get version(): string {
    return versionOf(this.operator, this.environment);
  }

  /** How much more is to be said than usual; 0 until logging has started. */
  get verbosity(): number {
    return this.#verbosity;
  }

  /** Starts logging, once the flags are known. */
  startLogging(flags: LogFlags, quiet: readonly string[] = []): void {
    this.#verbosity = flags.verbose;
    this.#format = flags.logFormat;
    const { stderr, clock } = this.processEnvironment;
    this.#logging = configureLogging({
      level: flags.verbose > 0 ? "debug" : "info",
      format: flags.logFormat,
      color: hasColors(stderr, this.environment),
      quiet,
      now: () => clock.now(),
      write: (text) => this.#tell(text),
    });
  }

  /** Colours for what goes to stdout, where there are any. */
  get paint(): Paint {
    return paintFor(this.processEnvironment.stdout, this.environment);
  }

  /** Writes a result to stdout, as it is. */
  print(text: string): void {
    this.#statusLine.hide();
    this.processEnvironment.stdout.write(text);
  }

  /** Tells people how far things are: one line on stderr that begins with the program's name, or a log record. */
  say(text: string): void {
    if (this.#format === "json") return logger("cli").info(text);
    this.#tell(`${this.operator.name}: ${oneLine(redactText(text))}\n`);
  }

  /** Tells people how far something long is. On a terminal the line goes when the Progress does. */
  progress(): Progress {
    const { stderr, clock } = this.processEnvironment;
    if (!stderr.isTerminal || this.#format === "json") return plainProgress((text) => this.say(text), clock);
    return {
      report: (text) => this.#statusLine.show(`${this.operator.name}: ${redactText(text)}`),
      [Symbol.dispose]: () => this.#statusLine.hide(),
    };
  }

  /** Lines on a terminal that show how several things are going; undefined where nobody looks at one. */
  board(): LiveLines | undefined {
    const { stderr } = this.processEnvironment;
    if (!stderr.isTerminal || this.environment.TERM === "dumb" || this.#format === "json") return undefined;
    return {
      show: (lines) => this.#statusLine.show(...lines),
      [Symbol.dispose]: () => this.#statusLine.hide(),
    };
  }

  /** stdout for whoever prints there while a LiveLines or a Progress is shown: those make room. */
  get output(): TextWriter {
    const [statusLine, { stdout }] = [this.#statusLine, this.processEnvironment];
    return {
      write(text) {
        statusLine.hide();
        return stdout.write(text);
      },
      flush: () => stdout.flush(),
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

  /** Asks a question; undefined when nobody answers. To be asked only where `stdin` is a terminal. */
  async ask(question: string): Promise<string | undefined> {
    this.#tell(`${oneLine(redactText(question))} `);
    return await this.processEnvironment.stdin.readLine();
  }

  /** Tells people what went wrong, once, in one line; its stack follows where that was asked for. */
  fail(failure: Failure, error: unknown): void {
    const { message, advice, code } = failure;
    const wantsStack = this.#verbosity > 0 && code !== exitCode.usage;
    if (this.#format === "json") {
      return logger("cli").error(message, { advice, exitCode: code, error: wantsStack ? error : undefined });
    }
    this.say(advice === undefined ? message : `${message}. ${advice}`);
    if (wantsStack) this.#tell(`${redactText(stackOf(error))}\n`);
  }

  #tell(text: string): void {
    this.#statusLine.hide();
    this.processEnvironment.stderr.write(text);
  }

  /** Resolves when everything that was written is out. */
  async flush(): Promise<void> {
    await Promise.all([this.processEnvironment.stdout.flush(), this.processEnvironment.stderr.flush()]);
  }

  [Symbol.dispose](): void {
    this.#logging?.[Symbol.dispose]();
  }
}

/** The stack and, below it, those of its causes; bounded, since causes may form a ring. */
function stackOf(error: unknown, depth = 0): string {
  if (!(error instanceof Error)) return String(error);
  const own = error.stack ?? `${error.name}: ${error.message}`;
  return error.cause === undefined || depth === 8 ? own : `${own}\nCaused by: ${stackOf(error.cause, depth + 1)}`;
}
