/**
 * webhookHandler(): the fetch handler that serves a list of webhooks. A server (`webhook_server.ts`) calls it, or the
 * embedded API server and tests call it in memory.
 *
 * Guarantees: every request gets a response and nothing throws; the response repeats the UID and version of the request.
 * A handler that throws gives a 500. A slow handler is aborted one second before the API server gives up (behaviour 69),
 * so that the user sees our message and not a timeout.
 */
import { type Clock, scope, systemClock, untilAborted } from "../async/mod.ts";
import {
  type Counter,
  type Gauge,
  type Histogram,
  type Logger,
  logger,
  MetricsRegistry,
  printable,
  type Recorder,
  redactText,
} from "../observe/mod.ts";
import type { ConnectionInfo, ReceivedHead } from "../runtime/mod.ts";
import {
  type AdmissionRequest,
  type AdmissionResponse,
  decodeAdmissionReview,
  encodeAdmissionReview,
} from "./admission_review.ts";
import { conversionPath, type ConversionWebhook, handleConversionReview } from "./conversion.ts";
import { type AdmissionDecision, type AdmissionWebhook, type Denied, isAboutKind } from "./webhook.ts";
import type { ApiStatus } from "../api/mod.ts";
import { fieldOf } from "./_decode.ts";
import { printPatch } from "./json_patch.ts";
import { recordConversion, recordReview } from "./recorded_review.ts";
import { LargeTexts, type LargeTextTurn, minLargeBytes } from "./large_texts.ts";
import { toBase64 } from "../runtime/mod.ts";

/** A webhook that an operator can serve: for admission or for conversion. */
export type Webhook = AdmissionWebhook | ConversionWebhook;

/** Options of {@link webhookHandler}. */
export interface WebhookHandlerOptions {
  /** Concurrent requests; further ones get a 429. @default 1000, the connections of a WebhookServer */
  readonly maxConcurrent?: number;
  /** The common name that the client certificate must have. @default any client, with or without a certificate */
  readonly clientName?: string;
  /** The registry for the metrics, which have controller-runtime's names. @default none */
  readonly metrics?: MetricsRegistry;
  /** Records each review with its answer. @default nothing is recorded */
  readonly recorder?: Recorder;
  /** The source of time. @default systemClock */
  readonly clock?: Clock;
  /** Gets failed requests. @default logger("webhook") */
  readonly log?: Logger;
}

/** Handles requests. The second argument describes the connection; it is absent for calls in memory. */
export type WebhookHandler = (request: Request, connection?: ConnectionInfo) => Promise<Response>;

/** Largest body in bytes: two objects of 3 MiB and 1 MiB for the rest, as controller-runtime http.go. */
const maxBodyBytes = 7 * 1024 * 1024;

/**
 * Makes the handler for `webhooks`.
 *
 * @throws TypeError when two webhooks have the same path.
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
 * const { response } = await (await handler(request)).json();
 * console.assert(response.uid === "1" && response.allowed === false);
 * ```
 */
export function webhookHandler(webhooks: readonly Webhook[], options: WebhookHandlerOptions = {}): WebhookHandler {
  return servedWebhooks(webhooks, options).handler;
}

/** What a server needs to serve webhooks. */
export interface ServedWebhooks {
  readonly handler: WebhookHandler;
  /** False for the requests that the handler refuses without their bodies, so that these take no memory. */
  readonly readsBody: (request: ReceivedHead, connection?: ConnectionInfo) => boolean;
}

/** As {@link webhookHandler}, with the requests whose bodies nobody needs. @throws TypeError */
export function servedWebhooks(webhooks: readonly Webhook[], options: WebhookHandlerOptions = {}): ServedWebhooks {
  const handler = new Handler(webhooks, options);
  return {
    handler: (request, connection) => handler.handle(request, connection),
    readsBody: (request, connection) => handler.refusal(request, connection) === undefined,
  };
}

class Handler {
  readonly #admission = new Map<string, AdmissionWebhook>();
  readonly #conversion: readonly ConversionWebhook[];
  readonly #metrics: ReturnType<typeof webhookMetrics>;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #maxConcurrent: number;
  readonly #clientName: string | undefined;
  readonly #recorder: Recorder | undefined;
  readonly #largeTexts = new LargeTexts();
  #running = 0;

  constructor(webhooks: readonly Webhook[], options: WebhookHandlerOptions) {
    const { maxConcurrent = 1_000, clientName, metrics, clock = systemClock, log = logger("webhook") } = options;
    for (const webhook of webhooks) {
      if (webhook.kind === "converting") continue;
      const other = this.#admission.get(webhook.path);
      if (other !== undefined) {
        throw new TypeError(`Cannot serve webhook "${webhook.name}": "${other.name}" already has path ${webhook.path}`);
      }
      this.#admission.set(webhook.path, webhook);
    }
    this.#conversion = webhooks.filter((webhook) => webhook.kind === "converting");
    this.#metrics = webhookMetrics(metrics);
    this.#clock = clock;
    this.#log = log;
    this.#maxConcurrent = maxConcurrent;
    this.#clientName = clientName;
    this.#recorder = options.recorder;
  }

  /** The response to a request that is refused whatever its body is. */
  refusal(request: ReceivedHead, connection: ConnectionInfo | undefined): Response | undefined {
    return this.#refusalAt(new URL(request.url).pathname, request, connection);
  }

  #refusalAt(pathname: string, request: ReceivedHead, connection: ConnectionInfo | undefined): Response | undefined {
    const isConversion = pathname === conversionPath && this.#conversion.length > 0;
    if (!this.#admission.has(pathname) && !isConversion) return text(404, "No webhook at this path");
    if (request.method !== "POST") return text(405, "Webhooks accept only POST");
    if (this.#clientName !== undefined && connection?.clientName !== this.#clientName) {
      return text(403, "This client must not call webhooks");
    }
    if (this.#running >= this.#maxConcurrent) return text(429, "Too many concurrent requests", { "retry-after": "1" });
    return undefined;
  }

  async handle(request: Request, connection: ConnectionInfo | undefined): Promise<Response> {
    const url = new URL(request.url);
    const refusal = this.#refusalAt(url.pathname, request, connection);
    if (refusal !== undefined) return refusal;
    const webhook = this.#admission.get(url.pathname);
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
    const startedAt = this.#clock.monotonic();
    using child = scope(request.signal, { timeoutMs: handlerTimeoutMs(webhook, url), clock: this.#clock });
    const read = await this.#read(request, child.signal, decodeAdmissionReview);
    if (read.kind === "refused") return admission("v1", "", deniedResponse(read.code, read.message));
    using _turn = read.turn;
    const review = read.value;
    if (review.kind === "malformed") {
      this.#log.warn("rejecting a malformed AdmissionReview", { path: webhook.path, reason: review.message });
      return admission("v1", "", deniedResponse(400, review.message));
    }
    const { request: asked } = review;
    const response = await this.#respond(webhook, asked, child.signal);
    if (this.#recorder !== undefined) {
      const durationMs = this.#clock.monotonic() - startedAt;
      const traceparent = request.headers.get("traceparent");
      recordReview(this.#recorder, { webhook, request: asked, response, traceparent, durationMs });
    }
    return admission(review.version, asked.uid, response);
  }

  async #respond(
    webhook: AdmissionWebhook,
    request: AdmissionRequest,
    signal: AbortSignal,
  ): Promise<AdmissionResponse> {
    const { resource, options: { subresources = [] } } = webhook;
    if (!isAboutKind(resource, request) && !subresources.includes(request.subResource ?? "")) {
      const { version, kind } = request.kind;
      return deniedResponse(
        400,
        `this webhook is for ${resource.kind} ${resource.version}, not for ${kind} ${version}`,
      );
    }
    try {
      return responseOf(webhook, request, await untilAborted(webhook.decide(request, signal), signal));
    } catch (error) {
      const { name, namespace } = request;
      this.#metrics.of(webhook.path).failures(signal.aborted ? "timeout" : "error").inc();
      if (signal.aborted) {
        this.#log.warn("webhook timed out", { webhook: webhook.name, name, namespace });
        return deniedResponse(504, `webhook "${webhook.name}" took too long`);
      }
      this.#metrics.panics.inc();
      this.#log.error("webhook failed", { webhook: webhook.name, name, namespace, error });
      // Whoever may create an object reads this.
      const state = redactText(error instanceof Error ? error.message : String(error));
      return deniedResponse(500, `webhook "${webhook.name}" failed: ${state}`);
    }
  }

  async #convert(request: Request): Promise<Response> {
    const startedAt = this.#clock.monotonic();
    const read = await this.#read(
      request,
      request.signal,
      (text) => handleConversionReview(text, this.#conversion),
    );
    if (read.kind === "refused") return text(read.code, read.message);
    using _turn = read.turn;
    const converted = read.value;
    if (converted.kind === "malformed") return text(400, converted.message);
    if (converted.failure !== undefined) {
      this.#metrics.of(conversionPath).failures("error").inc();
      this.#log.error("conversion failed", { error: converted.failure });
    }
    if (this.#recorder !== undefined) {
      const [traceparent, durationMs] = [request.headers.get("traceparent"), this.#clock.monotonic() - startedAt];
      const { asked } = converted;
      recordConversion(this.#recorder, { webhooks: this.#conversion, asked, traceparent, durationMs });
    }
    return json(converted.text);
  }

  /**
   * Reads and decodes the body. A large one waits for its turn, which lasts until `turn` is disposed; it ends here if the
   * body cannot be read or is refused. The text is garbage when this has returned.
   */
  async #read<T>(request: Request, signal: AbortSignal, decode: (text: string) => T): Promise<Decoded<T> | Refused> {
    const held: { turn?: LargeTextTurn } = {};
    const take = async (bytes: number) => held.turn = await this.#largeTexts.take(bytes, signal);
    let isHandedOver = false;
    try {
      const contentType = request.headers.get("content-type") ?? "";
      const announced = request.headers.get("content-length");
      const text = announced !== null || request.body === null
        ? await readWhole(request, Number(announced), take)
        : await readParts(request.body, take);
      if (text === undefined) return tooLarge;
      if (text === "") return { kind: "refused", code: 400, message: "the request body is empty" };
      if (!isJson.test(contentType)) {
        return { kind: "refused", code: 400, message: "the content type is not application/json" };
      }
      const value = decode(text);
      isHandedOver = true;
      return { kind: "decoded", value, turn: held.turn };
    } catch (error) {
      if (!signal.aborted) throw error;
      return { kind: "refused", code: 504, message: "the request waited too long behind other large requests" };
    } finally {
      if (!isHandedOver) held.turn?.[Symbol.dispose]();
    }
  }
}

/** Waits for the turn of a body with these bytes. */
type TakeTurn = (bytes: number) => Promise<LargeTextTurn>;

/** @returns undefined when the body is too large */
async function readWhole(request: Request, announcedBytes: number, take: TakeTurn): Promise<string | undefined> {
  if (announcedBytes > maxBodyBytes) return undefined;
  if (announcedBytes >= minLargeBytes) await take(announcedBytes);
  // The runtime decodes the bytes in place if they are ASCII; an array of them would be a second copy.
  const text = await request.text();
  return text.length <= maxBodyBytes ? text : undefined;
}

/**
 * A body of unknown length is read only up to the limit. It waits for its turn when it has become large.
 *
 * @returns undefined when the body is too large
 */
async function readParts(body: ReadableStream<Uint8Array>, take: TakeTurn): Promise<string | undefined> {
  const decoder = new TextDecoder();
  let text = "", sizeBytes = 0, turn: LargeTextTurn | undefined;
  for await (const part of body) {
    sizeBytes += part.length;
    if (sizeBytes > maxBodyBytes) return undefined;
    if (turn !== undefined) turn.add(part.length);
    else if (sizeBytes >= minLargeBytes) turn = await take(sizeBytes);
    text += decoder.decode(part, { stream: true });
  }
  return text + decoder.decode();
}

const encoder = new TextEncoder();
const isJson = /^application\/json\s*(;|$)/i;

interface Decoded<T> {
  readonly kind: "decoded";
  readonly value: T;
  readonly turn: LargeTextTurn | undefined;
}

interface Refused {
  readonly kind: "refused";
  readonly code: number;
  readonly message: string;
}

const tooLarge: Refused = {
  kind: "refused",
  code: 413,
  message: `the request body is larger than ${maxBodyBytes} bytes`,
};

/** One second less than the API server waits. Its `timeout` parameter may be shorter than the configured timeout. */
function handlerTimeoutMs(webhook: AdmissionWebhook, url: URL): number {
  const requested = /[?&]timeout=(\d+(?:\.\d+)?)s(?:&|$)/.exec(url.search)?.[1];
  const seconds = Math.min(webhook.timeoutSeconds, requested === undefined ? Infinity : Number(requested));
  return seconds >= 2 ? (seconds - 1) * 1000 : seconds * 500;
}

function admission(version: "v1" | "v1beta1", uid: string, response: AdmissionResponse): Response {
  return json(encodeAdmissionReview(version, uid, response));
}

function json(body: string): Response {
  const bytes = encoder.encode(body);
  const headers = { "content-type": "application/json", "content-length": `${bytes.length}` };
  const response = new Response(bytes, { headers });
  // The response has a copy. A conversion of 6 MB leaves that much garbage otherwise.
  if (bytes.length >= minLargeBytes) bytes.buffer.transfer(0);
  return response;
}

function text(status: number, message: string, headers: Readonly<Record<string, string>> = {}): Response {
  const body = `${message}\n`;
  return new Response(body, {
    status,
    headers: { "content-type": "text/plain; charset=utf-8", "content-length": `${body.length}`, ...headers },
  });
}

/** The response to `request` for a decision of `webhook`. */
function responseOf(
  webhook: AdmissionWebhook,
  request: AdmissionRequest,
  decision: AdmissionDecision,
): AdmissionResponse {
  switch (decision.kind) {
    case "allowed":
      return { allowed: true, ...warningsOf(decision.warnings) };
    case "denied":
      return { allowed: false, status: statusOf(webhook, request, decision), ...warningsOf(decision.warnings) };
    case "patched":
      return { allowed: true, patchType: "JSONPatch", patch: toBase64(printPatch(decision.operations)) };
    default:
      return decision satisfies never;
  }
}

/** A denial that does not come from a webhook's own code. */
function deniedResponse(code: number, message: string): AdmissionResponse {
  return { allowed: false, status: { status: "Failure", code, reason: reasons.get(code), message: bounded(message) } };
}

const reasons: ReadonlyMap<number, string> = new Map([
  [400, "BadRequest"],
  [401, "Unauthorized"],
  [403, "Forbidden"],
  [409, "Conflict"],
  [413, "RequestEntityTooLarge"],
  [422, "Invalid"],
  [500, "InternalError"],
  [504, "Timeout"],
]);

function statusOf(webhook: AdmissionWebhook, request: AdmissionRequest, denied: Denied): ApiStatus {
  const { message, causes = [], code = causes.length > 0 ? 422 : 403 } = denied;
  if (!(Number.isInteger(code) && code >= 400 && code <= 599)) {
    throw new RangeError(`the code of a denial is ${code}, which is not within 400 to 599`);
  }
  const reason = reasons.get(code);
  const status: ApiStatus = { status: "Failure", code, reason, message: bounded(message) };
  if (causes.length === 0) return status;
  const { group, kind } = webhook.resource;
  return {
    ...status,
    details: {
      group,
      kind,
      name: nameOf(request),
      causes: causes.map((cause) => ({ reason: fieldInvalid, ...cause })),
    },
  };
}

const fieldInvalid = "FieldValueInvalid";

function nameOf(request: AdmissionRequest): string | undefined {
  if (request.name !== undefined && request.name !== "") return request.name;
  const metadata = fieldOf(request.object, "metadata");
  const name = fieldOf(metadata, "name") ?? fieldOf(metadata, "generateName");
  return typeof name === "string" ? name : undefined;
}

/** The API server shows at most 256 characters of each warning and 4096 of all warnings (apiserver audit/warning). */
const maxWarningCharacters = 256;

function warningsOf(warnings: readonly string[] = []): Pick<AdmissionResponse, "warnings"> {
  if (warnings.length === 0) return {};
  return { warnings: warnings.map((warning) => printable(warning, maxWarningCharacters - 1)) };
}

/** The API server writes messages into headers and log lines: they must be one line of bounded length. */
function bounded(message: string): string {
  return printable(message, 4095);
}

/** The metrics of one path. */
interface PathMetrics {
  readonly latency: Histogram;
  readonly inFlight: Gauge;
  /** @param code status code of the HTTP response */
  requests(code: number): Counter;
  /** Calls without a decision. Their HTTP status is 200, because the response says why. */
  failures(reason: "error" | "timeout"): Counter;
}

/** The metrics of all webhooks. */
interface WebhookMetrics {
  readonly panics: Counter;
  of(path: string): PathMetrics;
}

/** 10 ns to 1000 s in steps of ten, as controller-runtime's ExponentialBuckets(10e-9, 10, 12). */
const buckets = Array.from({ length: 12 }, (_, power) => Number(`1e${power - 8}`));

/** Registers the metrics in `registry`, or in an unused one. */
function webhookMetrics(registry: MetricsRegistry = new MetricsRegistry()): WebhookMetrics {
  const latency = registry.histogram({
    name: "controller_runtime_webhook_latency_seconds",
    help: "Histogram of the latency of processing admission requests",
    labelNames: ["webhook"],
    buckets,
  });
  const requests = registry.counter({
    name: "controller_runtime_webhook_requests_total",
    help: "Total number of admission requests by HTTP status code.",
    labelNames: ["webhook", "code"],
  });
  const inFlight = registry.gauge({
    name: "controller_runtime_webhook_requests_in_flight",
    help: "Current number of admission requests being served.",
    labelNames: ["webhook"],
  });
  const failures = registry.counter({
    name: "pintle_webhook_failures_total",
    help: "Calls that a webhook could not decide, because its handler threw (error) or was too slow (timeout)",
    labelNames: ["webhook", "reason"],
  });
  const panics = registry.counter({
    name: "controller_runtime_webhook_panics_total",
    help: "Total number of webhook panics",
  });
  const paths = new Map<string, PathMetrics>();
  return {
    panics: panics.labels({}),
    of(path) {
      const known = paths.get(path);
      if (known !== undefined) return known;
      const labels = { webhook: path };
      const requestsOf = new Map<number, Counter>();
      const made: PathMetrics = {
        latency: latency.labels(labels),
        inFlight: inFlight.labels(labels),
        requests(code) {
          const counter = requestsOf.get(code) ?? requests.labels({ ...labels, code: String(code) });
          requestsOf.set(code, counter);
          return counter;
        },
        failures: (reason) => failures.labels({ ...labels, reason }),
      };
      // From the start, so that a rate shows the first failure.
      for (const reason of ["error", "timeout"] as const) made.failures(reason);
      paths.set(path, made);
      return made;
    },
  };
}
