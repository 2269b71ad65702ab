/**
 * ForeignProcess: one run of the program from its start to its end: a process group that is killed by SIGKILL, stopped by
 * SIGSTOP and continued by SIGCONT. To the fault layer it is a process like those of the in-memory simulation.
 */
import { redactText } from "../../observe/mod.ts";
import { type ProgramEnd, type ProgramGroup, type ProgramUsage, startProgram } from "../../runtime/mod.ts";
import type { ProxiedProcess, StaleView } from "../engine.ts";

/** Options of a {@link ForeignProcess}. */
export interface ForeignProcessOptions {
  /** The number of the process in its run, from 1. */
  readonly id: number;
  /** The number of its replica, from 1. */
  readonly replica: number;
  /** Identifies its requests. It is new for each process, so that late requests of a killed one are refused. */
  readonly token: string;
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly workingDirectory?: string;
  /** Called when it has ended without being killed by the simulation. */
  readonly onExit: (exited: ForeignProcess, end: ProgramEnd) => void;
  /** Called when it is stopped by SIGSTOP. */
  readonly onPause: (paused: ForeignProcess) => void;
}

/** The most text of the output that is kept. */
const maxOutputCharacters = 64 * 1024;

/** One process of the program. */
export class ForeignProcess implements ProxiedProcess {
  readonly id: number;
  readonly replica: number;
  readonly token: string;
  unreachableUntil = 0;
  leasesUnreachableUntil = 0;
  renewsUntil = 0;
  crashesNext = false;
  staleView: StaleView | undefined;
  /** The server has answered a request of it. */
  hasAnswer = false;
  /** It has opened its watches, so it has started. */
  hasWatched = false;
  /** When it has opened the first one. */
  watchesSince: number | undefined;
  readonly #options: ForeignProcessOptions;
  #group: ProgramGroup | undefined;
  #hasEnded = false;
  #output = "";

  constructor(options: ForeignProcessOptions) {
    this.id = options.id;
    this.replica = options.replica;
    this.token = options.token;
    this.#options = options;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** The newest part of what it has printed, without secrets. */
  get output(): string {
    return redactText(this.#output);
  }

  /** Starts the program. */
  start(): void {
    const { argv, env, workingDirectory, onExit } = this.#options;
    const group = startProgram(argv, { env, workingDirectory, onOutput: (text) => this.#keep(text) });
    this.#group = group;
    void group.ended.then((end) => {
      if (this.#hasEnded) return;
      this.#hasEnded = true;
      onExit(this, end);
    });
  }

  /** Kills the process and all that it has started, at once. */
  kill(): void {
    this.#hasEnded = true;
    this.#group?.signal("SIGKILL");
  }

  /** Resolves when the process is gone. */
  async gone(): Promise<void> {
    await this.#group?.ended;
  }

  /** What the program has used so far; undefined when it has ended, and on systems without /proc. */
  async usage(): Promise<ProgramUsage | undefined> {
    return await this.#group?.usage();
  }

  pause(): void {
    this.#group?.signal("SIGSTOP");
    this.#options.onPause(this);
  }

  resume(): Promise<void> {
    this.#group?.signal("SIGCONT");
    return Promise.resolve();
  }

  #keep(text: string): void {
    this.#output = `${this.#output}${text}`.slice(-maxOutputCharacters);
  }
}
