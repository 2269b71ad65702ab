/**
 * ProgramReplicas: the processes of the program in one run. Each replica is one process after the other: when a fault kills one,
 * or it ends by itself, the next one starts.
 *
 * Guarantees: end() resolves when no process lives. A replica whose processes end again and again is not started any more.
 */
import type { Clock } from "../../async/mod.ts";
import type { EntryId } from "../../observe/mod.ts";
import type { ProgramEnd } from "../../runtime/mod.ts";
import type { RunRecorder } from "../engine.ts";
import { errorLines } from "./error_logs.ts";
import { ForeignProcess } from "./foreign_process.ts";
import type { Launch } from "./program.ts";
import type { ProgramExit } from "./run_options.ts";

/** Options of {@link ProgramReplicas}. */
export interface ProgramReplicasOptions {
  readonly count: number;
  /** How a process is started. @param replica from 1 */
  readonly launch: (replica: number, token: string) => Promise<Launch>;
  /** @default the working folder of this process */
  readonly workingDirectory?: string;
  readonly recorder: RunRecorder;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly onError: (error: unknown) => void;
  /** Called when a process is stopped by SIGSTOP. */
  readonly onPause: (process: ForeignProcess) => void;
  /** Ends the requests of a process. */
  readonly disconnect: (process: ForeignProcess) => void;
  /** Called between the end of a process and the start of the next one. */
  readonly onEnd: (process: ForeignProcess | undefined) => Promise<void>;
  /** The number of faults that have taken place. */
  readonly faults: () => number;
}

/** From the end of a process that no fault ended to the next start, as the kubelet waits. */
const restartMs = 500;
/** Exits without a new fault that are a crash loop. */
const crashLoopExits = 3;

/** True when a program ends again and again, without a new fault. */
export function isCrashLoop(exits: readonly ProgramExit[]): boolean {
  const last = exits.at(-1);
  return last !== undefined && exits.filter(({ faults }) => faults === last.faults).length >= crashLoopExits;
}

/** The processes of a run. */
export class ProgramReplicas {
  readonly #options: ProgramReplicasOptions;
  /** By replica. */
  readonly #processes = new Map<number, ForeignProcess>();
  readonly #starting = new Set<number>();
  readonly #exits: ProgramExit[] = [];
  readonly #errors: string[] = [];
  #lastEnded: ForeignProcess | undefined;
  #count = 0;

  constructor(options: ProgramReplicasOptions) {
    this.#options = options;
  }

  /** The processes that run. */
  get running(): readonly ForeignProcess[] {
    return [...this.#processes.values()];
  }

  /** How processes have ended without a fault, oldest first. */
  get exits(): readonly ProgramExit[] {
    return this.#exits;
  }

  get isStarting(): boolean {
    return this.#starting.size > 0;
  }

  get isLooping(): boolean {
    return isCrashLoop(this.#exits);
  }

  /** The errors in the logs of all processes. */
  errors(): readonly string[] {
    return [...this.#errors, ...this.running.flatMap((process) => errorLines(process.output))];
  }

  /** The last lines that the newest process with any output has printed. */
  lastOutput(maxLines: number): readonly string[] {
    const newest = [this.#lastEnded ?? [], ...this.running].flat().toSorted((one, other) => other.id - one.id);
    const outputs = newest.map((process) => process.output.split("\n").filter((line) => line.trim() !== ""));
    return (outputs.find((lines) => lines.length > 0) ?? []).slice(-maxLines);
  }

  /** Starts all replicas. */
  start(): void {
    for (let replica = 1; replica <= this.#options.count; replica++) this.#start(replica);
  }

  /** Kills a process, as a fault. @param downMs until the next start */
  crash(process: ForeignProcess, downMs: number): void {
    const ended = this.#options.recorder.ends("fault", "the process is killed", { process: process.id });
    void this.#replace(process.replica, { downMs, causes: [ended] });
  }

  /** Kills all processes and starts the next ones, as a user. */
  async restart(): Promise<void> {
    const { recorder } = this.#options;
    await Promise.all(this.running.map(async (process) => {
      const ended = recorder.ends("user", "the process is restarted", { process: process.id });
      await this.#replace(process.replica, { downMs: 0, causes: [ended] });
    }));
  }

  /** Resolves when no replica starts any more. */
  async started(): Promise<readonly ForeignProcess[]> {
    const { clock, signal } = this.#options;
    while (this.isStarting) await clock.sleep(1, signal);
    return this.running;
  }

  /** Kills all processes. */
  async end(): Promise<void> {
    const all = this.running;
    this.#processes.clear();
    for (const process of all) {
      process.kill();
      this.#options.disconnect(process);
    }
    await Promise.all(all.map((process) => process.gone()));
  }

  #start(replica: number, causes: readonly EntryId[] = []): void {
    const { launch, workingDirectory, recorder, onPause, onError } = this.#options;
    this.#starting.add(replica);
    const id = ++this.#count;
    const token = crypto.randomUUID();
    launch(replica, token).then(({ argv, env }) => {
      const process = new ForeignProcess({
        ...{ id, replica, token, argv, env, workingDirectory, onPause },
        onExit: (exited, end) => this.#onExit(exited, end),
      });
      this.#processes.set(replica, process);
      this.#starting.delete(replica);
      recorder.starts(id, causes);
      process.start();
    }).catch(onError);
  }

  /** Kills the process of a replica, and starts the next one when it is gone. */
  async #replace(
    replica: number,
    { downMs, causes }: { readonly downMs: number; readonly causes: readonly EntryId[] },
  ): Promise<void> {
    const { clock, signal, onEnd, onError } = this.#options;
    const process = this.#processes.get(replica);
    this.#starting.add(replica);
    process?.kill();
    if (process !== undefined) this.#forget(process);
    try {
      await process?.gone();
      await onEnd(process);
      await clock.sleep(downMs, signal);
      this.#start(replica, causes);
    } catch (error) {
      if (!signal.aborted) onError(error);
    }
  }

  #onExit(process: ForeignProcess, end: ProgramEnd): void {
    const text = end.kind === "exited"
      ? `exits with code ${end.code}`
      : end.kind === "killed"
      ? `ends by ${end.by}`
      : `cannot start: ${end.message}`;
    const ended = this.#options.recorder.ends("operator", text, { process: process.id });
    this.#exits.push({ text, faults: this.#options.faults() });
    this.#forget(process);
    if (!this.isLooping) void this.#replace(process.replica, { downMs: restartMs, causes: [ended] });
  }

  #forget(process: ForeignProcess): void {
    this.#options.disconnect(process);
    this.#errors.push(...errorLines(process.output));
    this.#processes.delete(process.replica);
    this.#lastEnded = process;
  }
}
