/** TestProcess: a FullProcessEnvironment for tests. It collects the output as text; the test sends signals and advances the clock. */
import { seededRandom, VirtualClock } from "../../async/mod.ts";
import type { Environment, LineReader, SignalName, TextWriter } from "../../runtime/mod.ts";
import type { FullProcessEnvironment } from "../command/operator.ts";

/** The terminal of a test process. */
export interface TestTerminal {
  /** Whether stdout and stderr are a terminal. @default false */
  readonly isTerminal?: boolean;
  /** Width of the terminal in characters. @default 100 */
  readonly columns?: number;
  /** The lines that the user types. @default standard input is not a terminal */
  readonly answers?: readonly string[];
}

/** A process for tests. */
export class TestProcess implements FullProcessEnvironment {
  readonly args: readonly string[];
  readonly environment: Environment;
  readonly clock: VirtualClock = new VirtualClock();
  readonly random = seededRandom(1);
  readonly stdin: LineReader;
  readonly stdout: TextWriter;
  readonly stderr: TextWriter;
  readonly #signalListeners = new Set<(signal: SignalName) => void>();
  readonly #errorListeners = new Set<(error: unknown) => void>();
  #out = "";
  #err = "";

  constructor(args: readonly string[], environment: Environment = {}, terminal: TestTerminal = {}) {
    const { isTerminal = false, columns = 100, answers } = terminal;
    this.args = args;
    this.environment = environment;
    this.stdin = readerOf(answers);
    this.stdout = writer(isTerminal ? columns : undefined, (text) => this.#out += text);
    this.stderr = writer(isTerminal ? columns : undefined, (text) => this.#err += text);
  }

  /** The text on stdout. */
  get out(): string {
    return this.#out;
  }

  /** The text on stderr. */
  get err(): string {
    return this.#err;
  }

  readonly onSignal = (_signals: readonly SignalName[], react: (signal: SignalName) => void): Disposable =>
    subscribe(this.#signalListeners, react);

  readonly onUnhandledRejection = (react: (error: unknown) => void): Disposable =>
    subscribe(this.#errorListeners, react);

  /** A test process cannot start others. */
  readonly startWorkerProcess = (): undefined => undefined;

  /** Sends a signal. @returns false without a listener: the real process would have ended */
  signal(name: SignalName): boolean {
    for (const listener of this.#signalListeners) listener(name);
    return this.#signalListeners.size > 0;
  }

  /** True while there are listeners for signals. */
  get hasSignalListeners(): boolean {
    return this.#signalListeners.size > 0;
  }

  /** Simulates an unhandled error. */
  reject(error: unknown): void {
    for (const listener of this.#errorListeners) listener(error);
  }
}

function readerOf(answers: readonly string[] | undefined): LineReader {
  const left = [...answers ?? []];
  return {
    isTerminal: answers !== undefined,
    readLine: () => Promise.resolve(left.shift()),
    readAll: () => Promise.resolve(left.splice(0).join("\n")),
  };
}

/** @param columns Width of the terminal; undefined for a pipe */
function writer(columns: number | undefined, append: (text: string) => void): TextWriter {
  return {
    write: (text) => {
      append(text);
      return true;
    },
    flush: () => Promise.resolve(),
    isTerminal: columns !== undefined,
    columns,
  };
}

function subscribe<Listener>(listeners: Set<Listener>, listener: Listener): Disposable {
  listeners.add(listener);
  return { [Symbol.dispose]: () => void listeners.delete(listener) };
}
