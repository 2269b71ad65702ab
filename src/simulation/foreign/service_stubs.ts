/**
 * ServiceStubs: the applications that an operator talks to, for one run: programs that the user wrote for it, or recorded
 * answers. Each listens on loopback; the operator finds it by environment variables, by a placeholder, or by its Service.
 *
 * Guarantees: when it is disposed, no stub lives; each run begins with new stubs. A stub keeps its state when the operator
 * restarts, unless it is to forget it, as an application does that runs beside the operator in its Pod.
 */
import type { UntypedObject } from "../../api/mod.ts";
import type { ExecAnswers } from "../../apiserver/mod.ts";
import type { Clock } from "../../async/mod.ts";
import { connectTcp, listenTcp, type ProgramEnd, type ProgramGroup, serve, startProgram } from "../../runtime/mod.ts";
import type { RecordedAnswers } from "./recorded_answers.ts";

/** One application. */
export interface ServiceStub {
  /** A DNS label: `zookeeper`. */
  readonly name: string;
  /** The port on which it listens. @default a free one */
  readonly port?: number;
  readonly source:
    /** A command for a shell, which listens on the variables HOST and PORT. */
    | { readonly kind: "program"; readonly command: string }
    /** Reads its file again for each run. */
    | { readonly kind: "answers"; readonly answers: () => RecordedAnswers };
  /** It starts again, with nothing, when the operator does. @default false */
  readonly isForgetful?: boolean;
}

/** Options of {@link ServiceStubs.start}. */
export interface ServiceStubsOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** The variables of the programs, besides HOST and PORT. */
  readonly env: Readonly<Record<string, string>>;
  /** @default the working folder of this process */
  readonly workingDirectory?: string;
  /**
   * True in a network namespace of the run: the stubs listen on all its addresses, so that those of simulated Pods lead to
   * them. @default false
   */
  readonly hasOwnNetwork?: boolean;
  readonly onError: (error: unknown) => void;
}

/** Milliseconds until a program must listen, and between two looks. */
const startMs = 15_000, lookMs = 10;
const maxOutputCharacters = 4_096;
const loopback = "127.0.0.1";

/** A stub that cannot be used. */
export class ServiceStubError extends Error {
  override readonly name = "ServiceStubError";
}

/** The running stubs. */
export class ServiceStubs implements AsyncDisposable {
  readonly #options: ServiceStubsOptions;
  readonly #running: RunningStub[] = [];

  private constructor(options: ServiceStubsOptions) {
    this.#options = options;
  }

  /** Starts them, and waits until each one listens. @throws ServiceStubError */
  static async start(stubs: readonly ServiceStub[], options: ServiceStubsOptions): Promise<ServiceStubs> {
    const started = new ServiceStubs(options);
    try {
      for (const stub of stubs) {
        const running = new RunningStub(stub, options);
        started.#running.push(running);
        await running.start();
      }
      return started;
    } catch (error) {
      await started[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** The variables of the operator: `ZOOKEEPER_HOST`, `ZOOKEEPER_PORT`. */
  get environment(): Readonly<Record<string, string>> {
    return Object.fromEntries(this.#running.flatMap(({ name, port }) => {
      const prefix = name.toUpperCase().replaceAll("-", "_");
      return [[`${prefix}_HOST`, loopback], [`${prefix}_PORT`, String(port)]];
    }));
  }

  /** The values of the placeholders `{service:NAME}`: `127.0.0.1:2181`. */
  get placeholders(): Readonly<Record<string, string>> {
    return Object.fromEntries(this.#running.map(({ name, port }) => [`service:${name}`, `${loopback}:${port}`]));
  }

  /** Answers commands in containers, from the files of all stubs. */
  get execAnswers(): ExecAnswers {
    return (call) => {
      for (const { answers } of this.#running) {
        const answer = answers?.execute(call);
        if (answer !== undefined) return answer;
      }
      return undefined;
    };
  }

  /** What had no answer, in words: `zookeeper: GET /commands/ruok`. */
  get unanswered(): readonly string[] {
    return this.#running.flatMap(({ name, answers }) => (answers?.unanswered ?? []).map((one) => `${name}: ${one}`));
  }

  /** The operator has ended: the forgetful stubs begin again. */
  async operatorEnded(): Promise<void> {
    for (const running of this.#running) if (running.isForgetful) await running.restart();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { onError } = this.#options;
    await Promise.all(this.#running.map((running) => running.stop().catch(onError)));
  }
}

/** The Services of the stubs whose ports are known, which lead the proxies of the API server to them. */
export function serviceObjects(stubs: readonly ServiceStub[], namespace: string): readonly UntypedObject[] {
  return stubs.filter(({ port }) => port !== undefined).map(({ name, port }) => ({
    apiVersion: "v1",
    kind: "Service",
    metadata: { name, namespace },
    spec: { type: "ExternalName", externalName: "localhost", ports: [{ name: "stub", port }] },
  }));
}

/** One stub that runs. */
class RunningStub {
  readonly name: string;
  readonly isForgetful: boolean;
  readonly answers: RecordedAnswers | undefined;
  /** Where it listens. */
  port: number;
  readonly #stub: ServiceStub;
  readonly #options: ServiceStubsOptions;
  #stop: () => Promise<void> = () => Promise.resolve();

  constructor(stub: ServiceStub, options: ServiceStubsOptions) {
    this.#stub = stub;
    this.#options = options;
    this.name = stub.name;
    this.isForgetful = stub.isForgetful ?? false;
    this.answers = stub.source.kind === "answers" ? stub.source.answers() : undefined;
    this.port = stub.port ?? 0;
  }

  async start(): Promise<void> {
    const { source } = this.#stub;
    if (this.answers !== undefined) await this.#serve(this.answers);
    if (source.kind === "program") await this.#run(source.command);
  }

  /** Begins again on the same port. */
  async restart(): Promise<void> {
    if (this.answers !== undefined) return this.answers.reset();
    await this.stop();
    await this.start();
  }

  async stop(): Promise<void> {
    await this.#stop();
  }

  async #serve(answers: RecordedAnswers): Promise<void> {
    const { onError } = this.#options;
    const handler = (request: Request) => Promise.resolve(answers.respond(request));
    const server = await serve({ hostname: this.#host(), port: this.port, handler, onError }).catch(
      (cause: unknown) => {
        throw new ServiceStubError(`Cannot start service "${this.name}": ${messageOf(cause)}`, { cause });
      },
    );
    this.port = server.port;
    this.#stop = () => server.close();
  }

  async #run(command: string): Promise<void> {
    const { env, workingDirectory, clock, signal } = this.#options;
    if (this.port === 0) this.port = await freePort();
    let output = "";
    const group = startProgram(["/bin/sh", "-c", command], {
      env: { ...env, HOST: this.#host(), PORT: String(this.port), SERVICE_NAME: this.name },
      workingDirectory,
      onOutput: (text) => output = `${output}${text}`.slice(-maxOutputCharacters),
    });
    this.#stop = () => ended(group);
    const end: { value?: ProgramEnd } = {};
    void group.ended.then((value) => end.value = value);
    const deadline = clock.monotonic() + startMs;
    while (!await this.#listens(signal)) {
      const state = end.value !== undefined
        ? `it has ended (${endText(end.value)})`
        : clock.monotonic() >= deadline
        ? `it does not listen on port ${this.port} after ${startMs / 1000} s`
        : undefined;
      if (state !== undefined) {
        await ended(group);
        const said = output.trim() === "" ? "" : `. It has printed: ${output.trim()}`;
        throw new ServiceStubError(`Cannot start service "${this.name}": ${state}${said}`);
      }
      await clock.sleep(lookMs, signal);
    }
  }

  async #listens(signal: AbortSignal): Promise<boolean> {
    try {
      const connection = await connectTcp({ hostname: loopback, port: this.port }, signal);
      connection[Symbol.dispose]();
      return true;
    } catch {
      signal.throwIfAborted();
      return false;
    }
  }

  #host(): string {
    return this.#options.hasOwnNetwork === true ? "0.0.0.0" : loopback;
  }
}

async function ended(group: ProgramGroup): Promise<void> {
  group.signal("SIGKILL");
  await group.ended;
}

function endText(end: ProgramEnd): string {
  switch (end.kind) {
    case "exited":
      return `code ${end.code}`;
    case "killed":
      return end.by;
    case "notStarted":
      return end.message;
    default:
      return end satisfies never;
  }
}

/** A port that is free now. */
async function freePort(): Promise<number> {
  await using listener = await listenTcp({ hostname: loopback, port: 0 }, (wire) => wire.end());
  return listener.port;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** How the flag `--service` describes a stub. */
export interface ServiceFlag {
  readonly name: string;
  readonly port?: number;
  /** What stands behind `=`: a command, or the path of a YAML file. */
  readonly source: string;
}

/** Parses `NAME=COMMAND`, `NAME:PORT=COMMAND` and `NAME=answers.yaml`. @returns undefined for another form */
export function parseServiceFlag(text: string): ServiceFlag | undefined {
  const [, name, port, source] = /^([a-z](?:[a-z0-9-]{0,61}[a-z0-9])?)(?::(\d{1,5}))?=(.*\S.*)$/s.exec(text) ?? [];
  if (name === undefined || source === undefined || Number(port ?? 1) > 65_535 || Number(port ?? 1) < 1) {
    return undefined;
  }
  return { name, source: source.trim(), ...(port === undefined ? {} : { port: Number(port) }) };
}

/** True for a source that is a file with recorded answers. */
export function isAnswersFile(source: string): boolean {
  return /^\S+\.(ya?ml|json)$/.test(source);
}
