/** TestProcess: the surroundings of a command line in a test. What it prints is text, signals come when the test says so. */
import { seededRandom, VirtualClock } from "../../async/mod.ts";
import type { Environment, LineReader, SignalName, TextWriter } from "../../runtime/mod.ts";
import type { ProcessEnvironment } from "../command/operator.ts";

/** What a test may say of the terminal. */
export interface FakeTerminal {
  /** Whether stdout and stderr are shown on one. @default false */
  readonly isTerminal?: boolean;
  /** What somebody types, line by line. @default nobody is there */
  readonly answers?: readonly string[];
}

/** A process that is none. */
export class TestProcess implements ProcessEnvironment {
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

  constructor(args: readonly string[], environment: Environment = {}, terminal: FakeTerminal = {}) {
    const { isTerminal = false, answers } = terminal;
    this.args = args;
    this.environment = environment;
    this.stdin = readerOf(answers);
    this.stdout = writer(isTerminal, (text) => this.#out += text);
    this.stderr = writer(isTerminal, (text) => this.#err += text);
  }

  /** What went to stdout. */
  get out(): string {
    return this.#out;
  }

  /** What went to stderr. */
  get err(): string {
    return this.#err;
  }

  readonly onSignal = (_signals: readonly SignalName[], react: (signal: SignalName) => void): Disposable =>
    subscribe(this.#signalListeners, react);

  readonly onUnhandledRejection = (react: (error: unknown) => void): Disposable =>
    subscribe(this.#errorListeners, react);

  /** It is the only one of its kind. */
  readonly startTwin = (): undefined => undefined;

  /** Sends a signal. @returns false when nobody listens, so that the real process would have ended */
  signal(name: SignalName): boolean {
    for (const listener of this.#signalListeners) listener(name);
    return this.#signalListeners.size > 0;
  }

  /** True while somebody listens to signals. */
  get signalsAreHeard(): boolean {
    return this.#signalListeners.size > 0;
  }

  /** Plays an error that nobody handled. */
  reject(error: unknown): void {
    for (const listener of this.#errorListeners) listener(error);
  }
}

function readerOf(answers: readonly string[] | undefined): LineReader {
  const left = [...answers ?? []];
  return { isTerminal: answers !== undefined, readLine: () => Promise.resolve(left.shift()) };
}

function writer(isTerminal: boolean, append: (text: string) => void): TextWriter {
  return {
    write: (text) => {
      append(text);
      return true;
    },
    flush: () => Promise.resolve(),
    isTerminal,
    columns: isTerminal ? 100 : undefined,
  };
}

function subscribe<Listener>(listeners: Set<Listener>, listener: Listener): Disposable {
  listeners.add(listener);
  return { [Symbol.dispose]: () => void listeners.delete(listener) };
}
