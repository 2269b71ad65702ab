/**
 * CaseRun: one run of a conformance case on one API server, the embedded one or a real one, and the actions of a case
 * there. Every response is recorded. The cases have no expectations, because the real server is right.
 */
import { setTimeout as sleep } from "node:timers/promises";
import {
  type Call as RecordedCall,
  CaseRecorder,
  initOf,
  type OpenWatchOptions,
  parsedBody,
  type Send as SendAs,
  warningsOf,
} from "../../src/cli/conformance/mod.ts";

/** A client certificate, which both servers trust. */
export interface ClientSubject {
  /** The name of the user. */
  readonly commonName: string;
  /** Its groups. */
  readonly organizations: readonly string[];
}

/** Sends a request to one of the servers; with a subject by a client certificate instead of the administrator's token. */
export type Send = SendAs<ClientSubject>;

/** One request of a case. */
export type Call = RecordedCall<ClientSubject>;

/** How a watch is read. Only a case without events names `timeoutSeconds`: the others end with their last event. */
export interface WatchOptions extends Pick<OpenWatchOptions<ClientSubject>, "count" | "accept" | "timeoutSeconds"> {
  /** Runs while the watch is open. @default nothing */
  readonly act?: () => Promise<void>;
}

/** What a wait compares: the response's body, parsed if it is JSON, its code and its warnings. */
// deno-lint-ignore no-explicit-any
export type IsExpected = (body: any, code: number, warnings: readonly string[]) => boolean;

/** The result of a program. */
export interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Options of a command. */
export interface CommandOptions {
  /** @default nothing */
  readonly stdin?: string;
  /** @default nothing more */
  readonly env?: Readonly<Record<string, string>>;
  /** Selects the lines of its output that are compared. @default all */
  readonly picks?: (line: string) => boolean;
  /**
   * For a command that watches: an action for each object that it prints, the objects that it lists first included. The
   * command is ended after the last action. @default the command ends by itself
   */
  readonly onObjects?: readonly (() => Promise<unknown>)[];
}

/** Runs kubectl on one of the servers. */
export type RunKubectl = (args: readonly string[], options: CommandOptions) => Promise<CommandResult>;

/**
 * How slowly a case proceeds. A kube-apiserver answers many questions of admission and authorization from caches that are
 * a moment behind its storage, so a case that differs is repeated at a slower pace before the difference counts.
 */
export interface Pace {
  /** Milliseconds before each recorded request. */
  readonly pauseMs: number;
  /** Seconds for commands whose limit passes in every run, because they wait for what never comes. */
  readonly shortSeconds: number;
}

/** The pace of a first run. */
export const fullPace: Pace = { pauseMs: 0, shortSeconds: 1 };

/** Options of {@link CaseRun}. */
export interface CaseRunOptions {
  readonly send: Send;
  /** A word that no other run uses. */
  readonly unique: string;
  /** @default fullPace */
  readonly pace?: Pace;
  /** @default not available */
  readonly kubectl?: RunKubectl;
  /** @default a new one */
  readonly namespace?: string;
}

/**
 * Milliseconds until a wait fails. It only ends a case that hangs: garbage collection alone pauses for half a minute when
 * definitions come and go, and the machine may be busy.
 */
const patienceMs = 300_000;
/** Between two probes of a wait: a busy server must not be asked all the time. */
const [firstProbeMs, maxProbeMs] = [20, 500];

/** One run of one case. The namespace of one that needs none is "default". */
export class CaseRun extends CaseRecorder<ClientSubject> {
  readonly #options: CaseRunOptions;
  readonly #pace: Pace;

  constructor(options: CaseRunOptions) {
    super(options);
    this.#options = options;
    this.#pace = options.pace ?? fullPace;
  }

  /** A name that no other run uses, for cluster-scoped objects. */
  name(stem: string): string {
    return `${stem}-${this.unique}`;
  }

  // deno-lint-ignore no-explicit-any
  override async call(call: Call): Promise<any> {
    await this.#pause();
    return await super.call(call);
  }

  /**
   * Sends a request until the response is as expected; nothing is recorded.
   *
   * @param call A request, or the path of a GET.
   * @throws Error with the last response when the time is up
   */
  async until(call: string | Call, isExpected: IsExpected): Promise<void> {
    const { path, subject, ...rest }: Call = typeof call === "string" ? { path: call } : call;
    const init = initOf({ path, ...rest });
    const deadline = performance.now() + patienceMs;
    for (let probeMs = firstProbeMs;; probeMs = Math.min(probeMs * 1.5, maxProbeMs)) {
      const response = await this.send(path, init, subject);
      const text = await response.text();
      if (isExpected(parsedBody(text), response.status, warningsOf(response.headers))) return;
      if (performance.now() >= deadline) {
        throw new Error(`Cannot wait for ${init.method} ${path} any longer: ${response.status} ${text}`);
      }
      await sleep(probeMs);
    }
  }

  /** Watches while an action runs, and records the events in the server's order. @param path includes the query */
  async watch(path: string, { act = () => Promise.resolve(), ...options }: WatchOptions): Promise<void> {
    await this.#pause();
    const watch = await this.openWatch(path, options);
    await act();
    await watch.record();
  }

  /**
   * Runs kubectl in the case's namespace and records its output.
   *
   * @param args `SOON` is a time limit that passes in every run.
   * @returns its stdout, unmasked
   */
  async kubectl(args: readonly string[], options: CommandOptions = {}): Promise<string> {
    const runKubectl = this.#options.kubectl;
    if (runKubectl === undefined) throw new Error("Cannot run kubectl: the case does not say that it needs it");
    await this.#pause();
    const words = args.map((word) => word.replaceAll("SOON", `${this.#pace.shortSeconds}s`));
    const { code, stdout, stderr } = await runKubectl(["--namespace", this.namespace, ...words], options);
    const lines = (text: string) => this.mask.output(text).split("\n");
    const { picks = () => true } = options;
    const output = { stdout: lines(stdout).filter(picks), stderr: lines(stderr) };
    this.steps.push({
      request: `kubectl ${this.mask.text(args.join(" "))}`,
      code,
      type: "",
      warnings: [],
      response: output,
    });
    return stdout;
  }

  async #pause(): Promise<void> {
    if (this.#pace.pauseMs > 0) await sleep(this.#pace.pauseMs);
  }
}
