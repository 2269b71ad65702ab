/**
 * CaseRun: one run of a conformance case on one API server, the embedded one or a real one, and the actions of a case
 * there. Every response is recorded. The cases have no expectations, because the real server is right.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { parseExactJson } from "../../src/api/mod.ts";
import { decodeProtobuf, protobufType } from "../../src/apiserver/protobuf/mod.ts";
import { type Json, Mask } from "./mask.ts";
import { withSortedCauses } from "./sorted_causes.ts";

/** A client certificate, which both servers trust. */
export interface ClientSubject {
  /** The name of the user. */
  readonly commonName: string;
  /** Its groups. */
  readonly organizations: readonly string[];
}

/**
 * Sends a request to one of the servers. The path begins with a slash.
 *
 * @param subject Sends a client certificate instead of the administrator's token.
 */
export type Send = (path: string, init: RequestInit, subject?: ClientSubject) => Promise<Response>;

/** One request of a case. */
export interface Call {
  /** @default POST with a body, else GET */
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS" | "HEAD";
  readonly path: string;
  /** An object is sent as JSON, a text unchanged. */
  readonly body?: unknown;
  /** @default application/json for a body */
  readonly type?: string;
  readonly accept?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Picks the part of a response to record. @default all of it */
  // deno-lint-ignore no-explicit-any
  readonly pick?: (body: any) => unknown;
  /** Records only whether the user may do this: the response if its code is 401 or 403, else a word. @default false */
  readonly recordsDenial?: boolean;
  /** Sends a client certificate instead of the administrator's token. */
  readonly subject?: ClientSubject;
  /** Sorts the causes of an error, because the real server finds them in the order of a Go map. @default false */
  readonly sortsCauses?: boolean;
}

/** A request and its response, masked. */
export interface Step {
  readonly request: string;
  readonly code: number;
  readonly type: string;
  readonly warnings: readonly string[];
  readonly response: Json;
}

/** How a watch is read. */
export interface WatchOptions {
  /** The number of events to read. */
  readonly count: number;
  readonly accept?: string;
  /** Runs while the watch is open. @default nothing */
  readonly act?: () => Promise<void>;
  /**
   * The server ends the watch after this time. Only a case that compares a watch without events names it: the others end
   * with their last event. @default 120
   */
  readonly timeoutSeconds?: number;
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

/** One run of one case. */
export class CaseRun {
  readonly #options: CaseRunOptions;
  readonly #send: Send;
  readonly #mask: Mask;
  readonly #unique: string;
  readonly #pace: Pace;
  readonly steps: Step[] = [];
  /** The namespace of the case; it exists. That of a case that needs none is "default". */
  readonly namespace: string;

  constructor(options: CaseRunOptions) {
    const { send, unique } = options;
    this.#options = options;
    this.#send = send;
    this.#unique = unique;
    this.#pace = options.pace ?? fullPace;
    this.namespace = options.namespace ?? `conformance-${unique}`;
    this.#mask = new Mask(unique);
  }

  /** A name that no other run uses, for cluster-scoped objects. */
  name(stem: string): string {
    return `${stem}-${this.#unique}`;
  }

  /** A word of letters and digits that no other run uses. */
  get unique(): string {
    return this.#unique;
  }

  /** Sends a request and records the response. @returns the response's body, parsed if it is JSON */
  // deno-lint-ignore no-explicit-any
  async call(call: Call): Promise<any> {
    const { path, pick = (body) => body, sortsCauses = false } = call;
    const init = initOf(call);
    const stem = stemOf(call.body);
    if (stem !== undefined) this.#mask.addStem(stem);
    await this.#pause();
    const response = await this.#send(path, init, call.subject);
    if (call.recordsDenial === true && response.status !== 401 && response.status !== 403) {
      await response.body?.cancel();
      return this.note(`${init.method} ${path}`, 0, "allowed");
    }
    const parsed = await bodyOf(response);
    const body = sortsCauses ? withSortedCauses(parsed) : parsed;
    this.steps.push({
      request: `${init.method} ${this.#mask.text(path)}`,
      code: response.status,
      type: response.headers.get("content-type") ?? "",
      warnings: warningsOf(response).map((warning) => this.#mask.text(warning)),
      response: this.#mask.value(response.ok ? pick(body) : body),
    });
    return body;
  }

  /** Sends a request whose response is not compared, as a preparation. @throws Error when it fails */
  // deno-lint-ignore no-explicit-any
  async prepare(call: Call): Promise<any> {
    const init = initOf(call);
    const response = await this.#send(call.path, init, call.subject);
    const text = await response.text();
    if (!response.ok) throw new Error(`Cannot ${init.method} ${call.path}: ${response.status} ${text}`);
    return parsedBody(text);
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
      const response = await this.#send(path, init, subject);
      const text = await response.text();
      if (isExpected(parsedBody(text), response.status, warningsOf(response))) return;
      if (performance.now() >= deadline) {
        throw new Error(`Cannot wait for ${init.method} ${path} any longer: ${response.status} ${text}`);
      }
      await sleep(probeMs);
    }
  }

  /** Watches while an action runs, and records the events in the server's order. @param path includes the query */
  async watch(path: string, options: WatchOptions): Promise<void> {
    const { count, accept, act = () => Promise.resolve(), timeoutSeconds = 120 } = options;
    const stop = new AbortController();
    await this.#pause();
    const full = `${path}${path.includes("?") ? "&" : "?"}watch=true&timeoutSeconds=${timeoutSeconds}`;
    const response = await this.#send(full, { headers: accept === undefined ? {} : { accept }, signal: stop.signal });
    const reading = response.ok ? linesOf(response, count) : response.text().then((text) => [text]);
    await act();
    const events = await reading;
    stop.abort();
    this.steps.push({
      request: `WATCH ${this.#mask.text(path)}`,
      code: response.status,
      type: response.headers.get("content-type") ?? "",
      warnings: warningsOf(response),
      response: this.#mask.value(events.map((line) => parsedBody(line))),
    });
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
    const lines = (text: string) => this.#mask.output(text).split("\n");
    const { picks = () => true } = options;
    const output = { stdout: lines(stdout).filter(picks), stderr: lines(stderr) };
    this.steps.push({
      request: `kubectl ${this.#mask.text(args.join(" "))}`,
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

  /** Records a value other than a response, such as the requests to a webhook. @param title describes the value */
  note(title: string, code: number, value: unknown): void {
    this.steps.push({
      request: this.#mask.text(title),
      code,
      type: "",
      warnings: [],
      response: this.#mask.value(value),
    });
  }
}

function initOf({ method, body, type, accept, headers = {} }: Call): RequestInit {
  const all = new Headers(headers);
  if (accept !== undefined) all.set("accept", accept);
  if (body === undefined) return { method: method ?? "GET", headers: all };
  all.set("content-type", type ?? "application/json");
  return { method: method ?? "POST", headers: all, body: typeof body === "string" ? body : JSON.stringify(body) };
}

function stemOf(body: unknown): string | undefined {
  const metadata = typeof body === "object" && body !== null && "metadata" in body ? body.metadata : undefined;
  const named = typeof metadata === "object" && metadata !== null && "generateName" in metadata;
  return named && typeof metadata.generateName === "string" ? metadata.generateName : undefined;
}

/** A body in JSON or protobuf, parsed. protobuf_test.ts compares the bytes. */
async function bodyOf(response: Response): Promise<unknown> {
  if (response.headers.get("content-type") !== protobufType) return parsedBody(await response.text());
  return decodeProtobuf(new Uint8Array(await response.arrayBuffer()));
}

function parsedBody(text: string): unknown {
  if (text[0] !== "{" && text[0] !== "[") return text;
  try {
    return parseExactJson(text);
  } catch {
    return text;
  }
}

async function linesOf(response: Response, count: number): Promise<readonly string[]> {
  const lines: string[] = [];
  let rest = "";
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = parts.pop() ?? "";
    lines.push(...parts.filter((part) => part !== ""));
    if (lines.length >= count) break;
  }
  return lines.slice(0, count);
}

function warningsOf(response: Response): readonly string[] {
  const header = response.headers.get("warning");
  return header === null ? [] : header.split(/, (?=299 )/).toSorted();
}
