/**
 * HttpHandler: one request from the first byte of its URL to its answer: who asks, what for, may they, and who does it.
 *
 * Guarantees: every request is answered, whatever it is; what is refused is refused with a Status that a kube-apiserver
 * would send; what goes wrong here is a 500 and is told to `onError`, never thrown at the caller.
 */
import type { Clock, Random } from "../../async/mod.ts";
import {
  type Attributes,
  type Authenticator,
  type Authorizer,
  badRequest,
  internalError,
  Refusal,
  type User,
} from "../model/mod.ts";
import type { KnownKind, Registry } from "../registry/mod.ts";
import { asksForPretty, plainText, refusalAnswer } from "./answer.ts";
import type { BodyDecoder } from "./body_decoder.ts";
import { forbiddenBy } from "./forbidden.ts";
import { healthAnswer, type HealthCheck } from "./health.ts";
import { negotiate, type Negotiated } from "./media_types.ts";
import type { RequestMetrics } from "./request_metrics.ts";
import { type RequestInfo, requestInfo } from "./request_info.ts";
import { handleResource, type ResourceServices } from "./resource_handler.ts";
import { isElsewhere, notServed } from "./route.ts";
import type { Watches } from "./watches.ts";

/** Who is at the other end, as a listener knows it. */
export interface Connection {
  /** The common name of a client certificate that was verified. */
  readonly clientName?: string;
}

/** Serves paths that are about no object: discovery, OpenAPI, /version. */
export interface PathHandler {
  /** @returns undefined for a path that is not its own */
  handle(request: Request, path: string, query: URLSearchParams): Response | Promise<Response> | undefined;
}

/** Options of {@link HttpHandler}. */
export interface HttpHandlerOptions {
  readonly registry: Registry;
  readonly watches: Watches;
  readonly clock: Clock;
  readonly random: Random;
  readonly authenticator: Authenticator;
  readonly authorizer: Authorizer;
  /** Asked in this order. */
  readonly paths: readonly PathHandler[];
  readonly checks: readonly HealthCheck[];
  readonly decoders: readonly BodyDecoder[];
  readonly metrics: RequestMetrics;
  /** Told of what should not have happened. */
  readonly onError: (error: unknown) => void;
}

/** Paths that need no permission: probes have no credentials. */
const open: ReadonlySet<string> = new Set(["healthz", "livez", "readyz"]);

/** Answers requests. */
export class HttpHandler {
  readonly #options: HttpHandlerOptions;
  readonly #services: ResourceServices;

  constructor(options: HttpHandlerOptions) {
    this.#options = options;
    const { registry, watches, clock, random, decoders } = options;
    this.#services = {
      registry,
      watches,
      clock,
      random,
      decoders,
      authorize: (user, info, verb, name) => this.#authorize(user, { ...attributesOf(user, info), verb, name }),
    };
  }

  /** Answers one request; never rejects. */
  async handle(request: Request, connection: Connection = {}): Promise<Response> {
    const { clock } = this.#options;
    const warnings = new Set<string>();
    const startedAt = clock.monotonic();
    let context: Context | undefined;
    try {
      const { path, query } = splitUrl(request.url);
      const info = requestInfo(request.method, path, query);
      context = { info, query, connection, warnings, known: this.#known(info) };
      const response = await this.#serve(request, context);
      this.#count(context, request.method, response.status, clock.monotonic() - startedAt);
      return withoutBody(request, response);
    } catch (error) {
      const refusal = this.#asRefusal(error);
      this.#count(context, request.method, refusal.status.code, clock.monotonic() - startedAt);
      const { format, isPretty } = errorForm(request, context?.query ?? noQuery);
      return withoutBody(request, await refusalAnswer(refusal, format, isPretty, warnings));
    }
  }

  #known(info: RequestInfo): KnownKind | undefined {
    if (!info.isResourceRequest) return undefined;
    return this.#options.registry.kinds.find(info.group, info.version, info.resource);
  }

  /** Whoever asks for kinds that are not there must not make the metrics grow. */
  #count(context: Context | undefined, method: string, code: number, ms: number): void {
    if (context?.known !== undefined) this.#options.metrics.answered(context.info, method, code, ms);
  }

  async #serve(request: Request, context: Context): Promise<Response> {
    const { info, query, connection, warnings, known } = context;
    const isOpen = !info.isResourceRequest && open.has(firstPart(info.path));
    const user = this.#options.authenticator.authenticate(request, connection.clientName);
    if (user === undefined && !isOpen) throw new Refusal(401, "Unauthorized", "Unauthorized");
    if (user !== undefined && !isOpen) this.#authorize(user, attributesOf(user, info));
    if (known === undefined || user === undefined || isElsewhere(known.kind, info)) {
      return await this.#servePath(request, info, query);
    }
    return await handleResource(this.#services, { request, info, query, user, known, warnings });
  }

  async #servePath(request: Request, info: RequestInfo, query: URLSearchParams): Promise<Response> {
    const { paths, checks, metrics, registry } = this.#options;
    for (const handler of paths) {
      const answer = handler.handle(request, info.path, query);
      if (answer !== undefined) return await answer;
    }
    const health = healthAnswer(info.path, query, checks);
    if (health !== undefined) return health;
    if (info.path === "/metrics") return plainText(await metrics.render());
    if (isRouted(registry, info.path)) throw notServed();
    return plainText("404 page not found\n", 404);
  }

  #authorize(user: User, attributes: Attributes): void {
    const { isAllowed, reason } = this.#options.authorizer.authorize(attributes);
    if (!isAllowed) throw forbiddenBy(user, attributes, reason);
  }

  #asRefusal(error: unknown): Refusal {
    if (error instanceof Refusal) return error;
    if (error instanceof DOMException && error.name === "AbortError") {
      return new Refusal(499, "ClientClosedRequest", "the client has left");
    }
    this.#options.onError(error);
    return internalError(error instanceof Error ? error.message : String(error));
  }
}

/** What #serve needs besides the request. */
interface Context {
  /** The kind that the URL names, if there is one. */
  readonly known: KnownKind | undefined;
  readonly query: URLSearchParams;
  readonly info: RequestInfo;
  readonly connection: Connection;
  readonly warnings: Set<string>;
}

/** Path and query of a URL that the runtime has parsed and normalized already; parsing it again would cost more. */
function splitUrl(url: string): { readonly path: string; readonly query: URLSearchParams } {
  const start = url.indexOf("/", url.indexOf("://") + 3);
  const hash = url.indexOf("#");
  const end = hash < 0 ? url.length : hash;
  const mark = url.indexOf("?");
  const pathEnd = mark < 0 ? end : mark;
  const path = start < 0 ? "/" : decodedPath(url.slice(start, pathEnd));
  return { path, query: mark < 0 ? noQuery : new URLSearchParams(url.slice(mark + 1, end)) };
}

/** Never written to. */
const noQuery = new URLSearchParams();

function decodedPath(path: string): string {
  if (!path.includes("%")) return path;
  try {
    return decodeURIComponent(path);
  } catch {
    throw badRequest(`invalid URL escape in ${JSON.stringify(path)}`);
  }
}

/** Paths of built-in groups are answered with a Status, others with a line of text: two parts of the real server do it. */
function isRouted(registry: Registry, path: string): boolean {
  const [root, group] = path.split("/").filter((part) => part !== "");
  if (root !== "apis") return root === "api" || root === "version";
  for (const kind of registry.kinds.kinds()) if (kind.group === group && kind.hasStrategicMerge) return true;
  return false;
}

function firstPart(path: string): string {
  return path.split("/").find((part) => part !== "") ?? "";
}

function attributesOf(user: User, info: RequestInfo): Attributes {
  const { verb, isResourceRequest, group, version, resource, subresource, namespace, name, path } = info;
  return { user, verb, isResourceRequest, group, version, resource, subresource, namespace, name, path };
}

/** Errors are written in the format that was asked for, and in indented JSON where that cannot be; they are no tables. */
function errorForm(request: Request, query: URLSearchParams): Pick<Negotiated, "format" | "isPretty"> {
  try {
    const { format, isPretty } = negotiate(request.headers.get("accept"), false);
    return { format, isPretty: isPretty || asksForPretty(request, query) };
  } catch {
    return { format: "json", isPretty: true };
  }
}

/** HEAD gets the head alone. */
function withoutBody(request: Request, response: Response): Response {
  return request.method === "HEAD" ? new Response(null, response) : response;
}
