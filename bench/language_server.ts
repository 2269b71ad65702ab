/**
 * A language server of TypeScript, used as an editor uses it: a file is opened, changed, and its problems are asked for.
 * TypeScript 7 has one that speaks the Language Server Protocol; editors use tsserver of TypeScript 5, which has its own.
 *
 * Guarantees: no server outlives its `await using` block. A server that ends early is an error with the end of its stderr.
 */
import { Buffer } from "node:buffer";
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { dirname } from "node:path";
import type { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";
import { z } from "zod";
import { type Usage, usageOf } from "./usage.ts";

/** A text that is inserted into the open file. */
export interface Insertion {
  /** From 0. */
  readonly line: number;
  /** From 0. */
  readonly column: number;
  readonly text: string;
}

/** A server with one open file. */
export interface LanguageServer extends AsyncDisposable {
  /** What its process has used. */
  usage(): Usage;
  /** Changes the open file, in the server's memory only. */
  insert(insertion: Insertion): void;
  /** Returns the messages of all problems in the open file. */
  problems(): Promise<readonly string[]>;
}

/** What to open. */
export interface LanguageServerOptions {
  /** The server and its arguments. */
  readonly command: readonly string[];
  /** The path of the file to open. */
  readonly file: string;
  /** Its content. */
  readonly text: string;
}

type Message = Readonly<Record<string, unknown>>;

const endGraceMs = 3_000;
const stderrTailLength = 2_000;
const tsserverEvent = z.object({ event: z.string(), body: z.looseObject({}) });
const tsserverDiagnostics = z.object({ diagnostics: z.array(z.object({ text: z.string() })) });
const report = z.object({ items: z.array(z.object({ message: z.string() })) });

/** Starts tsserver of TypeScript 5 and opens a file. */
export function openTsserver({ command, file, text }: LanguageServerOptions): LanguageServer {
  const connection = new Connection(command, (message) => `${JSON.stringify(message)}\n`);
  let requests = 0;
  const send = (name: string, args: Message) => {
    connection.send({ seq: ++requests, type: "request", command: name, arguments: args });
    return requests;
  };
  send("open", { file, fileContent: text });
  return {
    usage: () => connection.usage(),
    insert({ line, column, text: insertString }) {
      const at = { line: line + 1, offset: column + 1, endLine: line + 1, endOffset: column + 1 };
      send("change", { file, ...at, insertString });
    },
    async problems() {
      const request = send("geterr", { files: [file], delay: 0 });
      const found: string[] = [];
      while (true) {
        const { data } = tsserverEvent.safeParse(await connection.read());
        if (data?.event === "syntaxDiag" || data?.event === "semanticDiag") {
          found.push(...tsserverDiagnostics.parse(data.body).diagnostics.map((diagnostic) => diagnostic.text));
        }
        if (data?.event === "requestCompleted" && data.body["request_seq"] === request) return found;
      }
    },
    [Symbol.asyncDispose]: () => connection[Symbol.asyncDispose](),
  };
}

/** Starts the language server of TypeScript 7 and opens a file. */
export async function openLspServer({ command, file, text }: LanguageServerOptions): Promise<LanguageServer> {
  const connection = new Connection(command, (message) => {
    const body = JSON.stringify({ jsonrpc: "2.0", ...message });
    return `Content-Length: ${new TextEncoder().encode(body).length}\r\n\r\n${body}`;
  });
  const uri = pathToFileURL(file).href;
  let [requests, version] = [0, 1];
  const request = async (method: string, params: Message): Promise<unknown> => {
    const id = ++requests;
    connection.send({ id, method, params });
    while (true) {
      const message = await connection.read();
      if (message["method"] !== undefined) answer(connection, message);
      else if (message["id"] === id) {
        if (message["error"] === undefined) return message["result"];
        throw new Error(`Cannot request ${method}: ${JSON.stringify(message["error"])}`);
      }
    }
  };
  await request("initialize", {
    processId: null,
    rootUri: pathToFileURL(dirname(file)).href,
    capabilities: { textDocument: { diagnostic: {} } },
  });
  connection.send({ method: "initialized", params: {} });
  connection.send({
    method: "textDocument/didOpen",
    params: { textDocument: { uri, languageId: "typescript", version, text } },
  });
  return {
    usage: () => connection.usage(),
    insert({ line, column, text: inserted }) {
      const at = { line, character: column };
      const contentChanges = [{ range: { start: at, end: at }, text: inserted }];
      connection.send({
        method: "textDocument/didChange",
        params: { textDocument: { uri, version: ++version }, contentChanges },
      });
    },
    async problems() {
      const result = await request("textDocument/diagnostic", { textDocument: { uri } });
      return report.parse(result).items.map(({ message }) => message);
    },
    [Symbol.asyncDispose]: () => connection[Symbol.asyncDispose](),
  };
}

/** Answers a request of the server: this client has no settings and registers nothing. */
function answer(connection: Connection, { id, method, params }: Message): void {
  if (id === undefined) return;
  const { data } = z.object({ items: z.array(z.unknown()) }).safeParse(params);
  const result = method === "workspace/configuration" ? data?.items.map(() => null) ?? [] : null;
  connection.send({ id, result });
}

/** Messages to and from a process. What it writes has headers with the length of each message. */
class Connection implements AsyncDisposable {
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #command: string;
  readonly #frame: (message: Message) => string;
  readonly #messages: Message[] = [];
  readonly #ended: Promise<void>;
  #received: Uint8Array = new Uint8Array();
  #hasEnded = false;
  #wake: () => void = () => {};
  #stderr = "";

  constructor(command: readonly string[], frame: (message: Message) => string) {
    const [path = "", ...args] = command;
    this.#command = command.join(" ");
    this.#frame = frame;
    this.#child = spawn(path, args, { stdio: ["pipe", "pipe", "pipe"] });
    this.#child.stdin.on("error", () => {}); // it may end before we close its stdin
    this.#child.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-stderrTailLength);
    });
    this.#child.stdout.on("data", (chunk: Uint8Array) => this.#receive(chunk));
    this.#ended = new Promise((resolve) => this.#child.once("close", resolve).once("error", resolve)).then((cause) => {
      if (cause instanceof Error) this.#stderr += cause.message;
      this.#hasEnded = true;
      this.#wake();
    });
  }

  send(message: Message): void {
    this.#child.stdin.write(this.#frame(message));
  }

  /** Waits for the next message. @throws Error when the process ends instead */
  async read(): Promise<Message> {
    while (this.#messages.length === 0 && !this.#hasEnded) {
      await new Promise<void>((resolve) => this.#wake = resolve);
    }
    const message = this.#messages.shift();
    if (message === undefined) throw new Error(`Cannot use ${this.#command}: it has ended\n${this.#stderr.trim()}`);
    return message;
  }

  usage(): Usage {
    return usageOf(this.#child.pid ?? 0);
  }

  /** Ends the process; kills it if it does not end. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.stdin.end();
    const kill = setTimeout(() => this.#child.kill("SIGKILL"), endGraceMs);
    await this.#ended;
    clearTimeout(kill);
  }

  #receive(chunk: Uint8Array): void {
    this.#received = Buffer.concat([this.#received, chunk]);
    for (let rest = this.#takeMessage(); rest !== undefined; rest = this.#takeMessage()) this.#received = rest;
    this.#wake();
  }

  /** Takes the first message, if it is complete. @returns the bytes after it */
  #takeMessage(): Uint8Array | undefined {
    const head = /^([^]*?)\r\n\r\n/.exec(new TextDecoder("latin1").decode(this.#received.subarray(0, 1_000)));
    const length = Number(/Content-Length: (\d+)/i.exec(head?.[1] ?? "")?.[1]);
    if (head === null || !(this.#received.length >= head[0].length + length)) return undefined;
    const end = head[0].length + length;
    const body = new TextDecoder().decode(this.#received.subarray(head[0].length, end));
    this.#messages.push(z.record(z.string(), z.unknown()).parse(JSON.parse(body)));
    return this.#received.subarray(end);
  }
}
