/**
 * webhookHandler(): the fetch handler that answers the API server with a list of webhooks. Called by a server
 * (`webhook_server.ts`), or in memory by the embedded API server and by tests.
 *
 * Guarantees: whatever comes in, an answer goes out and nothing throws; the answer repeats the request's UID and version; a
 * handler that throws is a 500, one that is too slow is aborted a second before the API server gives up (behaviours.md 69),
 * so that the API server shows our reason and not a timeout.
 */
import { type Clock, scope, systemClock, untilAborted } from "../async/mod.ts";
import { type Logger, logger, type MetricsRegistry } from "../observe/mod.ts";
import type { ConnectionInfo } from "../runtime/mod.ts";
import {
  type AdmissionRequest,
  type AdmissionResponse,
  decodeAdmissionReview,
  encodeAdmissionReview,
} from "./admission_review.ts";
import { answerConversionReview, type ConversionWebhook } from "./conversion.ts";
import { deniedResponse, responseOf } from "./_response.ts";
import { webhookMetrics } from "./_metrics.ts";
import type { AdmissionWebhook } from "./webhook.ts";

/** A webhook of any kind. */
export type Webhook = AdmissionWebhook | ConversionWebhook;

/** Options of {@link webhookHandler}. */
export interface WebhookHandlerOptions {
  /** Requests at a time; more are answered with 429. @default 100 */
  readonly maxConcurrent?: number;
  /** The common name a client's certificate must have. @default any client, with or without a certificate */
  readonly clientName?: string;
  /** Where requests are counted, under controller-runtime's names. @default nowhere */
  readonly metrics?: MetricsRegistry;
  /** @default systemClock */
  readonly clock?: Clock;
  /** @default logger("webhook") */
  readonly log?: Logger;
}

/** Answers requests. The second argument is what the server knows of the connection; in memory there is none. */
export type WebhookHandler = (request: Request, connection?: ConnectionInfo) => Promise<Response>;

/** Largest body in bytes: two objects of 3 MiB and 1 MiB for the rest, as controller-runtime http.go. */
const maxBodyBytes = 7 * 1024 * 1024;

/**
 * Makes the handler for `webhooks`.
 *
 * @throws TypeError when two of them have the same path.
 * @example
 * ```ts
 * import { builtin } from "../api/mod.ts";
 * import { deny, validating, webhookHandler } from "./mod.ts";
 *
 * const handler = webhookHandler([validating(builtin.ConfigMap, { create: () => deny("no") })]);
 * const review = {
 *   apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview",
 *   request: { uid: "1", kind: { group: "", version: "v1", kind: "ConfigMap" }, operation: "CREATE", object: {} },
 * };
 * const request = new Request("https://localhost/validate--v1-configmap", {
 *   method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(review),
 * });
 * const answer = await (await handler(request)).json();
 * console.assert(answer.response.uid === "1" && answer.response.allowed === false);
 * ```
 */
export function webhookHandler(webhooks: readonly Webhook[], options: WebhookHandlerOptions = {}): WebhookHandler {
  const handler = new Handler(webhooks, options);
  return (request, connection) => handler.handle(request, connection);
}

class Handler {
  readonly #admission = new Map<string, AdmissionWebhook>();
  readonly #conversion: readonly ConversionWebhook[];
  readonly #metrics: ReturnType<typeof webhookMetrics>;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #maxConcurrent: number;
  readonly #clientName: string | undefined;
  #running = 0;

  constructor(webhooks: readonly Webhook[], options: WebhookHandlerOptions) {
    const { maxConcurrent = 100, clientName, metrics, clock = systemClock, log = logger("webhook") } = options;
    for (const webhook of webhooks) {
      if (webhook.kind === "converting") continue;
      const other = this.#admission.get(webhook.path);
      if (other !== undefined) {
        throw new TypeError(`Cannot serve webhook "${webhook.name}": "${other.name}" has path ${webhook.path} already`);
      }
      this.#admission.set(webhook.path, webhook);
    }
    this.#conversion = webhooks.filter((webhook) => webhook.kind === "converting");
    this.#metrics = webhookMetrics(metrics);
    this.#clock = clock;
    this.#log = log;
    this.#maxConcurrent = maxConcurrent;
    this.#clientName = clientName;
  }

  async handle(request: Request, connection: ConnectionInfo | undefined): Promise<Response> {
    const url = new URL(request.url);
    const webhook = this.#admission.get(url.pathname);
    const isConversion = url.pathname === "/convert" && this.#conversion.length > 0;
    if (webhook === undefined && !isConversion) return text(404, "There is no webhook at this path");
    if (request.method !== "POST") return text(405, "Webhooks are called with POST");
    if (this.#clientName !== undefined && connection?.clientName !== this.#clientName) {
      return text(403, "This client may not call webhooks");
    }
    if (this.#running >= this.#maxConcurrent) return text(429, "Too many requests at a time", { "retry-after": "1" });
    this.#running++;
    const startedAt = this.#clock.monotonic();
    const metrics = this.#metrics.of(url.pathname);
    metrics.inFlight.inc();
    try {
      const response = webhook === undefined ? await this.#convert(request) : await this.#admit(webhook, request, url);
      metrics.requests(response.status).inc();
      return response;
    } finally {
      this.#running--;
      metrics.inFlight.dec();
      metrics.latency.observe((this.#clock.monotonic() - startedAt) / 1000);
    }
  }

  async #admit(webhook: AdmissionWebhook, request: Request, url: URL): Promise<Response> {
    const body = await bodyOf(request);
    if (body.kind === "refused") return admission("v1", "", deniedResponse(body.code, body.message));
    const review = decodeAdmissionReview(body.text);
    if (review.kind === "malformed") {
      this.#log.warn("Refused a malformed AdmissionReview", { path: webhook.path, reason: review.message });
      return admission("v1", "", deniedResponse(400, review.message));
    }
    const { uid } = review.request;
    return admission(review.version, uid, await this.#answer(webhook, review.request, request.signal, url));
  }

  async #answer(
    webhook: AdmissionWebhook,
    question: AdmissionRequest,
    signal: AbortSignal,
    url: URL,
  ): Promise<AdmissionResponse> {
    const { group, version, kind } = question.kind;
    const { resource } = webhook;
    if (group !== resource.group || version !== resource.version || kind !== resource.kind) {
      return deniedResponse(
        400,
        `this webhook is for ${resource.kind} ${resource.version}, not for ${kind} ${version}`,
      );
    }
    using child = scope(signal, { timeoutMs: handlerTimeoutMs(webhook, url), clock: this.#clock });
    try {
      return responseOf(webhook, question, await untilAborted(webhook.judge(question, child.signal), child.signal));
    } catch (error) {
      const { name, namespace } = question;
      if (child.signal.aborted) {
        this.#log.warn("A webhook was too slow", { webhook: webhook.name, name, namespace });
        return deniedResponse(504, `webhook "${webhook.name}" took too long`);
      }
      this.#metrics.panics.inc();
      this.#log.error("A webhook failed", { webhook: webhook.name, name, namespace, error });
      return deniedResponse(500, `webhook "${webhook.name}" failed: ${error instanceof Error ? error.message : error}`);
    }
  }

  async #convert(request: Request): Promise<Response> {
    const body = await bodyOf(request);
    if (body.kind === "refused") return text(body.code, body.message);
    const converted = answerConversionReview(body.text, this.#conversion);
    if (converted.kind === "malformed") return text(400, converted.message);
    if (converted.failure !== undefined) this.#log.error("A conversion failed", { error: converted.failure });
    return json(converted.text);
  }
}

type Body =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "refused"; readonly code: number; readonly message: string };

async function bodyOf(request: Request): Promise<Body> {
  const contentType = request.headers.get("content-type") ?? "";
  const bytes = await boundedBytes(request);
  if (bytes?.byteLength === 0) return { kind: "refused", code: 400, message: "the request body is empty" };
  if (bytes === undefined) {
    return { kind: "refused", code: 413, message: `the request body is larger than ${maxBodyBytes} bytes` };
  }
  if (!/^application\/json\s*(;|$)/i.test(contentType)) {
    return { kind: "refused", code: 400, message: "the content type is not application/json" };
  }
  return { kind: "text", text: new TextDecoder().decode(bytes) };
}

/** The body, or undefined when it is too large. A body of unknown length is read no further than the limit. */
async function boundedBytes(request: Request): Promise<Uint8Array | undefined> {
  const announced = request.headers.get("content-length");
  if (announced !== null || request.body === null) {
    if (Number(announced) > maxBodyBytes) return undefined;
    const whole = new Uint8Array(await request.arrayBuffer());
    return whole.length > maxBodyBytes ? undefined : whole;
  }
  const parts: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const part of request.body) {
    sizeBytes += part.length;
    if (sizeBytes > maxBodyBytes) return undefined;
    parts.push(part);
  }
  const whole = new Uint8Array(sizeBytes);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** A second less than the API server waits: its own `timeout` parameter, or what the configuration says. */
function handlerTimeoutMs(webhook: AdmissionWebhook, url: URL): number {
  const asked = /[?&]timeout=(\d+(?:\.\d+)?)s(?:&|$)/.exec(url.search)?.[1];
  const seconds = Math.min(webhook.timeoutSeconds, asked === undefined ? Infinity : Number(asked));
  return seconds >= 2 ? (seconds - 1) * 1000 : seconds * 500;
}

function admission(version: "v1" | "v1beta1", uid: string, response: AdmissionResponse): Response {
  return json(encodeAdmissionReview(version, uid, response));
}

function json(body: string): Response {
  const bytes = new TextEncoder().encode(body);
  return new Response(bytes, { headers: { "content-type": "application/json", "content-length": `${bytes.length}` } });
}

function text(status: number, message: string, headers: Readonly<Record<string, string>> = {}): Response {
  const body = `${message}\n`;
  return new Response(body, {
    status,
    headers: { "content-type": "text/plain; charset=utf-8", "content-length": `${body.length}`, ...headers },
  });
}
