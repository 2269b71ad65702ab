/**
 * httpsWebhookCaller(): asks webhooks over HTTPS, as kube-apiserver does: their certificate must come from the caBundle.
 * A service is called where the caller was told that it is, since there is no cluster network here.
 *
 * Guarantees: redirects are not followed, an answer is at most 3 MiB, and time is up after what the configuration says.
 */
import { type Clock, scope } from "../../async/mod.ts";
import { type HttpClient, httpClient } from "../../runtime/mod.ts";
import { unexpectedAnswer } from "./_server_response.ts";
import { type CallWebhook, type WebhookTarget, WebhookUnreachable } from "./webhook_call.ts";

/** Options of {@link httpsWebhookCaller}. */
export interface HttpsWebhookCallerOptions {
  readonly clock: Clock;
  /** Where services are: `namespace/name` or `namespace/name:port` to an origin such as `https://127.0.0.1:9443`. @default none */
  readonly services?: ReadonlyMap<string, string>;
}

/** Characters of an answer. */
const mostText = 3 * 1024 * 1024;

/** Authorities whose connections are kept. */
const mostClients = 32;

/** Makes the function that asks; connections are kept per authority. */
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
    const failed = (why: unknown) =>
      new WebhookUnreachable(`failed to call webhook: Post ${JSON.stringify(url)}: ${describe(why)}`);
    let response: Response;
    let text: string;
    try {
      response = await clientFor(target, clients).fetch(request);
      text = await response.text();
    } catch (error) {
      throw failed(time.signal.aborted ? "context deadline exceeded" : error);
    }
    if (!response.ok) {
      const isText = response.headers.get("content-type")?.startsWith("text/") === true;
      const why = unexpectedAnswer(response.status, isText ? text.trim() : "");
      throw new WebhookUnreachable(`failed to call webhook: ${why}`);
    }
    if (text.length > mostText) throw failed(`an answer of ${text.length} characters`);
    return text;
  };
}

function urlOf({ url, service }: WebhookTarget, services: ReadonlyMap<string, string>): string {
  if (service === undefined) {
    if (url === undefined) {
      throw new WebhookUnreachable("failed to call webhook: neither url nor service is configured");
    }
    return url;
  }
  const { namespace, name, port, path } = service;
  const origin = services.get(`${namespace}/${name}:${port}`) ?? services.get(`${namespace}/${name}`);
  if (origin !== undefined) return `${origin}${path}`;
  throw new WebhookUnreachable(
    `failed to call webhook: Post "https://${name}.${namespace}.svc:${port}${path}": service "${name}" is at no address that this server knows`,
  );
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
  if (clients.size > mostClients && oldest !== undefined) {
    clients.delete(oldest[0]);
    oldest[1].close();
  }
  return made;
}

function describe(why: unknown): string {
  return why instanceof Error ? why.message : String(why);
}
