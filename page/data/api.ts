/**
 * Api: asks the server of this page. The only place that sends requests, and the only one that knows the token.
 *
 * Guarantees: each request goes to the origin of the page, with the token in a header and never in a URL; a failure says what
 * the user can do.
 */

/** Why there is no answer. */
export type ProblemKind = "token" | "forbidden" | "gone" | "missing" | "busy" | "failed";

/** A request that has no answer. */
export class Problem extends Error {
  override readonly name = "Problem";
  readonly kind: ProblemKind;

  constructor(kind: ProblemKind, message: string) {
    super(message);
    this.kind = kind;
  }
}

/** An event of a stream. */
export interface StreamEvent {
  /** `message` unless the server names another one. */
  readonly event: string;
  readonly data: string;
}

export class Api {
  readonly #token: string;

  constructor(token: string) {
    this.#token = token;
  }

  /** Asks for JSON. @throws Problem */
  async get<T>(path: string, signal?: AbortSignal): Promise<T> {
    const response = await this.#send(path, "application/json", signal);
    try {
      return await response.json();
    } catch (error) {
      if (signal?.aborted) throw error;
      throw new Problem("gone", "The answer ended early");
    }
  }

  /** Follows a stream of server-sent events until it ends. EventSource could not send the token. @throws Problem */
  async *events(path: string, signal: AbortSignal): AsyncGenerator<StreamEvent, void, void> {
    const response = await this.#send(path, "text/event-stream", signal);
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    if (reader === undefined) return;
    let text = "";
    try {
      while (true) {
        const { done, value } = await reader.read();
        if (done) return;
        text += value;
        const blocks = text.split("\n\n");
        text = blocks.pop() ?? "";
        for (const block of blocks) yield eventOf(block);
      }
    } finally {
      await reader.cancel().catch(() => {});
    }
  }

  async #send(path: string, accept: string, signal?: AbortSignal): Promise<Response> {
    const headers = { accept, authorization: `Bearer ${this.#token}` };
    const response = await fetch(path, { headers, signal, redirect: "error", credentials: "omit" }).catch((error) => {
      if (signal?.aborted) throw error;
      throw new Problem("gone", "The server does not answer");
    });
    if (response.ok) return response;
    const { error } = await response.json().catch(() => ({ error: undefined }));
    const said = typeof error === "string" ? error : `The server answered with status ${response.status}`;
    throw new Problem(kindOf(response.status), said);
  }
}

function eventOf(block: string): StreamEvent {
  let event = "message";
  const data: string[] = [];
  for (const line of block.split("\n")) {
    if (line.startsWith("event: ")) event = line.slice(7);
    if (line.startsWith("data: ")) data.push(line.slice(6));
  }
  return { event, data: data.join("\n") };
}

function kindOf(status: number): ProblemKind {
  switch (status) {
    case 401:
      return "token";
    case 403:
      return "forbidden";
    case 404:
      return "missing";
    case 409:
    case 503:
      return "busy";
    default:
      return "failed";
  }
}
