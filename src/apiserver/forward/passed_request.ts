/**
 * passOn(): sends a request of a client to another program and returns its response, as Go's ReverseProxy and the proxies of
 * kube-apiserver do. A request for another protocol switches both connections.
 *
 * Guarantees: credentials, impersonation and the fields that concern one connection only are not passed on; bodies of responses
 * stream, and end when the client leaves.
 * Caveats: links in HTML are not rewritten; kube-apiserver does that.
 */
import { type HeaderLines, type HttpClient, switchProtocols, type Wire } from "../../runtime/mod.ts";

/** Where a request goes, and with which fields. */
export interface PassedRequest {
  /** Sends it. */
  readonly client: HttpClient;
  /** The URL at the program. */
  readonly url: string;
  /** The value of the field `host`. @default that of the URL */
  readonly host?: string;
  /** The address of the client; "" if it is unknown. */
  readonly remoteAddress: string;
  /** More fields, each value on its own line; they replace those of the request. */
  readonly headers: HeaderLines;
  /** Fields of the request that do not pass. @default none but those of the connection and of credentials */
  isDropped?(name: string): boolean;
  /** Ends the request. @default the signal of the request */
  readonly signal?: AbortSignal;
}

/** Fields that concern one connection (RFC 9110, 7.6.1). */
const connectionFields: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** True for a request that asks for another protocol. */
export function isUpgrade({ headers }: Request): boolean {
  return (headers.get("connection") ?? "").toLowerCase().includes("upgrade") && headers.has("upgrade");
}

/** Sends a request. @throws the error of the connection, the reason of the signal */
export async function passOn(request: Request, target: PassedRequest): Promise<Response> {
  const { client, url, headers: own, host, signal = request.signal } = target;
  const { method } = request;
  const fields = passedFields(request, target);
  const lines: HeaderLines = { ...own, ...(host === undefined ? {} : { host: [host] }) };
  if (isUpgrade(request)) {
    const outgoing = new Request(url, { method, headers: fields, signal });
    return await switchBoth(outgoing, client, { ...lines, ...upgradeFields(request) });
  }
  const body = method === "GET" || method === "HEAD" ? undefined : await request.arrayBuffer();
  const hasBody = body !== undefined && body.byteLength > 0;
  const outgoing = new Request(url, { method, headers: fields, signal, ...(hasBody ? { body } : {}) });
  return passedResponse(await client.fetch(outgoing, { headers: lines, longLived: true }));
}

function passedFields(request: Request, { remoteAddress, isDropped, headers: own }: PassedRequest): Headers {
  const fields = new Headers();
  const listed = listedIn(request.headers.get("connection"));
  for (const [name, value] of request.headers) {
    const isOfConnection = connectionFields.has(name) || listed.has(name);
    const isCredential = name === "authorization" || name.startsWith("impersonate-");
    const isSet = name === "host" || name === "content-length" || own[name] !== undefined;
    if (!isOfConnection && !isCredential && !isSet && isDropped?.(name) !== true) fields.append(name, value);
  }
  const prior = request.headers.get("x-forwarded-for");
  if (remoteAddress !== "") {
    fields.set("x-forwarded-for", prior === null ? remoteAddress : `${prior}, ${remoteAddress}`);
  }
  return fields;
}

function listedIn(connection: string | null): ReadonlySet<string> {
  return new Set((connection ?? "").split(",").map((name) => name.trim().toLowerCase()));
}

function upgradeFields({ headers }: Request): Readonly<Record<string, string>> {
  return { connection: "Upgrade", upgrade: headers.get("upgrade") ?? "" };
}

/** The response of the program, without the fields of its connection, and of origins that it would allow. */
function passedResponse(response: Response): Response {
  const headers = withoutConnectionFields(response.headers);
  for (const name of ["credentials", "headers", "methods", "origin"]) headers.delete(`access-control-allow-${name}`);
  const { status, statusText, body } = response;
  return new Response(body, { status, statusText, headers });
}

function withoutConnectionFields(source: Headers): Headers {
  const headers = new Headers(source);
  for (const name of [...connectionFields, ...listedIn(source.get("connection"))]) {
    if (name !== "") headers.delete(name);
  }
  return headers;
}

async function switchBoth(
  request: Request,
  client: HttpClient,
  fields: Readonly<Record<string, string | readonly string[]>>,
): Promise<Response> {
  const answer = await client.upgrade(request, fields);
  if (answer.kind === "refused") return passedResponse(answer.response);
  const { wire, headers } = answer;
  const kept: Record<string, string> = { upgrade: headers.get("upgrade") ?? "" };
  for (const [name, value] of withoutConnectionFields(headers)) kept[name] = value;
  return switchProtocols({
    headers: kept,
    run: (client) => joined(client, wire),
    cancel: () => wire.end(),
  });
}

/** Copies in both directions until one side ends. */
async function joined(client: Wire, program: Wire): Promise<void> {
  await Promise.race([copied(client, program), copied(program, client)]);
  client.end();
  program.end();
}

/** Resolves when `from` has ended, and what it sent has left. */
function copied(from: Wire, to: Wire): Promise<void> {
  return new Promise((resolve) => {
    let sent: Promise<void> = Promise.resolve();
    from.onEnd = () => void sent.then(resolve);
    from.onBytes = (bytes) => {
      from.pause();
      sent = sent.then(() => to.write(bytes)).then(() => from.resume());
    };
  });
}
