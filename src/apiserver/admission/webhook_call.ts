/**
 * CallWebhook: the function with which admission and conversion call a webhook. httpsWebhookCaller() calls it over HTTPS; a
 * controller in the same process can be called without a network.
 */
import { type Clock, scope } from "../../async/mod.ts";
import { boundedText, fromBase64, type HttpClient, httpClient } from "../../runtime/mod.ts";
import { isJsonObject, type Json } from "../model/mod.ts";

/** The address of a webhook: a URL or a service, as in `clientConfig`. */
export interface WebhookTarget {
  /** `https://…`, including the path. */
  readonly url?: string;
  readonly service?: {
    readonly namespace: string;
    readonly name: string;
    readonly path: string;
    readonly port: number;
  };
  /** PEM text. */
  readonly caBundle?: string;
}

/**
 * Calls a webhook.
 *
 * @returns the body of the response
 * @throws WebhookCallError when there is no valid response
 */
export type CallWebhook = (
  target: WebhookTarget,
  body: string,
  options: { readonly timeoutMs: number },
) => Promise<string>;

/** The call failed, or the response is invalid. The message is shown to the client. */
export class WebhookCallError extends Error {
  override readonly name = "WebhookCallError";
}

/** Reads the `clientConfig` of a webhook or of a conversion. */
export function targetOf(config: Json | undefined): WebhookTarget {
  if (!isJsonObject(config)) return {};
  const { url, service, caBundle } = config;
  const pem = typeof caBundle === "string" ? new TextDecoder().decode(fromBase64(caBundle)) : undefined;
  if (!isJsonObject(service)) return { ...(typeof url === "string" ? { url } : {}), caBundle: pem };
  const { namespace, name, path = "/", port = 443 } = service;
  return {
    service: { namespace: `${namespace}`, name: `${name}`, path: `${path}`, port: Number(port) },
    caBundle: pem,
  };
}

/** Options of {@link httpsWebhookCaller}. */
export interface HttpsWebhookCallerOptions {
  readonly clock: Clock;
  /**
   * The addresses of services, because there is no cluster network: `namespace/name` or `namespace/name:port` to an origin
   * such as `https://127.0.0.1:9443`. @default none
   */
  readonly services?: ReadonlyMap<string, string>;
}

/** Largest response. */
const maxResponseBytes = 3 * 1024 * 1024;

/** Largest number of HTTP clients with open connections. */
const maxClients = 32;

/**
 * Returns a function that calls webhooks over HTTPS. Like kube-apiserver it trusts only the caBundle, follows no redirect,
 * and aborts at the configured timeout. Connections are reused per authority.
 */
export function httpsWebhookCaller({ clock, services = new Map() }: HttpsWebhookCallerOptions): CallWebhook {
  const clients = new Map<string, HttpClient>();
  return async (target, body, { timeoutMs }) => {
    const url = urlOf(target, services);
    using time = scope(new AbortController().signal, { timeoutMs, clock });
    const request = new Request(url, {
      method: "POST",
      body,
      headers: { "content-type": "application/json", accept: "application/json" },
      signal: time.signal,
    });
    const failed = (error: unknown) =>
      new WebhookCallError(`failed to call webhook: Post ${JSON.stringify(url)}: ${messageOf(error)}`);
    let response: Response;
    let text: string;
    try {
      response = await clientFor(target, clients).fetch(request);
      text = await boundedText(response, { maxBytes: maxResponseBytes, what: "response" });
    } catch (error) {
      throw failed(time.signal.aborted ? "context deadline exceeded" : error);
    }
    if (!response.ok) {
      const isText = response.headers.get("content-type")?.startsWith("text/") === true;
      const message = unexpectedResponse(response.status, isText ? text.trim() : "");
      throw new WebhookCallError(`failed to call webhook: ${message}`);
    }
    return text;
  };
}

function urlOf({ url, service }: WebhookTarget, services: ReadonlyMap<string, string>): string {
  if (service === undefined) {
    if (url === undefined) {
      throw new WebhookCallError("failed to call webhook: neither url nor service is configured");
    }
    if (!URL.canParse(url)) throw new WebhookCallError(`failed to call webhook: Unparsable URL: ${url}`);
    const { origin, pathname } = new URL(url);
    return `${origin}${cleanPath(pathname)}`;
  }
  const { namespace, name, port, path } = service;
  const origin = services.get(`${namespace}/${name}:${port}`) ?? services.get(`${namespace}/${name}`);
  if (origin !== undefined) return `${origin}${cleanPath(path)}`;
  const asked = `https://${name}.${namespace}.svc:${port}${cleanPath(path)}`;
  throw new WebhookCallError(
    `failed to call webhook: Post "${asked}": service "${name}" has no address on this server`,
  );
}

/** The path as `path.Join` of Go writes it, which the REST client of kube-apiserver uses: `//a/./b/` is `/a/b`. */
function cleanPath(path: string): string {
  const { pathname } = new URL(`https://path/${path}`);
  return `/${pathname.split("/").filter((part) => part !== "").join("/")}`;
}

function clientFor({ caBundle, service }: WebhookTarget, clients: Map<string, HttpClient>): HttpClient {
  const serverName = service === undefined ? undefined : `${service.name}.${service.namespace}.svc`;
  const key = `${serverName ?? ""}\n${caBundle ?? ""}`;
  const known = clients.get(key);
  if (known !== undefined) return known;
  const made = httpClient({
    ...(caBundle === undefined ? {} : { ca: caBundle }),
    ...(serverName === undefined ? {} : { serverName }),
  });
  clients.set(key, made);
  const [oldest] = clients;
  if (clients.size > maxClients && oldest !== undefined) {
    clients.delete(oldest[0]);
    oldest[1].close();
  }
  return made;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

const byCode: ReadonlyMap<number, string> = new Map([
  [400, "the server rejected our request for an unknown reason"],
  [401, "the server has asked for the client to provide credentials"],
  [404, "the server could not find the requested resource"],
  [405, "the server does not allow this method on the requested resource"],
  [409, "the server reported a conflict"],
  [422, "the server rejected our request due to an error in our request"],
  [429, "the server has received too many requests and has asked us to try again later"],
  [503, "the server is currently unable to handle the request"],
  [504, "the server was unable to return a response in the time allotted, but may still be processing the request"],
]);

/** client-go's message for an unsuccessful HTTP response. Texts of apimachinery `api/errors`. @param body its text */
export function unexpectedResponse(code: number, body: string): string {
  const text = body === "" ? "unknown" : body;
  if (code === 406 && text === "unknown") {
    return "the server was unable to respond with a content type that the client supports";
  }
  if (code === 403 || code === 406 || code === 415) return text;
  const known = byCode.get(code);
  if (known !== undefined) return known;
  if (code < 500) return `the server responded with the status code ${code} but did not return more information`;
  return `an error on the server (${JSON.stringify(text)}) has prevented the request from succeeding`;
}
