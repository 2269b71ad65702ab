/**
 * Site: an API server that conformance cases are run against, the embedded one or a real one, and what a case may do
 * there. Every answer is written down; the cases themselves judge nothing, since the real server is what is right.
 */
import { type Json, Mask } from "./mask.ts";

/** Sends a request to one of the servers. The path begins with a slash. */
export type Send = (path: string, init: RequestInit) => Promise<Response>;

/** One request of a case. */
export interface Call {
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS" | "HEAD";
  readonly path: string;
  /** An object is sent as JSON, text as it is. */
  readonly body?: unknown;
  readonly type?: string;
  readonly accept?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What was asked and answered, made comparable. */
export interface Step {
  readonly asked: string;
  readonly code: number;
  readonly type: string;
  readonly warnings: readonly string[];
  readonly answer: Json;
}

/** One run of one case. */
export class Site {
  readonly #send: Send;
  readonly #mask: Mask;
  readonly #unique: string;
  readonly steps: Step[] = [];
  /** A namespace of the case's own, which exists. */
  readonly namespace: string;

  constructor(send: Send, unique: string) {
    this.#send = send;
    this.#unique = unique;
    this.namespace = `conformance-${unique}`;
    this.#mask = new Mask(unique);
  }

  /** A name that no other run uses, for what is in no namespace. */
  name(stem: string): string {
    return `${stem}-${this.#unique}`;
  }

  /** Sends a request and writes down what came back. @returns the answer as it came, JSON where it was JSON */
  // deno-lint-ignore no-explicit-any
  async call(call: Call): Promise<any> {
    const { method = "GET", path } = call;
    const response = await this.#send(path, initOf(call));
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.includes("json") === true;
    const answer: unknown = isJson && text !== "" ? JSON.parse(text) : text;
    this.steps.push({
      asked: `${method} ${this.#mask.text(path)}`,
      code: response.status,
      type: response.headers.get("content-type") ?? "",
      warnings: warningsOf(response).map((warning) => this.#mask.text(warning)),
      answer: this.#mask.value(answer),
    });
    return answer;
  }

  /** Does something whose answers are not compared: to set the scene. @throws Error when it is refused */
  // deno-lint-ignore no-explicit-any
  async prepare(call: Call): Promise<any> {
    const response = await this.#send(call.path, initOf(call));
    const text = await response.text();
    if (!response.ok) throw new Error(`Cannot ${call.method ?? "GET"} ${call.path}: ${response.status} ${text}`);
    return text === "" ? undefined : JSON.parse(text);
  }

  /**
   * Watches while `act` runs and writes down the events, in the server's order, until `count` have come.
   *
   * @param path with its query, without `watch=true`
   */
  async watch(path: string, count: number, act: () => Promise<void>, accept?: string): Promise<void> {
    const stop = new AbortController();
    const full = `${path}${path.includes("?") ? "&" : "?"}watch=true&timeoutSeconds=20`;
    const response = await this.#send(full, { headers: accept === undefined ? {} : { accept }, signal: stop.signal });
    const acting = act();
    const events = response.ok ? await linesOf(response, count) : [await response.text()];
    await acting;
    stop.abort();
    this.steps.push({
      asked: `WATCH ${this.#mask.text(path)}`,
      code: response.status,
      type: response.headers.get("content-type") ?? "",
      warnings: warningsOf(response),
      answer: this.#mask.value(events.map((line) => JSON.parse(line))),
    });
  }
}

function initOf({ method = "GET", body, type, accept, headers = {} }: Call): RequestInit {
  const all = new Headers(headers);
  if (accept !== undefined) all.set("accept", accept);
  if (body === undefined) return { method, headers: all };
  all.set("content-type", type ?? "application/json");
  return { method, headers: all, body: typeof body === "string" ? body : JSON.stringify(body) };
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
