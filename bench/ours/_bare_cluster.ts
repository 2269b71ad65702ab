/**
 * The least that speaks to the API server on this runtime: one TLS connection that carries one request at a time, and
 * nothing of the library. It reads only the kubeconfig and the responses of the benchmark's own cluster.
 */
import { Buffer } from "node:buffer";
import { readFileSync } from "node:fs";
import process from "node:process";
import { connect, type TLSSocket } from "node:tls";

/** A request with a JSON body. */
export interface BareRequest {
  readonly method: string;
  readonly path: string;
  readonly contentType?: string;
  readonly body?: unknown;
}

/** A connection to the cluster in KUBECONFIG. */
export class BareConnection {
  readonly #socket: TLSSocket;
  readonly #host: string;
  #received = "";
  #onText: () => void = () => {};

  constructor() {
    const config = readFileSync(process.env["KUBECONFIG"] ?? "", "utf8");
    const { hostname, port, host } = new URL(valueOf(config, "server"));
    const pem = (name: string) => Buffer.from(valueOf(config, name), "base64").toString();
    this.#host = host;
    this.#socket = connect({
      ...{ host: hostname, port: Number(port), ALPNProtocols: ["http/1.1"] },
      ca: pem("certificate-authority-data"),
      cert: pem("client-certificate-data"),
      key: pem("client-key-data"),
    });
    this.#socket.setEncoding("latin1"); // the benchmark's objects are ASCII
    this.#socket.on("data", (text: string) => {
      this.#received += text;
      this.#onText();
    });
  }

  /** Sends a request. @returns what its response says, parsed @throws Error for a status from 300 on */
  async send(request: BareRequest) {
    this.#write(request);
    for (;;) {
      const response = readResponse(this.#received);
      if (response !== undefined) {
        const { status, body, end } = response;
        this.#received = this.#received.slice(end);
        if (status >= 300) throw new Error(`Cannot ${request.method} ${request.path}: ${status} ${body}`);
        return JSON.parse(body);
      }
      await new Promise<void>((resolve) => this.#onText = resolve);
    }
  }

  /** Sends a request whose response does not end, and resolves with its first bytes. @throws Error unless it is a 200 */
  async watch(path: string): Promise<void> {
    this.#write({ method: "GET", path });
    await new Promise<void>((resolve) => this.#onText = resolve);
    if (!this.#received.startsWith("HTTP/1.1 200 ")) throw new Error(`Cannot watch ${path}: ${this.#received}`);
  }

  #write({ method, path, contentType = "application/json", body }: BareRequest): void {
    const text = body === undefined ? "" : JSON.stringify(body);
    const head = `${method} ${path} HTTP/1.1\r\nhost: ${this.#host}\r\naccept: application/json\r\n`;
    this.#socket.write(`${head}content-type: ${contentType}\r\ncontent-length: ${text.length}\r\n\r\n${text}`);
  }
}

function valueOf(config: string, name: string): string {
  const value = new RegExp(`^\\s*${name}: (\\S+)$`, "m").exec(config)?.[1];
  if (value === undefined) throw new Error(`Cannot read the kubeconfig of the benchmark: it has no ${name}`);
  return value;
}

/** The response at the begin of `text`, whose body has a length or is in chunks; undefined while a part is missing. */
function readResponse(text: string): { status: number; body: string; end: number } | undefined {
  const bodyAt = text.indexOf("\r\n\r\n") + 4;
  if (bodyAt < 4) return undefined;
  const status = Number(text.slice(9, 12));
  const length = /^content-length: (\d+)\r$/im.exec(text.slice(0, bodyAt))?.[1];
  if (length !== undefined) {
    const end = bodyAt + Number(length);
    return text.length < end ? undefined : { status, body: text.slice(bodyAt, end), end };
  }
  let body = "", at = bodyAt;
  for (;;) {
    const lineEnd = text.indexOf("\r\n", at);
    const size = Number.parseInt(text.slice(at, lineEnd), 16);
    const end = lineEnd + 2 + size + 2;
    if (lineEnd < 0 || text.length < end) return undefined;
    if (size === 0) return { status, body, end };
    body += text.slice(lineEnd + 2, end - 2);
    at = end;
  }
}
