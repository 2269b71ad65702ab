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
  /** Height of the terminal in lines. @default 24 */
  readonly rows?: number;
  /** The lines that the user types. @default standard input is not a terminal */
  readonly answers?: readonly string[];
}

/** A process for tests. */
export class TestProcess implements FullProcessEnvironment {
  readonly args: readonly string[];
  readonly environment: Environment;
  readonly clock: VirtualClock;
  readonly random = seededRandom(1);
  readonly stdin: LineReader;
  readonly stdout: TextWriter;
  readonly stderr: TextWriter;
  readonly #signalListeners = new Set<(signal: SignalName) => void>();
  readonly #errorListeners = new Set<(error: unknown) => void>();
  readonly #keyListeners = new Set<(key: string) => void>();
  readonly #resizeListeners = new Set<() => void>();
  /** Undefined for pipes. */
  #size: { readonly columns: number; readonly rows: number } | undefined;
  #out = "";
  #err = "";

  /** @param startAt the time at its start, in milliseconds since 1970 @default the first day of 2026 */
  constructor(
    args: readonly string[],
    environment: Environment = {},
    terminal: TestTerminal = {},
    startAt: number = Date.UTC(2026, 0, 1),
  ) {
    this.clock = new VirtualClock({ startAt });
    const { isTerminal = false, columns = 100, rows = 24, answers } = terminal;
    this.#size = isTerminal ? { columns, rows } : undefined;
    this.args = args;
    this.environment = environment;
    this.stdin = {
      ...readerOf(answers),
      isTerminal: answers !== undefined,
      readKeys: (react) => subscribe(this.#keyListeners, react),
    };
    this.stdout = this.#writer((text) => this.#out += text);
    this.stderr = this.#writer((text) => this.#err += text);
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

  /** Presses keys, see `LineReader.readKeys`. @returns false if nothing reads them */
  press(...keys: readonly string[]): boolean {
    const isRead = this.#keyListeners.size > 0;
    for (const key of keys) for (const listener of this.#keyListeners) listener(key);
    return isRead;
  }

  /** Gives the terminal another size. */
  resize(size: { readonly columns: number; readonly rows: number }): void {
    this.#size = size;
    for (const listener of this.#resizeListeners) listener();
  }

  /** True while something reads keys, or waits for another size of the terminal. */
  get hasTerminalListeners(): boolean {
    return this.#keyListeners.size + this.#resizeListeners.size > 0;
  }

  #writer(append: (text: string) => void): TextWriter {
    const size = () => this.#size;
    return {
      write: (text) => {
        append(text);
        return true;
      },
      flush: () => Promise.resolve(),
      get isTerminal() {
        return size() !== undefined;
      },
      get columns() {
        return size()?.columns;
      },
      get rows() {
        return size()?.rows;
      },
      onResize: (react) => subscribe(this.#resizeListeners, react),
    };
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

function subscribe<Listener>(listeners: Set<Listener>, listener: Listener): Disposable {
  listeners.add(listener);
  return { [Symbol.dispose]: () => void listeners.delete(listener) };
}
