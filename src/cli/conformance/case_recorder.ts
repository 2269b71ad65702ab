/**
 * CaseRecorder: sends the requests of one case to one API server and records its responses, masked, so that those of two
 * servers can be compared. The command `conformance` plays request files with it, and so do the cases of tests/conformance.
 *
 * Guarantees: nothing is expected of a response; also an error of the server is only recorded.
 */
import { parseExactJson } from "../../api/mod.ts";
import { decodeProtobuf, protobufType } from "../../apiserver/mod.ts";
import { type Json, Mask } from "./mask.ts";
import { withSortedCauses } from "./sorted_causes.ts";

/**
 * Sends a request to one of the servers. The path begins with a slash.
 *
 * @param subject Who sends it. @default the user of the connection
 */
export type Send<Subject> = (path: string, init: RequestInit, subject?: Subject) => Promise<Response>;

/** The HTTP methods of the Kubernetes API. */
export const methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD"] as const;

/** One request of a case. */
export interface Call<Subject> {
  /** @default POST with a body, else GET */
  readonly method?: (typeof methods)[number];
  readonly path: string;
  /** An object is sent as JSON, text and bytes unchanged. */
  readonly body?: unknown;
  /** "": none. @default application/json for a body */
  readonly type?: string;
  readonly accept?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Picks the part of a response to record. @default all of it */
  // deno-lint-ignore no-explicit-any
  readonly pick?: (body: any) => unknown;
  /** Records only whether the user may do this: the response if its code is 401 or 403, else a word. @default false */
  readonly recordsDenial?: boolean;
  /** @default the user of the connection */
  readonly subject?: Subject;
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

/** The responses of a server to a case. */
export type Transcript = readonly Step[];

/** How a watch is read. */
export interface OpenWatchOptions<Subject> {
  /** The number of events to read. */
  readonly count: number;
  readonly accept?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly subject?: Subject;
  /** The server ends the watch after this time. @default 120 */
  readonly timeoutSeconds?: number;
}

/** A watch that is open. */
export interface OpenWatch {
  /** Waits for the events, closes the watch and records them. */
  record(): Promise<void>;
  /** Ends it. */
  close(reason?: unknown): void;
}

/** Options of {@link CaseRecorder}. */
export interface CaseRecorderOptions<Subject> {
  readonly send: Send<Subject>;
  /** A word that no other run uses. */
  readonly unique: string;
  /** @default a new one */
  readonly namespace?: string;
}

/** One run of one case on one server. */
export class CaseRecorder<Subject> {
  readonly send: Send<Subject>;
  readonly mask: Mask;
  /** A word of letters and digits that no other run uses. */
  readonly unique: string;
  readonly steps: Step[] = [];
  /** The namespace of the case. */
  readonly namespace: string;

  constructor({ send, unique, namespace = `conformance-${unique}` }: CaseRecorderOptions<Subject>) {
    this.send = send;
    this.unique = unique;
    this.namespace = namespace;
    this.mask = new Mask(unique);
  }

  /** Creates the namespace of the case. @throws Error when the server does not */
  async createNamespace(): Promise<void> {
    await this.prepare({ path: "/api/v1/namespaces", body: { metadata: { name: this.namespace } } });
  }

  /** Deletes the namespace of the case; the server does it in the background. @throws Error when it does not */
  async deleteNamespace(): Promise<void> {
    await this.prepare({ method: "DELETE", path: `/api/v1/namespaces/${this.namespace}` });
  }

  /** Sends a request and records the response. @returns the response's body, parsed if it is JSON */
  // deno-lint-ignore no-explicit-any
  async call(call: Call<Subject>): Promise<any> {
    const { path, pick = (body) => body, sortsCauses = false } = call;
    const init = initOf(call);
    const stem = stemOf(call.body);
    if (stem !== undefined) this.mask.addStem(stem);
    const response = await this.send(path, init, call.subject);
    if (call.recordsDenial === true && response.status !== 401 && response.status !== 403) {
      await response.body?.cancel();
      return this.note(`${init.method} ${path}`, 0, "allowed");
    }
    const parsed = await bodyOf(response);
    const body = sortsCauses ? withSortedCauses(parsed) : parsed;
    this.#record(`${init.method} ${this.mask.text(path)}`, response, response.ok ? pick(body) : body);
    return body;
  }

  /** Sends a request whose response is not compared, as a preparation. @throws Error when it fails */
  // deno-lint-ignore no-explicit-any
  async prepare(call: Call<Subject>): Promise<any> {
    const init = initOf(call);
    const response = await this.send(call.path, init, call.subject);
    const text = await response.text();
    if (!response.ok) throw new Error(`Cannot ${init.method} ${call.path}: ${response.status} ${text}`);
    return parsedBody(text);
  }

  /** Opens a watch. @param path may include a query */
  async openWatch(path: string, options: OpenWatchOptions<Subject>): Promise<OpenWatch> {
    const { count, accept, headers = {}, subject, timeoutSeconds = 120 } = options;
    const stop = new AbortController();
    const full = `${path}${path.includes("?") ? "&" : "?"}watch=true&timeoutSeconds=${timeoutSeconds}`;
    const init = initOf({ path: full, accept, headers });
    const response = await this.send(full, { ...init, signal: stop.signal }, subject);
    const reading = response.ok ? linesOf(response, count) : response.text().then((text) => [text]);
    reading.catch(() => {}); // record() reports it
    return {
      record: async () => {
        const events = await reading;
        stop.abort();
        this.#record(`WATCH ${this.mask.text(path)}`, response, events.map((line) => parsedBody(line)));
      },
      close: (reason) => stop.abort(reason),
    };
  }

  /** Records a value other than a response, such as the requests to a webhook. @param title describes the value */
  note(title: string, code: number, value: unknown): void {
    const [request, response] = [this.mask.text(title), this.mask.value(value)];
    this.steps.push({ request, code, type: "", warnings: [], response });
  }

  #record(request: string, { status, headers }: Response, body: unknown): void {
    this.steps.push({
      request,
      code: status,
      type: headers.get("content-type") ?? "",
      warnings: warningsOf(headers).map((warning) => this.mask.text(warning)),
      response: this.mask.value(body),
    });
  }
}

/** The parts of a request for fetch. */
export function initOf({ method, body, type, accept, headers = {} }: Omit<Call<unknown>, "subject">): RequestInit {
  const all = new Headers(headers);
  if (accept !== undefined) all.set("accept", accept);
  if (body === undefined) return { method: method ?? "GET", headers: all };
  if (type !== "") all.set("content-type", type ?? "application/json");
  // fetch adds a type to text, and none to bytes.
  const bytes = body instanceof Uint8Array ? Uint8Array.from(body) : new TextEncoder().encode(textOf(body));
  return {
    method: method ?? "POST",
    headers: all,
    body: type === "" || body instanceof Uint8Array ? bytes : textOf(body),
  };
}

function textOf(body: unknown): string {
  return typeof body === "string" ? body : JSON.stringify(body);
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

/** A body, parsed if it is JSON. */
export function parsedBody(text: string): unknown {
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

/** The warnings of a response, sorted. */
export function warningsOf(headers: Headers): readonly string[] {
  const header = headers.get("warning");
  return header === null ? [] : header.split(/, (?=299 )/).toSorted();
}
