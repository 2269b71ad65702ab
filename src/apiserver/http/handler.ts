/**
 * HttpHandler: one request from its URL to its response. It authenticates the user, reads what the request wants (RequestInfo),
 * authorizes that, and calls the handler: a resource, a path such as discovery, a health check, or /metrics.
 *
 * Guarantees: every request gets a response. A rejection has the Status of a kube-apiserver. An unexpected error is a 500 and
 * goes to `onError`; `handle` never rejects.
 */
import type { ReceivedHead } from "../../runtime/mod.ts";
import type { Clock, Random } from "../../async/mod.ts";
import { redactText } from "../../observe/mod.ts";
import {
  type Attributes,
  type Authenticator,
  type Authorizer,
  badRequest,
  type Connection,
  deniedError,
  type FlowControl,
  internalError,
  StatusError,
  type User,
} from "../model/mod.ts";
import type { KnownKind, Registry } from "../registry/mod.ts";
import { bytesOverWebSocket, isWebSocketRequest, watchOverWebSocket } from "../sockets/mod.ts";
import type { Durability } from "../storage/mod.ts";
import { isPrettyRequested, metricsText, plainText, statusErrorResponse } from "./response.ts";
import { type HealthChecks, isHealthPath } from "./health.ts";
import { type BodyDecoder, negotiate, type Negotiated } from "./media_types.ts";
import type { RequestMetrics } from "./request_metrics.ts";
import { type RequestInfo, requestInfo } from "./request_info.ts";
import type { FeatureGate, ResourceServices } from "./exchange.ts";
import { checkTimeout } from "./query_options.ts";
import { handleResource } from "./resource_handler.ts";
import { hasWrongScope, notServed } from "./route.ts";
import type { Watches } from "./watches.ts";

/** Serves paths that are not about objects: discovery, OpenAPI, /version. */
export interface PathHandler {
  /** @returns undefined for other paths */
  handle(request: Request, path: string, query: URLSearchParams): Response | Promise<Response> | undefined;
}

/** Who sends a request that is passed on. */
export interface RequestSender {
  readonly user: User;
  /** "" if it is unknown. */
  readonly remoteAddress: string;
}

/** Passes requests on to other API servers, after their sender was authorized. */
export interface RequestForwarder {
  /** @returns undefined for a request that this server answers itself */
  forward(request: Request, path: string, sender: RequestSender): Promise<Response> | undefined;
}

/** Options of {@link HttpHandler}. */
export interface HttpHandlerOptions {
  readonly registry: Registry;
  readonly watches: Watches;
  readonly clock: Clock;
  readonly random: Random;
  readonly authenticator: Authenticator;
  readonly authorizer: Authorizer;
  /** In the order of their calls. */
  readonly paths: readonly PathHandler[];
  /** @default this server answers all requests itself */
  readonly forwarder?: RequestForwarder;
  readonly health: HealthChecks;
  readonly decoders: readonly BodyDecoder[];
  readonly features: readonly FeatureGate[];
  readonly metrics: RequestMetrics;
  /** Lets requests of known senders wait for a seat, or refuses them. @default all are served at once */
  readonly flowControl?: FlowControl;
  /** Responses wait until it keeps what they show. @default the objects are in memory only */
  readonly durability?: Durability;
  /** Called with each unexpected error. */
  readonly onError: (error: unknown) => void;
}

/** Handles requests. */
export class HttpHandler {
  readonly #options: HttpHandlerOptions;
  readonly #services: ResourceServices;

  constructor(options: HttpHandlerOptions) {
    this.#options = options;
    const { registry, watches, clock, random, decoders, features } = options;
    this.#services = {
      registry,
      watches,
      clock,
      random,
      decoders,
      features: new Set(features),
      authorize: (user, info, verb, name) => this.#authorize({ ...attributesOf(user, info), verb, name }),
      decide: (user, info, verb, name) => options.authorizer.authorize({ ...attributesOf(user, info), verb, name }),
    };
  }

  /** Handles one request; never rejects. */
  handle(request: Request, connection: Connection = {}): Promise<Response> {
    const { durability } = this.#options;
    return durability === undefined
      ? this.#respond(request, connection)
      : this.#respondDurably(request, connection, durability);
  }

  /** A response says only what cannot be lost any more, also one that says that an object exists or does not. */
  async #respondDurably(request: Request, connection: Connection, durability: Durability): Promise<Response> {
    let response: Response | undefined;
    try {
      if (durability.hasFailed) await durability.stored();
      response = await this.#respond(request, connection);
      await durability.stored();
      return response;
    } catch (error) {
      await response?.body?.cancel();
      return await this.#errorResponse(request, this.#asStatusError(error));
    }
  }

  async #respond(request: Request, connection: Connection): Promise<Response> {
    const { clock } = this.#options;
    const warnings = new Set<string>();
    const startedAt = clock.monotonic();
    let context: Context | undefined;
    try {
      const { path, query } = splitUrl(request.url);
      const info = requestInfo(request.method, path, query);
      if (query.has("timeout") && info.verb !== "watch" && !isStream(info)) checkTimeout(query);
      context = { info, query, connection, warnings, known: this.#known(info), headers: new Map() };
      const response = await this.#serve(request, context);
      this.#count(context, request.method, response.status, clock.monotonic() - startedAt);
      return withHeaders(withoutBody(request, response), context);
    } catch (error) {
      const statusError = this.#asStatusError(error);
      this.#count(context, request.method, statusError.status.code, clock.monotonic() - startedAt);
      return await this.#errorResponse(request, statusError, context);
    }
  }

  async #errorResponse(request: Request, error: StatusError, context?: Context): Promise<Response> {
    const { format, isPretty } = errorFormat(request, context?.query ?? noQuery);
    const response = await statusErrorResponse(error, format, isPretty, context?.warnings ?? new Set());
    return withHeaders(withoutBody(request, response), context);
  }

  /** True if the sender of a request is known, so that its body is worth reading. It needs no body. */
  authenticates(request: ReceivedHead, connection: Connection): boolean {
    try {
      const attributesFor = (user: User) => {
        const { path, query } = splitUrl(request.url);
        return attributesOf(user, requestInfo(request.method, path, query));
      };
      return this.#options.authenticator.authenticate(request, connection, attributesFor) !== undefined;
    } catch (error) {
      if (error instanceof StatusError) return false;
      throw error;
    }
  }

  #known(info: RequestInfo): KnownKind | undefined {
    if (!info.isResourceRequest) return undefined;
    return this.#options.registry.kinds.find(info.group, info.version, info.resource);
  }

  /**
   * Requests about unknown kinds are not counted, and unknown subresources have one name, because each new label would create
   * a metric.
   */
  #count(context: Context | undefined, method: string, code: number, ms: number): void {
    if (context?.known === undefined) return;
    const { info, known } = context;
    const isServed = info.subresource === "" || known.kind.subresources.has(info.subresource);
    this.#options.metrics.observe(isServed ? info : { ...info, subresource: "other" }, method, code, ms);
  }

  async #serve(request: Request, context: Context): Promise<Response> {
    const { info, connection } = context;
    const isOpen = !info.isResourceRequest && isHealthPath(info.path);
    const user = this.#options.authenticator.authenticate(
      request,
      connection,
      (sender) => attributesOf(sender, info),
    );
    if (user === undefined && !isOpen) throw new StatusError(401, "Unauthorized", "Unauthorized");
    const { flowControl } = this.#options;
    if (user === undefined || flowControl === undefined || isStream(info)) {
      return await this.#serveNow(request, context, user);
    }
    const admitted = flowControl.admit(attributesOf(user, info), () => request.signal);
    const ticket = admitted instanceof Promise ? await admitted : admitted;
    for (const [name, value] of Object.entries(ticket?.headers ?? {})) context.headers.set(name, value);
    if (ticket?.retryAfterSeconds !== undefined) return tooManyRequests(context, ticket.retryAfterSeconds);
    try {
      // A watch has given its seat back when its response begins.
      return await this.#serveNow(request, context, user);
    } finally {
      ticket?.release?.();
    }
  }

  async #serveNow(request: Request, context: Context, user: User | undefined): Promise<Response> {
    const { info, query, warnings, known, connection } = context;
    const isOpen = !info.isResourceRequest && isHealthPath(info.path);
    if (user !== undefined && !isOpen) this.#authorize(attributesOf(user, info));
    const { remoteAddress = "" } = connection;
    const forwarded = user && this.#options.forwarder?.forward(request, info.path, { user, remoteAddress });
    if (forwarded !== undefined) return await forwarded;
    if (known === undefined || user === undefined || hasWrongScope(known.kind, info)) {
      return await this.#servePath(request, info, query);
    }
    const response = await handleResource(this.#services, {
      ...{ request, info, query, user, known, warnings },
      remoteAddress,
    });
    if (!isWebSocketRequest(request)) return response;
    if (info.verb === "watch") return await watchOverWebSocket(request, response, this.#options.clock);
    return info.subresource === "log" ? await bytesOverWebSocket(request, response, this.#options.clock) : response;
  }

  async #servePath(request: Request, info: RequestInfo, query: URLSearchParams): Promise<Response> {
    const { paths, health, metrics, registry } = this.#options;
    for (const handler of paths) {
      const response = handler.handle(request, info.path, query);
      if (response !== undefined) return await response;
    }
    const answer = health.respond(info.path, query);
    if (answer !== undefined) return answer;
    if (info.path === "/metrics") return metricsText(await metrics.render());
    if (info.path === "/metrics/slis") return metricsText(await health.metrics());
    if (isRouted(registry, info.path)) throw notServed();
    return plainText("404 page not found\n", 404);
  }

  #authorize(attributes: Attributes): void {
    const { isAllowed, reason } = this.#options.authorizer.authorize(attributes);
    if (!isAllowed) throw deniedError(attributes, reason);
  }

  #asStatusError(error: unknown): StatusError {
    if (error instanceof StatusError) return error;
    if (error instanceof DOMException && error.name === "AbortError") {
      return new StatusError(499, "ClientClosedRequest", "the client has left");
    }
    this.#options.onError(error);
    return internalError(redactText(error instanceof Error ? error.message : String(error)));
  }
}

/** Requests that last as long as their client wants, except watches: nothing limits them. */
function isStream({ verb, subresource }: RequestInfo): boolean {
  return verb === "proxy" || streams.has(subresource);
}

const streams: ReadonlySet<string> = new Set(["attach", "exec", "log", "portforward", "proxy"]);

/** 429, as text: kube-apiserver does not negotiate a format before it refuses. */
function tooManyRequests({ headers }: Context, seconds: number): Response {
  headers.set("retry-after", String(seconds));
  return plainText("Too many requests, please try again later.\n", 429);
}

/** What is known about a request. */
interface Context {
  /** The kind in the URL, if it exists. */
  readonly known: KnownKind | undefined;
  readonly query: URLSearchParams;
  readonly info: RequestInfo;
  readonly connection: Connection;
  readonly warnings: Set<string>;
  /** More headers of the response. */
  readonly headers: Map<string, string>;
}

/** The path and query of a URL. The runtime has parsed and normalized it already, and `new URL` would cost more. */
function splitUrl(url: string): { readonly path: string; readonly query: URLSearchParams } {
  const start = url.indexOf("/", url.indexOf("://") + 3);
  const hash = url.indexOf("#");
  const end = hash < 0 ? url.length : hash;
  const mark = url.indexOf("?");
  const pathEnd = mark < 0 ? end : mark;
  const path = start < 0 ? "/" : decodedPath(url.slice(start, pathEnd));
  return { path, query: mark < 0 ? noQuery : new URLSearchParams(url.slice(mark + 1, end)) };
}

/** Shared by all requests without a query; never changed. */
const noQuery = new URLSearchParams();

function decodedPath(path: string): string {
  if (!path.includes("%")) return path;
  try {
    return decodeURIComponent(path);
  } catch {
    throw badRequest(`invalid URL escape in ${JSON.stringify(path)}`);
  }
}

/** The 404 of a path in a built-in group is a Status; that of other paths is text, from another part of kube-apiserver. */
function isRouted(registry: Registry, path: string): boolean {
  const [root, group] = path.split("/").filter((part) => part !== "");
  if (root !== "apis") return root === "api" || root === "version";
  for (const kind of registry.kinds.kinds()) if (kind.group === group && kind.hasStrategicMerge) return true;
  return false;
}

function attributesOf(user: User, info: RequestInfo): Attributes {
  const { verb, isResourceRequest, group, version, resource, subresource, namespace, name, path } = info;
  const { requiredFields } = info;
  return {
    user,
    verb,
    isResourceRequest,
    group,
    version,
    resource,
    subresource,
    namespace,
    name,
    path,
    requiredFields,
  };
}

/** Errors have the requested format, protobuf too, or indented JSON when that is not possible. They are never tables. */
function errorFormat(request: Request, query: URLSearchParams): Pick<Negotiated, "format" | "isPretty"> {
  try {
    const { format, isPretty } = negotiate(request.headers.get("accept"), "plain");
    return { format, isPretty: isPretty || isPrettyRequested(request, query) };
  } catch {
    return { format: "json", isPretty: true };
  }
}

function withHeaders(response: Response, context: Context | undefined): Response {
  for (const [name, value] of context?.headers ?? []) response.headers.set(name, value);
  return response;
}

/** A response to HEAD has no body. */
function withoutBody(request: Request, response: Response): Response {
  return request.method === "HEAD" ? new Response(null, response) : response;
}
